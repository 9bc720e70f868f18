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

struct CompressedMedia::BlockJob {
  BlockJob* next = nullptr;
  Served* access = nullptr;
  Message message;          // to the media behind
  Account account;          // that of the block done last joins the message's
  std::uint64_t block = 0;  // its address
  bool compresses = false;  // what the engine does next, or has done last
  bool whole = false;       // all of it is written
  std::uint32_t index = 0;  // in the pool
};

CompressedMedia::CompressedMedia(const CompressedParams& params, const MediaContext& context)
    : WrappingMedia(context),
      params_(params),
      seed_(RandomStream(context.seed, context.owner.name(), context.path + "ratios").next()),
      place_(params.place()),
      backing_(*this, "backing", params.backing, bytes_behind(context), context, kBacking),
      end_(end_of(context)) {
  kernel_.measure(busy_);
}

CompressedMedia::~CompressedMedia() = default;

// Bytes of the media behind, for a memory as large as was written; none: for as large as they are.
std::optional<Bytes> CompressedMedia::bytes_behind(const MediaContext& context) const {
  if (!context.capacity) return std::nullopt;
  const std::uint64_t block = params_.block.count();
  return Bytes{std::max((context.capacity->count() + block - 1) / block * place_, block)};
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
  take(message, address, ready, ready, kBegun);
}

void CompressedMedia::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kBegun) return begin(object_of<Served>(payload));
  BlockJob& job = jobs_.at(static_cast<std::uint32_t>(payload));
  if (kind == kWorked) return worked(job);
  if (job.compresses) return finish(job);  // it is stored
  ask_engine(job);
}

void CompressedMedia::begin(Served& access) {
  const std::uint64_t size = params_.block.count();
  const std::uint64_t begin = access.address.value();
  const std::uint64_t end = access.end();
  access.left = (end - 1) / size - begin / size + 1;
  for (std::uint64_t block = begin / size * size; block < end; block += size) {
    BlockJob& job = jobs_.take();
    job.access = &access;
    job.block = block;
    job.account.open(kernel_.now());
    job.message.tag = job.index;
    serve_by(access, job.message, job.account);
    job.whole = access.writes() && begin <= block && block + size <= end;
    job.compresses = job.whole;
    if (job.whole) {
      ask_engine(job);
    } else {
      send(job, Opcode::kMemRd);
    }
  }
}

void CompressedMedia::send(BlockJob& job, Opcode opcode) {
  backing_.send(job.message, opcode, Address{behind(job.block)}, stored_at(job.block));
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
  if (!job.access->writes()) return finish(job);
  job.compresses = true;
  ask_engine(job);
}

void CompressedMedia::finish(BlockJob& job) {
  Served& access = *job.access;
  const Account account = job.account;
  jobs_.give_back(job);
  done(access, account);
}

// --- measures --------------------------------------------------------------------------------------------

std::vector<MeasureInfo> CompressedMedia::measures() {
  return joined(infos_of(kCompressedMeasures), {accesses_of_backing()});
}

void CompressedMedia::report(MeasureSink& sink) const {
  CompressedMeasured measured{counts_.window()};
  measured.stored_share = mean_value(static_cast<double>(measured.stored),
                                     static_cast<double>(measured.compressed * params_.block.count()));
  measured.busy = busy_.mean();
  report_all(kCompressedMeasures, measured, sink);
  WrappingMedia::report(sink);
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
  WrappingMedia::resources(sink);
  sink.add(waiting_for_media("the compressed media of"));
}

}  // namespace cxloom
