#include "memory/flash/media.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/kind_registry.hpp"
#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "component/component.hpp"
#include "component/resource.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"
#include "memory/media/registry.hpp"
#include "protocol/message.hpp"

namespace cxloom {

namespace {

struct FlashMeasured : FlashCounts {
  double queue_mean = 0;
  double queue_max = 0;
  double read_rate = 0;
  double write_rate = 0;
  Value read_amplification = {};
  Value write_amplification = {};
  double dies_busy = 0;
  double buffer_mean = 0;
  double buffer_max = 0;
  double erases_max = 0;
  double erases_mean = 0;
  std::uint64_t worn = 0;
};

constexpr std::array kFlashMeasures{
    measure<&FlashMeasured::queue_mean>(
        "media_queue_mean", "",
        "pages that accesses wait for: for a die or the write buffer, mean over time"),
    measure<&FlashMeasured::queue_max>("media_queue_max", "", "pages that accesses wait for, largest number"),
    measure<&FlashMeasured::read_rate>("media_read_gb_per_s", "GB/s",
                                       "bytes of the pages that the dies read / length of the window"),
    measure<&FlashMeasured::write_rate>("media_write_gb_per_s", "GB/s",
                                        "bytes of the pages that the dies programmed / length of the window"),
    measure<&FlashMeasured::read_amplification>(
        "read_amplification", "", "bytes of the pages that the dies read / bytes of read accesses"),
    measure<&FlashMeasured::write_amplification>(
        "write_amplification", "", "bytes of the pages that the dies programmed / bytes of write accesses"),
    measure<FlashMeasured, &FlashMeasured::page_reads>("page_reads", "",
                                                       "pages that the dies read, for whatever reason"),
    measure<FlashMeasured, &FlashMeasured::page_programs>("page_programs", "",
                                                          "pages that the dies programmed"),
    measure<FlashMeasured, &FlashMeasured::pages_moved>(
        "pages_moved", "", "pages that the dies programmed because garbage collection moved them"),
    measure<FlashMeasured, &FlashMeasured::block_erases>("block_erases", "", "blocks that the dies erased"),
    measure<&FlashMeasured::dies_busy>("dies_busy_mean", "",
                                       "dies at work, mean over time; planes, if they work independently"),
    measure<&FlashMeasured::buffer_mean>("write_buffer_mean", "",
                                         "pages in the write buffer, mean over time"),
    measure<&FlashMeasured::buffer_max>("write_buffer_max", "", "pages in the write buffer, largest number"),
    measure<FlashMeasured, &FlashMeasured::merged>("merged_writes", "",
                                                   "writes merged with one in the write buffer"),
    measure<FlashMeasured, &FlashMeasured::joined>("joined_reads", "",
                                                   "reads that joined one of their page that was under way"),
    measure<FlashMeasured, &FlashMeasured::forwarded>("forwarded_reads", "",
                                                      "reads answered from the write buffer"),
    measure<&FlashMeasured::erases_max>("erases_max", "",
                                        "erases of the block erased most, since the flash was new"),
    measure<&FlashMeasured::erases_mean>("erases_mean", "",
                                         "erases of a block since the flash was new, mean of all blocks"),
    measure<&FlashMeasured::worn>("worn_blocks", "", "blocks erased as often as their endurance"),
};

}  // namespace

struct FlashMedia::Reading : FlashJob {
  Reading* next = nullptr;
  std::uint64_t page = 0;
  std::uint64_t sectors = 0;
  IntrusiveQueue<BlockPiece> pieces;  // that are done with it
};

struct FlashMedia::BufferedPage : FlashJob {
  BufferedPage* next = nullptr;  // of those held
  BufferedPage* previous = nullptr;
  std::uint64_t block = 0;
  std::uint64_t parts = 0;
  IntrusiveQueue<BlockPiece> pieces;  // that are done with it
  bool held = false;
};

FlashMedia::FlashMedia(const FlashParams& params, const MediaContext& context)
    : params_(params),
      geometry_(params.geometry(context.capacity)),
      kernel_(context.kernel),
      client_(context.client),
      source_(context.kernel.new_source()),
      sector_(static_cast<std::uint32_t>(params.sector.count())),
      whole_(~std::uint64_t{0} >> (64 - params.page.count() / params.sector.count())),
      works_{.kernel = context.kernel,
             .device = context.owner,
             .client = *this,
             .read_time = params.read_time,
             .program_time = params.program_time,
             .erase_time = params.erase_time,
             .command_time = params.command_time,
             .page = static_cast<std::uint32_t>(params.page.count()),
             .copyback = params.copyback},
      past_(planes_, geometry_.logical, params.overwritten,
            RandomStream(context.seed, context.owner.name(), context.path + "flash past")),
      programming_(geometry_.all_planes()),
      accesses_(params.page, params.sector),
      buffer_(*this, context.kernel, context.owner, "the write buffer of the flash",
              {params.write_buffer, params.hold, whole_}, works_.waiting) {
  GcContext around{params.pages,
                   RandomStream(context.seed, context.owner.name(), context.path + "flash collection")};
  collector_ =
      with_path("collection", [&] { return context.kinds.collectors.make(params.collection, around); });
  const auto filled = static_cast<std::uint32_t>(params.filled * geometry_.logical);
  for (std::uint32_t i = 0; i < geometry_.all_planes(); ++i) {
    planes_.push_back(std::make_unique<FlashPlane>(
        FlashPlane::Shape{geometry_.blocks, geometry_.pages, geometry_.logical, filled, params.free_blocks,
                          params.wear_levelling, params.wear_gap},
        *collector_));
  }
  for (std::uint32_t i = 0; i < geometry_.channels; ++i)
    channels_.push_back(std::make_unique<FlashChannel>(kernel_, source_, params.bus_bandwidth));
  const bool apart = params.plane_work == FlashPlaneWork::kIndependent;
  const std::uint32_t units = apart ? geometry_.all_planes() : geometry_.all_dies();
  for (std::uint32_t i = 0; i < units; ++i) {
    std::vector<FlashDie::Member> members;
    for (std::uint32_t plane = i; plane < geometry_.all_planes(); plane += units)
      members.push_back({plane, planes_[plane].get()});
    dies_.push_back(std::make_unique<FlashDie>(works_, source_, *channels_[geometry_.channel_of(i)], members,
                                               params.plane_work == FlashPlaneWork::kTogether));
  }
  kernel_.measure(works_.waiting, works_.busy, buffer_.occupied());
}

FlashMedia::~FlashMedia() = default;

void FlashMedia::access(Message& message, Address address, Time ready) {
  if (past_.left() > 0) [[unlikely]]
    past_.play(past_.left());
  message.charge(Segment::kMediaQueue, ready);
  kernel_.schedule(ready, source_, *this, kArrived, payload_of(accesses_.take(message, address, ready)));
}

void FlashMedia::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kArrived) {
    arrive(object_of<DividedAccess>(payload));
  } else {
    accesses_.finish(object_of<BlockPiece>(payload), kernel_.now(), client_);
  }
}

void FlashMedia::arrive(DividedAccess& access) {
  const Message& message = *access.message;
  const bool writes = message.opcode == Opcode::kMemWr;
  (writes ? works_.counts->written_bytes : works_.counts->read_bytes) += message.size;
  accesses_.divide(access, [&](BlockPiece& piece) { writes ? write(piece) : read(piece); });
}

void FlashMedia::place(FlashJob& job, std::uint64_t page) const {
  job.plane = geometry_.plane_of(page);
  job.logical = geometry_.within(page);
}

void FlashMedia::send(FlashJob& job) {
  FlashDie& die = *dies_[job.plane % dies_.size()];
  const auto member = static_cast<std::uint32_t>(job.plane / dies_.size());
  job.writes ? die.write(member, job) : die.read(member, job);
}

// --- reads -----------------------------------------------------------------------------------------------

void FlashMedia::read(BlockPiece& piece) {
  if (forwards(piece)) {
    ++works_.counts->forwarded;
    finish_in_buffer(piece);
    return;
  }
  if (Reading* const same = reading_.find(piece.block)) {
    ++works_.counts->joined;
    same->sectors |= piece.parts;
    same->pieces.push(piece);
    return;
  }
  Reading& reading = readings_.take();
  reading.page = piece.block;
  place(reading, piece.block);
  if (planes_[reading.plane]->place(reading.logical) == FlashPlane::kNowhere) {
    readings_.give_back(reading);
    finish_in_buffer(piece);  // there is nothing to be read
    return;
  }
  reading_.put(piece.block, reading);
  reading.sectors = piece.parts;
  reading.pieces.push(piece);
  send(reading);
}

bool FlashMedia::forwards(const BlockPiece& piece) {
  if (buffer_.empty()) return false;
  std::uint64_t there = buffer_.parts_of(piece.block);
  if (const BufferedPage* entry = programming_[geometry_.plane_of(piece.block)];
      entry && entry->block == piece.block)
    there |= entry->parts;
  return (piece.parts & ~there) == 0;
}

// Until then a read of the page joins, and what all of them want passes the bus once.
void FlashMedia::data_leave(FlashJob& job) {
  auto& reading = static_cast<Reading&>(job);
  reading_.erase(reading.page);
  reading.bytes = bytes_of(reading.sectors);
}

void FlashMedia::read_done(FlashJob& job) {
  auto& reading = static_cast<Reading&>(job);
  finish_all(reading.pieces, reading.work);
  readings_.give_back(reading);
}

// --- the write buffer ------------------------------------------------------------------------------------

void FlashMedia::write(BlockPiece& piece) { buffer_.write(piece); }

FlashMedia::BufferedPage& FlashMedia::new_entry(std::uint64_t page) {
  BufferedPage& entry = entries_.take();
  entry.writes = true;
  place(entry, page);
  return entry;
}

/// Without a buffer a write is done once its page is.
void FlashMedia::buffered(BlockPiece& piece, BufferedPage& entry, bool merged) {
  if (merged) ++works_.counts->merged;
  if (params_.write_buffer == 0) {
    entry.pieces.push(piece);
  } else {
    finish_in_buffer(piece);
  }
}

/// Sends a page on its way to its die; until that begins to program it, it still takes more sectors.
void FlashMedia::drain(BufferedPage& entry) { send(entry); }

std::uint32_t FlashMedia::missing(const FlashJob& job) const {
  const std::uint64_t left = whole_ & ~static_cast<const BufferedPage&>(job).parts;
  return bytes_of(left);
}

void FlashMedia::write_begins(FlashJob& job) {
  auto& entry = static_cast<BufferedPage&>(job);
  buffer_.begin(entry);
  programming_[entry.plane] = &entry;
}

void FlashMedia::write_done(FlashJob& job) {
  auto& entry = static_cast<BufferedPage&>(job);
  programming_[entry.plane] = nullptr;
  finish_all(entry.pieces, entry.work);
  entries_.give_back(entry);
  buffer_.written();
}

bool FlashMedia::writes_are_waited_for() const {
  return buffer_.keeps_waiting() || params_.write_buffer == 0;
}

// --- the end of an access --------------------------------------------------------------------------------

void FlashMedia::finish_in_buffer(BlockPiece& piece) {
  piece.start = kernel_.now();
  kernel_.schedule(kernel_.now() + params_.buffer_time, source_, *this, kFinished, payload_of(piece));
}

void FlashMedia::finish_all(IntrusiveQueue<BlockPiece>& pieces, Time work) {
  while (!pieces.empty()) {
    BlockPiece& piece = pieces.pop();
    piece.start = kernel_.now() - work;
    accesses_.finish(piece, kernel_.now(), client_);
  }
}

// --- measures --------------------------------------------------------------------------------------------

std::string FlashMedia::described() const {
  const FlashGeometry& g = geometry_;
  const Bytes raw{std::uint64_t{g.blocks} * g.pages * g.all_planes() * params_.page.count()};
  return to_text(raw) + " of flash: " + counted(g.channels, "channel") + ", " + counted(g.all_dies(), "die") +
         ", " + counted(g.all_planes(), "plane") + " of " + counted(g.blocks, "block");
}

std::vector<MeasureInfo> FlashMedia::measures() { return infos_of(kFlashMeasures); }

void FlashMedia::resources(ResourceSink& sink) const {
  const auto places = [&](std::string name, Stage stage, double count, const char* measure, Traffic counts,
                          const char* parameter, std::uint32_t value) {
    sink.add({.name = std::move(name),
              .stage = stage,
              .capacity = count,
              .occupancy = Occupancy::kLevel,
              .measures = {measure},
              .wait = Segment::kMediaQueue,
              .counts = counts,
              .twice = {doubled(parameter, value)},
              .twice_text = "twice as many"});
  };
  places("the flash dies of", Stage::kMedia, geometry_.all_dies(), "dies_busy_mean", Traffic::kRequests,
         "dies", params_.dies);
  if (params_.write_buffer > 0) {
    places("the flash write buffer of", Stage::kPlaces, params_.write_buffer, "write_buffer_mean",
           Traffic::kWrites, "write_buffer", params_.write_buffer);
  }
  sink.add(waiting_for_media("the flash media of"));
}

void FlashMedia::report(MeasureSink& sink) const {
  FlashMeasured measured{works_.counts.window()};
  const auto read = static_cast<double>(measured.page_reads * params_.page.count());
  const auto written = static_cast<double>(measured.page_programs * params_.page.count());
  std::uint64_t blocks = 0;
  double all = 0;
  for (const auto& plane : planes_) {
    for (const FlashBlock& block : plane->blocks()) {
      ++blocks;
      measured.worn += block.erases >= params_.endurance;
      measured.erases_max = std::max(measured.erases_max, static_cast<double>(block.erases));
      all += static_cast<double>(block.erases);
    }
  }
  measured.queue_mean = works_.waiting.mean();
  measured.queue_max = works_.waiting.maximum();
  measured.read_rate = works_.counts.measured().per_ns(read);
  measured.write_rate = works_.counts.measured().per_ns(written);
  measured.read_amplification = mean_value(read, static_cast<double>(measured.read_bytes));
  measured.write_amplification = mean_value(written, static_cast<double>(measured.written_bytes));
  measured.dies_busy = works_.busy.mean();
  measured.buffer_mean = buffer_.occupied().mean();
  measured.buffer_max = buffer_.occupied().maximum();
  measured.erases_mean = all / static_cast<double>(blocks);
  report_all(kFlashMeasures, measured, sink);
}

}  // namespace cxloom
