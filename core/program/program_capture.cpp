#include "program/program_capture.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kSpaceBits = 48;  // of an address; those of different processes differ above

}  // namespace

ProgramCapture::ProgramCapture(CaptureFilter& filter, const CaptureParts& parts)
    : filter_(filter), parts_(parts), change_(std::numeric_limits<std::uint64_t>::max()) {
  ensure(parts.window <= parts.period, "a window longer than its period");
  if (parts.window > 0 && parts.window < parts.period) {
    in_window_ = false;
    change_ = parts.period - parts.window;
  }
  choose();
}

inline Producer ProgramCapture::give(State& state, const ProgramThread& thread, const ProgramAccess& access,
                                     AccessKind kind, const Dependence& needed, std::uint64_t& begun) {
  Producer line = 0;
  const Address address{access.address | std::uint64_t{thread.process} << kSpaceBits};
  if (filter_.hits(address, access.size, kind, line)) [[likely]]
    return line;
  begin(state, thread.number, begun);
  begun = 0;
  Access whole;
  whole.address = address;
  whole.size = access.size;
  whole.thread = thread.number;
  whole.kind = kind;
  whole.dependence_cycles = static_cast<std::uint16_t>(std::min<std::uint32_t>(needed.cycles, 0xffffU));
  return filter_.access(whole, needed.producer, records_);
}

inline void ProgramCapture::run(State& state, const ProgramThread& thread,
                                const BlockInstruction& instruction, std::span<const ProgramAccess> accesses,
                                std::uint64_t& begun) {
  DependenceTracker& values = state.values;
  Dependence result = values.of(instruction.data_reads);
  const std::uint32_t load = state.pace.load_cycles();
  if (!accesses.empty()) {
    const Dependence address = values.of(instruction.address_reads);
    for (const ProgramAccess& access : accesses) {
      if (access.reads) {
        ++loads_;
        const Producer line = give(state, thread, access, AccessKind::kRead, address, begun);
        result = later(result, {line, 0});
        result =
            later(result, later(address.after(load), values.stored(access.address, access.size).after(load)));
      }
      if (access.writes) {
        ++stores_;
        give(state, thread, access, AccessKind::kWrite,
             filter_.levels() == 0 ? later(address, result) : address, begun);
        values.store(access.address, access.size, result);
      }
    }
  }
  const std::uint32_t latency = kLatencies[static_cast<std::size_t>(instruction.kind)];
  values.set(instruction.data_writes, result.after(latency));
  if (instruction.pointer_writes != 0)
    values.set(instruction.pointer_writes, values.of(instruction.address_reads).after(1));
  if (parts_.core) execute(state.pace, instruction, accesses);
}

void ProgramCapture::block(const ProgramThread& thread, const ProgramBlock& block,
                           std::span<const ProgramAccess> accesses, bool continued) {
  if (filter_.complete()) return;
  State& state = state_of(thread.number);
  std::uint64_t begun =
      continued ? ~std::uint64_t{0} : 0;  // instructions since those that the filter was told
  const ProgramAccess* next = accesses.data();
  const ProgramAccess* const end = next + accesses.size();
  std::uint16_t number = 0;
  for (const BlockInstruction& instruction : block.instructions) {
    ++begun;
    const ProgramAccess* const first = next;
    while (next != end && next->instruction == number) ++next;
    if (parts_.core) state.pace.dispatch();
    if (block.marks) [[unlikely]] {
      begin(state, thread.number, begun);
      begun = 0;
      note_marks(state, instruction);
    }
    run(state, thread, instruction, {first, next}, begun);
    ++number;
  }
  begin(state, thread.number, begun);
  if (state.depth > 0) {
    const InstructionClass last = block.instructions.back().kind;
    if (last == InstructionClass::kCall) ++state.depth;
    if (last == InstructionClass::kReturn && --state.depth == 0) end_region();
  }
  if (filter_.instructions_in_all() >= change_) [[unlikely]] {
    in_window_ = !in_window_;
    change_ += in_window_ ? parts_.window : parts_.period - parts_.window;
    choose();
  }
}

void ProgramCapture::begin(State& state, std::uint32_t thread, std::uint64_t instructions) {
  const std::uint64_t now = state.pace.now();
  filter_.begin_instructions(thread, instructions, now - std::exchange(state.told, now));
}

// The nearest cache holds everything: what memory adds is up to whoever has the records.
void ProgramCapture::execute(Pace& pace, const BlockInstruction& instruction,
                             std::span<const ProgramAccess> accesses) {
  const std::uint64_t address = pace.known(instruction.address_reads);
  std::uint64_t done = pace.known(instruction.data_reads);
  if (std::ranges::any_of(accesses, [](const ProgramAccess& access) { return access.reads; }))
    done = std::max(done, address + pace.load_cycles());
  done += kLatencies[static_cast<std::size_t>(instruction.kind)];
  pace.set(instruction.data_writes, done);
  pace.set(instruction.pointer_writes, address + 1);
  pace.retire(std::max(done, address));
}

// Of interest where threads have cores: there they wait for each other.
void ProgramCapture::note(const ProgramThread& thread, AccessRole role, std::uint64_t call) {
  if (!parts_.core || filter_.complete()) return;
  Access record;
  record.address = Address{call};
  record.thread = thread.number;
  record.role = role;
  filter_.note(record, records_);
}

void ProgramCapture::system_call(const ProgramThread& thread, const SystemCall& call) {
  note(thread, AccessRole::kCall, call.order);
}

void ProgramCapture::go_on(const ProgramThread& thread, const Release& by) {
  if (by.thread != 0) note(thread, AccessRole::kGoOn, by.order);
}

void ProgramCapture::note_marks(State& state, const BlockInstruction& instruction) {
  if (instruction.has(BlockInstruction::kRegionBegin)) begin_region();
  if (instruction.has(BlockInstruction::kRegionEnd) && inside_ > 0) end_region();
  // The function ends with the return that belongs to the call by which it began.
  if (instruction.has(BlockInstruction::kRegionEntry) && state.depth == 0) {
    state.depth = 1;
    begin_region();
  }
}

void ProgramCapture::begin_region() {
  ++inside_;
  ++regions_;
  choose();
}

void ProgramCapture::end_region() {
  --inside_;
  choose();
}

void ProgramCapture::choose() {
  filter_.set_recording(wanted_ && in_window_ && (!parts_.regions || inside_ > 0));
}

ProgramCapture::State& ProgramCapture::make_state(std::uint32_t thread) {
  if (thread >= states_.size()) states_.resize(thread + 1);
  std::unique_ptr<State>& state = states_[thread];
  if (!state) state = std::make_unique<State>(parts_.core.value_or(PaceParams{.window = 1}));
  return *state;
}

}  // namespace cxloom
