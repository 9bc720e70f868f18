#include "memory/nvm/media.hpp"

#include <algorithm>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "component/component.hpp"
#include "component/resource.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"
#include "protocol/request.hpp"

namespace cxloom {

namespace {

struct NvmMeasured : NvmCounts {
  double queue_mean = 0;
  double queue_max = 0;
  double read_rate = 0;
  double write_rate = 0;
  Value read_amplification = {};
  Value write_amplification = {};
  double buffer_mean = 0;
  double buffer_max = 0;
  double wear_max = 0;
  Value wear_mean = {};
  std::uint64_t written = 0;
  std::uint64_t worn = 0;
};

constexpr std::array kNvmMeasures{
    measure<&NvmMeasured::queue_mean>(
        "media_queue_mean", "",
        "blocks that accesses wait for: for a bank or the write buffer, mean over time"),
    measure<&NvmMeasured::queue_max>("media_queue_max", "", "blocks that accesses wait for, largest number"),
    measure<&NvmMeasured::read_rate>("media_read_gb_per_s", "GB/s",
                                     "bytes that the media read / length of the window"),
    measure<&NvmMeasured::write_rate>("media_write_gb_per_s", "GB/s",
                                      "bytes that the media wrote / length of the window"),
    measure<&NvmMeasured::read_amplification>(
        "read_amplification", "",
        "bytes that the media read, to complete writes too / bytes of read accesses"),
    measure<&NvmMeasured::write_amplification>("write_amplification", "",
                                               "bytes that the media wrote / bytes of write accesses"),
    measure<&NvmMeasured::buffer_mean>("write_buffer_mean", "", "blocks in the write buffer, mean over time"),
    measure<&NvmMeasured::buffer_max>("write_buffer_max", "", "blocks in the write buffer, largest number"),
    measure<NvmMeasured, &NvmMeasured::merged>("merged_writes", "",
                                               "writes merged with one in the write buffer"),
    measure<NvmMeasured, &NvmMeasured::forwarded>("forwarded_reads", "",
                                                  "reads answered from the write buffer"),
    measure<NvmMeasured, &NvmMeasured::read_hits>("read_buffer_hits", "",
                                                  "reads answered from the read buffer"),
    measure<&NvmMeasured::wear_max>("wear_max", "",
                                    "writes that the most written line has borne, since the start"),
    measure<&NvmMeasured::wear_mean>(
        "wear_mean", "",
        "writes that a line has borne since the start, mean of the lines in regions that were written"),
    measure<&NvmMeasured::written>("written_lines", "",
                                   "lines in regions that were written, since the start"),
    measure<&NvmMeasured::worn>("worn_lines", "",
                                "lines written as often as their endurance, since the start"),
};

}  // namespace

struct NvmMedia::BufferedBlock {
  BufferedBlock* next = nullptr;
  BufferedBlock* previous = nullptr;
  std::uint64_t block = 0;
  std::uint64_t parts = 0;
  bool held = false;
};

struct NvmMedia::Operation {
  enum class Kind : std::uint8_t { kRead, kWrite, kDrain };

  Operation* next = nullptr;
  IntrusiveQueue<BlockPiece> pieces;  // that wait for it; none wait for a drain
  BufferedBlock* entry = nullptr;     // of a drain
  std::uint64_t block = 0;
  std::uint64_t lines = 0;  // of a write
  Time start;
  Kind kind = Kind::kRead;
  bool begun = false;
};

struct NvmMedia::Wish {
  Wish* next = nullptr;
  Bank* bank = nullptr;
  bool waits = false;
};

/// One operation at a time; accesses wait in line, and so do drains of the write buffer.
struct NvmMedia::Bank final : public Waiter {
  Bank(Kernel& kernel, const Component& device)
      : component(device), turn(kernel, "a bank of the media", device) {}
  const EventHandler& owner() const override { return component; }
  Operation* next_access() const { return half && !half->entry ? half : accesses.first(); }
  Operation* next_drain() const { return half && half->entry ? half : drains.first(); }

  const Component& component;
  WaitList turn;
  IntrusiveQueue<Operation> accesses;
  IntrusiveQueue<Operation> drains;
  Operation* current = nullptr;
  Operation* half = nullptr;  // a write whose other lines have been read: the first one of its kind
  Wish to_read{.bank = this};
  Wish to_write{.bank = this};
  bool drained = false;  // the last operation was a drain
};

NvmMedia::NvmMedia(const NvmMediaParams& params, const MediaContext& context)
    : params_(params),
      kernel_(context.kernel),
      client_(context.client),
      source_(context.kernel.new_source()),
      whole_(~std::uint64_t{0} >> (64 - params.block.count() / kLineBytes)),
      read_path_(params.read_bandwidth),
      write_path_(params.write_bandwidth),
      wear_(params.wear_region.value_or(params.block), params.block, params.endurance),
      read_buffer_(params.read_buffer),
      accesses_(params.block, Bytes{kLineBytes}),
      buffer_(*this, context.kernel, context.owner, "the write buffer of the media",
              {params.write_buffer, params.hold, whole_}, waiting_) {
  for (std::uint32_t i = 0; i < params.banks; ++i) {
    banks_.push_back(std::make_unique<Bank>(context.kernel, context.owner));
  }
  kernel_.measure(waiting_, buffer_.occupied());
}

NvmMedia::~NvmMedia() = default;

std::uint64_t NvmMedia::bytes_of_bank() { return sizeof(Bank); }

void NvmMedia::access(Message& message, Address address, Time ready) {
  kernel_.schedule(ready, source_, *this, kArrived, payload_of(accesses_.take(message, address, ready)));
}

void NvmMedia::wake(std::uint8_t kind, std::uint64_t payload) {
  switch (kind) {
    case kArrived: arrive(object_of<DividedAccess>(payload)); break;
    case kFinished: finish(object_of<BlockPiece>(payload)); break;
    case kBlockRead: block_read(object_of<Bank>(payload)); break;
    case kBlockWritten: block_written(object_of<Bank>(payload)); break;
    default: offer(object_of<Path>(payload)); break;
  }
}

void NvmMedia::arrive(DividedAccess& access) {
  const Message& message = *access.message;
  const bool is_write = message.opcode == Opcode::kMemWr;
  (is_write ? counts_->written_bytes : counts_->read_bytes) += message.size;
  accesses_.divide(access, [&](BlockPiece& piece) {
    piece.start = kernel_.now();
    is_write ? write(piece) : read(piece);
  });
}

// --- reads -----------------------------------------------------------------------------------------------

void NvmMedia::read(BlockPiece& piece) {
  if (forwards(piece)) {
    ++counts_->forwarded;
    finish_after(piece, params_.buffer_read_latency);
    return;
  }
  if (read_buffer_.use(piece.block)) {
    ++counts_->read_hits;
    finish_after(piece, params_.buffer_read_latency);
    return;
  }
  if (params_.read_buffer > 0) {
    // Where there is a place for the block, reads of it wait for one and the same operation.
    if (Operation* const found = reads_.find(piece.block)) {
      found->pieces.push(piece);
      if (!found->begun) waiting_.change(kernel_.now(), +1);
      return;
    }
  }
  Operation& operation = operations_.take();
  operation.block = piece.block;
  operation.pieces.push(piece);
  if (params_.read_buffer > 0) reads_.put(piece.block, operation);
  request(operation);
}

/// Whether the write buffer has all lines of `piece`, those on their way into the media included.
bool NvmMedia::forwards(const BlockPiece& piece) {
  std::uint64_t there = buffer_.parts_of(piece.block);
  const Bank& bank = bank_of(piece.block);
  for (const Operation* under_way : {bank.current, bank.half}) {
    if (under_way && under_way->entry && under_way->block == piece.block) there |= under_way->lines;
  }
  return (piece.parts & ~there) == 0;
}

// --- the write buffer ------------------------------------------------------------------------------------

void NvmMedia::write(BlockPiece& piece) {
  if (params_.write_buffer == 0) {
    Operation& operation = operations_.take();
    operation.kind = Operation::Kind::kWrite;
    operation.block = piece.block;
    operation.lines = piece.parts;
    operation.pieces.push(piece);
    request(operation);
  } else {
    buffer_.write(piece);
  }
}

NvmMedia::BufferedBlock& NvmMedia::new_entry(std::uint64_t /*block*/) { return entries_.take(); }

void NvmMedia::buffered(BlockPiece& piece, BufferedBlock& /*entry*/, bool merged) {
  if (merged) ++counts_->merged;
  piece.start = kernel_.now();
  finish_after(piece, params_.buffer_write_latency);
}

/// Sends a block on its way into the media; until its bank begins it still takes more lines.
void NvmMedia::drain(BufferedBlock& entry) {
  Operation& operation = operations_.take();
  operation.kind = Operation::Kind::kDrain;
  operation.entry = &entry;
  operation.block = entry.block;
  Bank& bank = bank_of(entry.block);
  bank.drains.push(operation);
  start(bank);
}

// --- banks -----------------------------------------------------------------------------------------------

void NvmMedia::request(Operation& operation) {
  Bank& bank = bank_of(operation.block);
  if (bank.current && bank.accesses.empty()) bank.turn.join(bank, kernel_.now());
  bank.accesses.push(operation);
  waiting_.change(kernel_.now(), +1);
  start(bank);
}

/// Accesses go before drains; while writes wait for the write buffer, the two take turns. What waits for a
/// data path has not begun, and does not keep the bank from the other kind.
void NvmMedia::start(Bank& bank) {
  if (bank.current) return;
  const Operation* const access = bank.next_access();
  const Operation* const drain = bank.next_drain();
  const bool drains = drain && (!access || buffer_.keeps_waiting());
  const bool first = drains && (!access || !bank.drained || drain == bank.half);
  if (first && may_begin(bank, *drain)) return begin_drain(bank);
  if (access && may_begin(bank, *access)) return begin_access(bank);
  if (drains && !first && may_begin(bank, *drain)) begin_drain(bank);
}

/// The first that it does with the media is to write the block.
bool NvmMedia::is_written_first(const Operation& operation) const {
  if (operation.kind == Operation::Kind::kRead) return false;
  const std::uint64_t lines = operation.entry ? operation.entry->parts : operation.lines;
  return operation.begun || lines == whole_ || read_buffer_.holds(operation.block);
}

/// Whether its data path is free. If not, the bank waits for that.
bool NvmMedia::may_begin(Bank& bank, const Operation& operation) {
  const bool writes = is_written_first(operation);
  Path& path = writes ? write_path_ : read_path_;
  if (path.data.is_free(kernel_.now()) && (path.offers || path.wishes.empty())) return true;
  Wish& wish = writes ? bank.to_write : bank.to_read;
  if (wish.waits) return false;
  wish.waits = true;
  if (path.wishes.empty() && !path.offers)
    kernel_.schedule(path.data.free_from(), source_, *this, kPathFree, payload_of(path));
  path.wishes.push(wish);
  return false;
}

/// A path is free: banks that wait for it begin, until one has taken it.
void NvmMedia::offer(Path& path) {
  path.offers = true;
  while (!path.wishes.empty() && path.data.is_free(kernel_.now())) {
    Wish& wish = path.wishes.pop();
    wish.waits = false;
    start(*wish.bank);
  }
  path.offers = false;
  if (!path.wishes.empty())
    kernel_.schedule(path.data.free_from(), source_, *this, kPathFree, payload_of(path));
}

/// It does something from now on: whoever else is there waits for its turn.
void NvmMedia::note_turn(Bank& bank) {
  if (bank.accesses.empty() == bank.turn.empty()) return;
  bank.turn.empty() ? bank.turn.join(bank, kernel_.now()) : bank.turn.leave(bank);
}

void NvmMedia::begin_drain(Bank& bank) {
  bank.drained = true;
  if (Operation* const half = bank.half) {
    bank.half = nullptr;
    bank.current = half;
    write_block(bank);
  } else {
    begin(bank, bank.drains.pop());
  }
  note_turn(bank);
}

void NvmMedia::begin_access(Bank& bank) {
  bank.drained = false;
  if (Operation* const half = bank.half; half && !half->entry) {
    bank.half = nullptr;
    bank.current = half;
    write_block(bank);
    return note_turn(bank);
  }
  Operation& operation = bank.accesses.pop();
  note_turn(bank);
  for (BlockPiece* piece = operation.pieces.first(); piece; piece = piece->next)
    waiting_.change(kernel_.now(), -1);
  begin(bank, operation);
}

void NvmMedia::begin(Bank& bank, Operation& operation) {
  const bool writes = is_written_first(operation);
  bank.current = &operation;
  operation.begun = true;
  operation.start = kernel_.now();
  if (operation.entry) {
    operation.lines = operation.entry->parts;
    buffer_.begin(*operation.entry);
  }
  if (writes) {
    read_buffer_.use(operation.block);
    return write_block(bank);
  }
  counts_->media_read_bytes += params_.block.count();
  read_path_.data.enter(kernel_.now(), params_.block.count());
  kernel_.schedule(kernel_.now() + params_.read_latency, source_, *this, kBlockRead, payload_of(bank));
}

void NvmMedia::write_block(Bank& bank) {
  write_path_.data.enter(kernel_.now(), params_.block.count());
  kernel_.schedule(kernel_.now() + params_.write_latency, source_, *this, kBlockWritten, payload_of(bank));
}

void NvmMedia::block_read(Bank& bank) {
  Operation& operation = *bank.current;
  if (operation.kind != Operation::Kind::kRead) {
    bank.current = nullptr;
    bank.half = &operation;
    if (may_begin(bank, operation)) return operation.entry ? begin_drain(bank) : begin_access(bank);
    return start(bank);
  }
  if (params_.read_buffer > 0) reads_.erase(operation.block);
  read_buffer_.put(operation.block);
  bank.current = nullptr;
  finish_all(operation);
  start(bank);
}

void NvmMedia::block_written(Bank& bank) {
  Operation& operation = *bank.current;
  bank.current = nullptr;
  wear_.write(operation.block);
  counts_->media_written_bytes += params_.block.count();
  BufferedBlock* const entry = operation.entry;
  finish_all(operation);
  if (entry) {
    entries_.give_back(*entry);
    buffer_.written();
  }
  start(bank);
}

// --- the end of an access --------------------------------------------------------------------------------

void NvmMedia::finish_after(BlockPiece& piece, Time latency) {
  kernel_.schedule(kernel_.now() + latency, source_, *this, kFinished, payload_of(piece));
}

void NvmMedia::finish_all(Operation& operation) {
  while (!operation.pieces.empty()) {
    BlockPiece& piece = operation.pieces.pop();
    piece.start = std::max(piece.start, operation.start);
    finish(piece);
  }
  operations_.give_back(operation);
}

// --- measures --------------------------------------------------------------------------------------------

std::vector<MeasureInfo> NvmMedia::measures() { return infos_of(kNvmMeasures); }

void NvmMedia::resources(ResourceSink& sink) const {
  if (params_.write_buffer > 0) {
    sink.add({.name = "the NVM write buffer of",
              .stage = Stage::kPlaces,
              .capacity = params_.write_buffer,
              .occupancy = Occupancy::kLevel,
              .measures = {"write_buffer_mean"},
              .wait = Segment::kMediaQueue,
              .counts = Traffic::kWrites,
              .twice = {doubled("write_buffer", params_.write_buffer)},
              .twice_text = std::to_string(2 * std::uint64_t{params_.write_buffer}) + " blocks"});
  }
  Resource banks = waiting_for_media("the NVM banks of");
  banks.twice = {doubled("banks", params_.banks)};
  banks.twice_text = std::to_string(2 * std::uint64_t{params_.banks}) + " banks";
  sink.add(std::move(banks));
}

void NvmMedia::report(MeasureSink& sink) const {
  NvmMeasured measured{counts_.window()};
  const NvmCounts& n = measured;
  measured.queue_mean = waiting_.mean();
  measured.queue_max = waiting_.maximum();
  measured.read_rate = counts_.measured().per_ns(static_cast<double>(n.media_read_bytes));
  measured.write_rate = counts_.measured().per_ns(static_cast<double>(n.media_written_bytes));
  measured.read_amplification =
      mean_value(static_cast<double>(n.media_read_bytes), static_cast<double>(n.read_bytes));
  measured.write_amplification =
      mean_value(static_cast<double>(n.media_written_bytes), static_cast<double>(n.written_bytes));
  measured.buffer_mean = buffer_.occupied().mean();
  measured.buffer_max = buffer_.occupied().maximum();
  measured.wear_max = wear_.maximum();
  if (wear_.written_lines() > 0) measured.wear_mean = wear_.mean();
  measured.written = wear_.written_lines();
  measured.worn = wear_.worn_lines();
  report_all(kNvmMeasures, measured, sink);
}

}  // namespace cxloom
