#include "memory/compressed/media.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/kind_registry.hpp"
#include "base/measure_table.hpp"
#include "base/random.hpp"
#include "base/schema.hpp"
#include "base/value.hpp"
#include "component/component.hpp"
#include "component/resource.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"
#include "memory/media/registry.hpp"
#include "protocol/message.hpp"

namespace cxloom {

namespace {

struct CompressedMeasured : CompressedCounts {
  Value stored_share = {};
  double busy = 0;
};

constexpr std::array kCompressedMeasures{
    measure<CompressedMeasured, &CompressedMeasured::decompressed>("blocks_decompressed", "",
                                                                   "blocks that were read and decompressed"),
    measure<CompressedMeasured, &CompressedMeasured::compressed>("blocks_compressed", "",
                                                                 "blocks that were compressed and written"),
    measure<CompressedMeasured, &CompressedMeasured::merged>(
        "blocks_merged", "",
        "blocks of which a part was written, and which were read and decompressed for it"),
    measure<&CompressedMeasured::stored_share>(
        "stored_share", "",
        "bytes that compressed blocks take / those of the blocks; null if there were none"),
    measure<&CompressedMeasured::busy>("engines_busy_mean", "", "engines that compress or decompress"),
};

}  // namespace

struct CompressedMedia::CompressedAccess {
  CompressedAccess* next = nullptr;
  Message* message = nullptr;
  Address address;
  std::uint64_t blocks = 0;  // not done yet
};

struct CompressedMedia::BlockJob {
  BlockJob* next = nullptr;
  CompressedAccess* access = nullptr;
  Message message;          // to the media behind
  Account account;          // that of the block done last joins the message's
  std::uint64_t block = 0;  // its address
  bool compresses = false;  // what the engine does next, or has done last
  bool whole = false;       // all of it is written
  std::uint32_t index = 0;  // in the pool
};

CompressedMedia::CompressedMedia(const CompressedParams& params, const MediaContext& context)
    : kernel_(context.kernel),
      client_(context.client),
      source_(context.kernel.new_source()),
      params_(params),
      seed_(RandomStream(context.seed, context.owner.name(), context.path + "ratios").next()),
      place_(params.place()),
      behind_(std::make_unique<Behind>(*this)),
      backing_(make(params.backing, context)),
      end_(end_of(context)) {
  kernel_.measure(counts_, busy_);
}

CompressedMedia::~CompressedMedia() = default;

// Bytes of the media behind, for a memory as large as was written; none: for as large as they are.
std::optional<Bytes> CompressedMedia::bytes_behind(const MediaContext& context) const {
  if (!context.capacity) return std::nullopt;
  const std::uint64_t block = params_.block.count();
  return Bytes{std::max((context.capacity->count() + block - 1) / block * place_, block)};
}

std::unique_ptr<Media> CompressedMedia::make(const KindSpec& kinded, const MediaContext& context) {
  return with_path("backing", [&] {
    MediaContext inside{context.kernel,     context.owner,         *behind_,     context.kinds,
                        context.victims,    bytes_behind(context), context.seed, context.path + "backing.",
                        context.prefetchers};
    return context.kinds.make(kinded, inside);
  });
}

std::uint64_t CompressedMedia::end_of(const MediaContext& context) const {
  const std::optional<Bytes> written = bytes_behind(context);
  const std::optional<Bytes> bytes = written ? written : backing_->capacity();
  if (!bytes) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t sector = params_.sector.count();
  return std::max(bytes->count() / sector * sector, params_.block.count());
}

std::optional<Bytes> CompressedMedia::capacity() const {
  const std::optional<Bytes> behind = backing_->capacity();
  if (!behind) return std::nullopt;
  return Bytes{behind->count() / place_ * params_.block.count()};
}

std::string CompressedMedia::answers_early() const {
  return backing_->answers_early().empty() ? "" : "backing";
}

std::uint64_t CompressedMedia::stored_at(std::uint64_t address) const {
  if (params_.spread <= 0.0) return place_;
  const std::uint64_t drawn = mix_bits(seed_ ^ (address / params_.page.count()));
  const double share = static_cast<double>(drawn >> 11U) * 0x1.0p-53;  // in [0, 1)
  return params_.stored(params_.ratio * (1.0 + params_.spread * (2.0 * share - 1.0)));
}

// Blocks that take more than their place reach into the next ones', but not past the end of the media.
std::uint64_t CompressedMedia::behind(std::uint64_t address) const {
  return std::min(address / params_.block.count() * place_, end_ - stored_at(address));
}

void CompressedMedia::touched_before(Address address, std::uint64_t bytes) {
  const std::uint64_t end = address.value() + bytes;
  const std::uint64_t size = params_.block.count();
  for (std::uint64_t block = address.value() / size * size; block < end; block += size)
    backing_->touched_before(Address{behind(block)}, stored_at(block));
}

// --- accesses --------------------------------------------------------------------------------------------

void CompressedMedia::access(Message& message, Address address, Time ready) {
  CompressedAccess& access = accesses_.take();
  access.message = &message;
  access.address = address;
  message.charge(Segment::kMediaQueue, ready);
  kernel_.schedule(ready, source_, *this, kBegun, payload_of(access));
}

void CompressedMedia::Behind::media_done(Message& message, Time at) {
  media_.kernel_.schedule(at, media_.source_, media_, kBacking, message.tag);
}

void CompressedMedia::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kBegun) return begin(object_of<CompressedAccess>(payload));
  BlockJob& job = jobs_.at(static_cast<std::uint32_t>(payload));
  if (kind == kWorked) return worked(job);
  if (job.compresses) return finish(job);  // it is stored
  ask_engine(job);
}

void CompressedMedia::begin(CompressedAccess& access) {
  const Message& message = *access.message;
  const std::uint64_t size = params_.block.count();
  const std::uint64_t begin = access.address.value();
  const std::uint64_t end = begin + std::max<std::uint64_t>(message.size, 1);
  access.blocks = (end - 1) / size - begin / size + 1;
  for (std::uint64_t block = begin / size * size; block < end; block += size) {
    BlockJob& job = jobs_.take();
    job.access = &access;
    job.block = block;
    job.account.open(kernel_.now());
    job.whole = message.opcode == Opcode::kMemWr && begin <= block && block + size <= end;
    job.compresses = job.whole;
    if (job.whole) {
      ask_engine(job);
    } else {
      send(job, Opcode::kMemRd);
    }
  }
}

void CompressedMedia::send(BlockJob& job, Opcode opcode) {
  const Message& of = *job.access->message;
  Message& message = job.message;
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  message.size = static_cast<std::uint16_t>(stored_at(job.block));
  message.address = Address{behind(job.block)};
  message.tag = job.index;
  message.account = &job.account;
  message.requester = of.requester;
  message.age = of.age;
  backing_->access(message, message.address, kernel_.now());
}

void CompressedMedia::ask_engine(BlockJob& job) {
  if (busy_.level() < static_cast<std::int64_t>(params_.engines)) {
    start(job);
  } else {
    waiting_.push(job);
  }
}

void CompressedMedia::start(BlockJob& job) {
  busy_.change(kernel_.now(), +1);
  job.account.charge(Segment::kMediaQueue, kernel_.now());
  const Time time = job.compresses ? params_.compress_time : params_.decompress_time;
  kernel_.schedule(kernel_.now() + time, source_, *this, kWorked, job.index);
}

// An engine is done with a block, and goes on to the next one.
void CompressedMedia::worked(BlockJob& job) {
  busy_.change(kernel_.now(), -1);
  job.account.charge(Segment::kMedia, kernel_.now());
  if (!waiting_.empty()) start(waiting_.pop());
  if (job.compresses) {
    ++counts_->compressed;
    counts_->merged += !job.whole;
    counts_->stored += stored_at(job.block);
    return send(job, Opcode::kMemWr);
  }
  ++counts_->decompressed;
  if (job.access->message->opcode != Opcode::kMemWr) return finish(job);
  job.compresses = true;
  ask_engine(job);
}

void CompressedMedia::finish(BlockJob& job) {
  CompressedAccess& access = *job.access;
  const Account account = job.account;
  jobs_.give_back(job);
  if (--access.blocks > 0) return;
  Message& message = *access.message;
  accesses_.give_back(access);
  if (message.account) message.account->join(account);
  client_.media_done(message, kernel_.now());
}

// --- measures --------------------------------------------------------------------------------------------

void CompressedMedia::open_window(Time now) { backing_->open_window(now); }

void CompressedMedia::close_window(Time now) { backing_->close_window(now); }

std::vector<MeasureInfo> CompressedMedia::measures() { return infos_of(kCompressedMeasures); }

void CompressedMedia::report(MeasureSink& sink) const {
  CompressedMeasured measured{counts_.window()};
  measured.stored_share = mean_value(static_cast<double>(measured.stored),
                                     static_cast<double>(measured.compressed * params_.block.count()));
  measured.busy = busy_.mean();
  report_all(kCompressedMeasures, measured, sink);
  PrefixedSink of_backing("backing_", sink);
  backing_->report(of_backing);
}

void CompressedMedia::resources(ResourceSink& sink) const {
  sink.add({.name = "the compression engines of",
            .stage = Stage::kMedia,
            .capacity = params_.engines,
            .occupancy = Occupancy::kLevel,
            .measures = {"engines_busy_mean"},
            .wait = Segment::kMediaQueue,
            .counts = Traffic::kRequests,
            .twice = {doubled("engines", params_.engines)},
            .twice_text = "twice as many"});
  ResourcesWithin part("backing_", "backing.", sink);
  part.owned_by(" the backing of");
  part.only_measured();
  backing_->resources(part);
  sink.add(waiting_for_media("the compressed media of"));
}

}  // namespace cxloom
