#include "program/program_capture.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kSpaceBits = 48;  // of an address; those of different processes differ above

/// An address among those of all processes.
constexpr std::uint64_t among_all(const ProgramThread& thread, std::uint64_t address) {
  return address | std::uint64_t{thread.process} << kSpaceBits;
}

/// What a load takes whose address is known in that cycle: its line may be under way from a further level.
inline std::uint32_t load_cycles(const Pace& pace, const CaptureFilter::Delivery& found,
                                 std::uint64_t known) {
  const std::uint32_t load = pace.load_cycles(found.level);
  if (found.arrives > known + load) [[unlikely]]
    return static_cast<std::uint32_t>(std::min(found.arrives - known, pace.longest_load()));
  return load;
}

/// The number of the page of an address among those of all processes.
inline std::uint64_t page_of(const Tlb& tlb, std::uint64_t address) {
  return address >> (12U + 9U * (tlb.leaf() - 1));
}

/// Cycles that a record waits from what it needs on. If that is no record, those of page walks are all that is known.
inline std::uint16_t cycles_behind(const Dependence& needed, std::uint64_t walked) {
  return needed.producer() != 0 ? needed.cycles()
                                : static_cast<std::uint16_t>(std::min(walked, Dependence::kMostCycles));
}

}  // namespace

ProgramCapture::ProgramCapture(CaptureFilter& filter, const CaptureParts& parts)
    : filter_(filter), parts_(parts), change_(std::numeric_limits<std::uint64_t>::max()) {
  ensure(parts.window <= parts.period, "a window longer than its period");
  ensure(parts.core || !parts.tlb, "a TLB without a core");
  // A level that the core does not tell of is as far as the last one.
  if (parts_.core) {
    std::vector<std::uint32_t>& cycles = parts_.core->load_cycles;
    cycles.resize(std::max<std::size_t>(filter.levels(), 1), cycles.back());
  }
  if (parts.window > 0 && parts.window < parts.period) {
    in_window_ = false;
    change_ = parts.period - parts.window;
  }
  choose();
}

inline CaptureFilter::Delivery ProgramCapture::give(State& state, const ProgramThread& thread,
                                                    const ProgramAccess& access, AccessKind kind,
                                                    const Dependence& needed, std::uint64_t& begun,
                                                    std::uint64_t walked, AccessRole role) {
  CaptureFilter::Delivery found;
  const Address address{among_all(thread, access.address)};
  if (filter_.hits(state.caches, address, access.size, kind, found)) [[likely]]
    return found;
  begin(state, thread.number, begun);
  begun = 0;
  Access whole;
  whole.address = address;
  whole.size = access.size;
  whole.thread = thread.number;
  whole.kind = kind;
  whole.role = role;
  whole.dependence_cycles = cycles_behind(needed, walked);
  found = filter_.access(state.caches, whole, needed.producer(), records_);
  if (filter_.pages() != framed_.size()) [[unlikely]]
    note_frames(thread, access, role);
  if (found.level == filter_.levels()) {
    if (state.tlb != nullptr && answered(state) >= state.marked) {
      state.marked = found.record;
      state.marked_at = state.instructions;
    }
    state.recorded = state.instructions;
    state.silent = state.pace.now() + kSilence;
  } else if (kind == AccessKind::kRead && found.level > 0) {
    filter_.arrives(state.caches, address, needed.known + state.pace.load_cycles(found.level));
  }
  return found;
}

void ProgramCapture::flush(State& state, const ProgramThread& thread, const ProgramAccess& access, bool keeps,
                           const Dependence& needed, std::uint64_t& begun, std::uint64_t walked) {
  ++flushes_;
  if (!parts_.flushes || filter_.complete()) return;
  state.flushed = true;
  begin(state, thread.number, std::exchange(begun, 0));
  Access whole;
  whole.address = Address{access.address | std::uint64_t{thread.process} << kSpaceBits};
  whole.thread = thread.number;
  whole.keeps = keeps;
  whole.dependence_cycles = cycles_behind(needed, walked);
  filter_.flush(state.caches, whole, needed.producer(), records_);
  state.recorded = state.instructions;
  state.silent = state.pace.now() + kSilence;
}

// It is no access: what comes behind it may hit the caches, and waits as well.
void ProgramCapture::note_fence(State& state, const ProgramThread& thread, std::uint64_t& begun) {
  state.flushed = false;
  if (filter_.complete()) return;
  begin(state, thread.number, std::exchange(begun, 0));
  Access record;
  record.thread = thread.number;
  record.role = AccessRole::kProgress;
  record.dependence = kAllBefore;
  filter_.note(record, 0, records_);
  state.silent = state.pace.now() + kSilence;
}

inline Dependence ProgramCapture::run(State& state, const ProgramThread& thread,
                                      const BlockInstruction& instruction,
                                      std::span<const ProgramAccess> accesses, std::uint64_t& begun) {
  DependenceTracker& values = state.values;
  Pace& pace = state.pace;
  Dependence result = values.of(instruction.data_reads).not_before(pace.now());
  Dependence address;
  if (!accesses.empty() || instruction.pointer_writes != 0)
    address = values.of(instruction.address_reads).not_before(pace.now());
  std::uint64_t walked = 0;  // cycles from the address to the places of all pages
  for (const ProgramAccess& access : accesses) {
    Dependence placed = address;
    if (state.tlb != nullptr) {
      if (!state.tlb->has(among_all(thread, access.address), access.size)) [[unlikely]]
        placed = walk(state, thread, access, address, begun);
      else if (state.places.any()) [[unlikely]] placed = wait_for_walks(state, thread, access, address);
      walked = std::max(walked, placed.known - address.known);
    }
    if (instruction.has(BlockInstruction::kFlush)) [[unlikely]] {
      flush(state, thread, access, instruction.has(BlockInstruction::kFlushKeeping), placed, begun,
            placed.known - address.known);
      continue;
    }
    if (access.reads) {
      ++loads_;
      const CaptureFilter::Delivery found =
          give(state, thread, access, AccessKind::kRead, placed, begun, placed.known - address.known);
      const std::uint32_t nearest = pace.load_cycles(0);
      result = later(result, Dependence(found.record));
      result = later(result, later(placed.after(load_cycles(pace, found, placed.known)),
                                   values.stored(access.address, access.size).after(nearest)));
    }
    if (access.writes) {
      ++stores_;
      give(state, thread, access, AccessKind::kWrite, filter_.levels() == 0 ? later(placed, result) : placed,
           begun, placed.known - address.known);
      values.store(access.address, access.size, result);
    }
  }
  // What is only read from memory is there with the data.
  const bool reads = !accesses.empty() && accesses.front().reads;
  const bool computes = !reads || instruction.kind != InstructionClass::kMove;
  const Dependence done = result.after(computes ? kLatencies[static_cast<std::size_t>(instruction.kind)] : 0);
  values.set(instruction.data_writes, done);
  if (instruction.pointer_writes != 0) values.set(instruction.pointer_writes, address.after(1));
  if (parts_.core) pace.retire(std::max(done.known, address.known + walked), walked);
  return result;
}

/// What an access waits for that has its address, and not the place of one of its pages.
Dependence ProgramCapture::walk(State& state, const ProgramThread& thread, const ProgramAccess& access,
                                const Dependence& needed, std::uint64_t& begun) {
  Dependence placed = wait_for_walks(state, thread, access, needed);
  const std::uint64_t last = access.address + access.size - 1;
  for (const std::uint64_t address : {access.address, last}) {
    if (!state.tlb->has(among_all(thread, address), 1))
      placed = later(placed, walk_page(state, thread, address, needed, begun));
  }
  return placed;
}

/// What an access waits for that has its address, where the walks of its pages may have begun and not ended.
Dependence ProgramCapture::wait_for_walks(State& state, const ProgramThread& thread,
                                          const ProgramAccess& access, const Dependence& needed) {
  const std::uint64_t now = state.pace.now();
  const Producer there = answered(state);
  const std::uint64_t first = page_of(*state.tlb, among_all(thread, access.address));
  const std::uint64_t last = page_of(*state.tlb, among_all(thread, access.address + access.size - 1));
  const Dependence placed = state.places.wait(first, needed, there, now);
  return first == last ? placed : later(placed, state.places.wait(last, needed, there, now));
}

Dependence ProgramCapture::walk_page(State& state, const ProgramThread& thread, std::uint64_t address,
                                     const Dependence& needed, std::uint64_t& begun) {
  const unsigned leaf = state.tlb->leaf();
  const unsigned loads = state.tlb->bring(among_all(thread, address));
  if (filter_.recording()) {
    ++counts_.misses;
    counts_.walks += loads > 0 ? 1 : 0;
    counts_.loads += loads;
  }
  Dependence known = needed.after(parts_.tlb->second_cycles);
  const std::uint64_t page = page_of(*state.tlb, among_all(thread, address));
  if (loads == 0) {
    state.places.add(page, needed, known);
    return known;
  }
  known = known.after(static_cast<std::uint32_t>(state.walkers.begin(known.known) - known.known));
  for (unsigned level = leaf + loads; level-- > leaf;) {
    const ProgramAccess entry{.address = page_table_entry(address, level), .size = 8, .reads = true};
    const CaptureFilter::Delivery found = give(state, thread, entry, AccessKind::kRead, known, begun,
                                               known.known - needed.known, AccessRole::kPageWalk);
    known = known.after(load_cycles(state.pace, found, known.known));
    // A line that has been there for long is not waited for.
    if (found.record > answered(state)) known = later(known, Dependence(found.record));
  }
  state.walkers.end(known.known);
  state.places.add(page, needed, known);
  return known;
}

/// What its thread has read up to that record is there, as it has retired; and perhaps some more.
inline Producer ProgramCapture::answered(State& state) const {
  const std::uint64_t window = parts_.core->window;
  if (state.instructions - state.recorded > window) return std::numeric_limits<Producer>::max();
  if (state.instructions - state.marked_at > window) state.answered = state.marked;
  return state.answered;
}

void ProgramCapture::block(const ProgramThread& thread, const ProgramBlock& block,
                           std::span<const ProgramAccess> accesses, bool continued) {
  if (filter_.complete()) return;
  State& state = state_of(thread.number);
  if (state.branch.kind != Branch::kNone) go_to(state, thread, block.address);
  std::uint64_t begun =
      continued ? ~std::uint64_t{0} : 0;  // instructions since those that the filter was told
  const ProgramAccess* next = accesses.data();
  const ProgramAccess* const end = next + accesses.size();
  std::uint16_t number = 0;
  Dependence needs;  // of the last one
  bool reads = false;
  for (const BlockInstruction& instruction : block.instructions) {
    ++begun;
    ++state.instructions;
    const ProgramAccess* const first = next;
    while (next != end && next->instruction == number) ++next;
    if (parts_.core) state.pace.dispatch();
    if (block.marks) [[unlikely]] {
      begin(state, thread.number, begun);
      begun = 0;
      note_marks(state, thread, instruction);
    }
    if (state.flushed && instruction.has(BlockInstruction::kOrdersFlushes | BlockInstruction::kAtomic))
        [[unlikely]]
      note_fence(state, thread, begun);
    needs = run(state, thread, instruction, {first, next}, begun);
    reads = first != next && first->reads;
    ++number;
  }
  begin(state, thread.number, begun);
  if (parts_.core) {
    note_branch(state, block, needs, reads);
    if (state.pace.now() >= state.silent) [[unlikely]]
      note_progress(state, thread);
  }
  if (state.depth > 0) {
    const InstructionClass last = block.instructions.back().kind;
    if (last == InstructionClass::kCall) ++state.depth;
    if (last == InstructionClass::kReturn && --state.depth == 0) end_region(state, thread);
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

void ProgramCapture::note_branch(State& state, const ProgramBlock& block, const Dependence& needs,
                                 bool reads) {
  const BlockInstruction& last = block.instructions.back();
  Branch branch{Branch::kNone, block.last, block.last + last.length, needs};
  switch (last.kind) {
    case InstructionClass::kBranch: branch.kind = Branch::kConditional; break;
    case InstructionClass::kReturn: branch.kind = Branch::kReturn; break;
    case InstructionClass::kCall: state.predictor.call(branch.behind); [[fallthrough]];
    case InstructionClass::kJump:
      // A direct one reads neither a register nor memory.
      if (reads || last.data_reads != 0) branch.kind = Branch::kIndirect;
      break;
    default: break;
  }
  if (branch.kind != Branch::kNone) state.branch = branch;
}

// What follows a wrong prediction comes into the window when the branch is executed, and what was fetched behind it is thrown away.
void ProgramCapture::go_to(State& state, const ProgramThread& thread, std::uint64_t address) {
  const Branch& branch = state.branch;
  bool right = true;
  switch (std::exchange(state.branch.kind, Branch::kNone)) {
    case Branch::kConditional:
      right = state.predictor.direction(branch.address, address != branch.behind);
      break;
    case Branch::kIndirect: right = state.predictor.target(branch.address, address); break;
    case Branch::kReturn: right = state.predictor.returns(address); break;
    case Branch::kNone: return;
  }
  ++branches_;
  if (right) [[likely]]
    return;
  ++mispredictions_;
  const Dependence resolved = branch.needs.after(parts_.core->branch_penalty);
  state.pace.wait_until(resolved.known);
  // What is further back than the window has been answered.
  if (resolved.producer() == 0 || state.instructions - state.recorded > parts_.core->window) return;
  begin(state, thread.number, 0);
  Access record;
  record.thread = thread.number;
  record.role = AccessRole::kBranch;
  record.dependence_cycles = resolved.cycles();
  filter_.note(record, resolved.producer(), records_);
}

void ProgramCapture::thread_ends(const ProgramThread& thread) {
  if (thread.number < states_.size() && states_[thread.number]) {
    note_progress(*states_[thread.number], thread);
    note(thread, AccessRole::kWait);
    ended_walked_ += states_[thread.number]->pace.walked();
    states_[thread.number].reset();
  }
  filter_.thread_ends(thread.number);
}

// Of interest where threads have cores: there they wait for each other.
void ProgramCapture::note(const ProgramThread& thread, AccessRole role, std::uint64_t call) {
  if (!parts_.core || filter_.complete()) return;
  Access record;
  record.address = Address{call};
  record.thread = thread.number;
  record.role = role;
  filter_.note(record, 0, records_);
}

void ProgramCapture::note_progress(State& state, const ProgramThread& thread) {
  state.silent = state.pace.now() + kSilence;
  note(thread, AccessRole::kProgress);
}

void ProgramCapture::note_frames(const ProgramThread& thread, const ProgramAccess& access, AccessRole role) {
  std::uint64_t first = access.address / kPageBytes;
  std::uint64_t last = (access.address + access.size - 1) / kPageBytes;
  if (first != last && filter_.pages() == framed_.size() + 1) {
    // One alone is new. If that is not the second one, this was touched before, and mostly not long ago.
    const unsigned bits = parts_.tlb && parts_.tlb->huge() ? 21 : 12;
    const std::uint64_t one = among_all(thread, first * kPageBytes) >> bits;
    const std::uint64_t other = among_all(thread, last * kPageBytes) >> bits;
    const auto known = std::find_if(framed_.rbegin(), framed_.rend(), [&](const Page& page) {
      return page.address >> bits == one || page.address >> bits == other;
    });
    const bool first_is_new = one != other && known != framed_.rend() && known->address >> bits == other;
    if (first_is_new) last = first;
    else first = last;
  }
  for (std::uint64_t page = first; page <= last; ++page) {
    const std::uint64_t address = page * kPageBytes;
    const std::uint32_t origin = role == AccessRole::kPageWalk ? memory_.page_tables_of(thread.process)
                                                               : memory_.origin_of(thread.process, address);
    framed_.push_back({address | std::uint64_t{thread.process} << kSpaceBits, origin});
  }
}

// A process is a copy of the one that began it, unless it is another program in that one's place.
void ProgramCapture::thread_begins(const ProgramThread& thread, const Release& by) {
  if (thread.process >= processes_) {
    processes_ = thread.process + 1;
    const Caller caller = by.thread < callers_.size() ? callers_[by.thread] : Caller{thread.process, 0};
    const bool replaced = caller.number == system_call::kExecve || caller.number == system_call::kExecveAt;
    memory_.begins(thread.process, by.thread == 0 || replaced ? thread.process : caller.process);
  }
  go_on(thread, by);
}

void ProgramCapture::note_call(State& state, const ProgramThread& thread, const SystemCall& call) {
  std::array<std::uint64_t, MemoryOrigins::kCallers> callers;
  state.predictor.callers(callers);
  memory_.calls(thread, call, callers);
  if (thread.number >= callers_.size()) callers_.resize(thread.number + 1);
  callers_[thread.number] = {thread.process, call.number};
}

void ProgramCapture::system_call(const ProgramThread& thread, const SystemCall& call) {
  note(thread, AccessRole::kCall, call.order);
  if (!parts_.core) return;
  if (latest_call_.thread != thread.number) call_of_another_ = latest_call_;
  latest_call_ = {thread.number, call.order};
  State& state = state_of(thread.number);
  note_call(state, thread, call);
  state.call = system_call::may_wait(call) ? call.order : 0;
  state.asleep = false;
  state.behind = 0;
}

void ProgramCapture::thread_sleeps(const ProgramThread& thread) {
  if (!parts_.core) return;
  state_of(thread.number).asleep = true;
  note(thread, AccessRole::kWait);
}

void ProgramCapture::thread_turns(const ProgramThread& thread, const Release& by) {
  if (!parts_.core) return;
  State& state = state_of(thread.number);
  state.behind = by.order;
  state.asleep &= by.thread == 0;
  go_on(thread, by);
}

void ProgramCapture::system_call_ends(const ProgramThread& thread, const SystemCallEnd& end) {
  memory_.ends(thread, end);
  if (!parts_.core) return;
  State& state = state_of(thread.number);
  if (end.by.thread != 0) {
    if (end.by.order != state.behind) note(thread, AccessRole::kGoOn, end.by.order);
  } else if (state.asleep) {
    // Nobody knows for whom it waited, or it did not.
    if (end.slept) note_progress(state, thread);
    else note(thread, AccessRole::kGoOn, state.call);
  } else if (state.call != 0 && end.slept) {
    // Whoever let it go on has been told before.
    go_on(thread, latest_call_.thread != thread.number ? latest_call_ : call_of_another_);
  }
  state.call = state.behind = 0;
  state.asleep = false;
}

void ProgramCapture::go_on(const ProgramThread& thread, const Release& by) {
  if (by.thread != 0) note(thread, AccessRole::kGoOn, by.order);
}

void ProgramCapture::note_marks(State& state, const ProgramThread& thread,
                                const BlockInstruction& instruction) {
  if (instruction.has(BlockInstruction::kRegionBegin)) begin_region();
  if (instruction.has(BlockInstruction::kRegionEnd) && inside_ > 0) end_region(state, thread);
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

void ProgramCapture::end_region(State& state, const ProgramThread& thread) {
  note_progress(state, thread);
  --inside_;
  choose();
}

void ProgramCapture::choose() {
  const bool recording = wanted_ && in_window_ && (!parts_.regions || inside_ > 0);
  if (parts_.tlb && recording != filter_.recording()) {
    if (recording) walked_start_ = walked();
    else walked_before_ += walked() - walked_start_;
  }
  filter_.set_recording(recording);
}

std::uint64_t ProgramCapture::walked() const {
  std::uint64_t sum = ended_walked_;
  for (const auto& state : states_) sum += state ? state->pace.walked() : 0;
  return sum;
}

std::optional<TranslationCounts> ProgramCapture::translation() const {
  if (!parts_.tlb) return std::nullopt;
  TranslationCounts counts = counts_;
  counts.cycles = walked_before_ + (filter_.recording() ? walked() - walked_start_ : 0);
  return counts;
}

ProgramCapture::State& ProgramCapture::make_state(std::uint32_t thread) {
  if (thread >= states_.size()) states_.resize(thread + 1);
  std::unique_ptr<State>& state = states_[thread];
  if (!state) {
    const PaceParams core = parts_.core.value_or(PaceParams{.window = 1, .branch_entries = 2});
    CaptureFilter::Core& own = filter_.core_of(thread);
    Tlb* tlb = nullptr;
    if (parts_.tlb) {
      std::unique_ptr<Tlb>& its = tlbs_[&own];
      if (!its) its = std::make_unique<Tlb>(*parts_.tlb, filter_.policies());
      tlb = its.get();
    }
    state = std::make_unique<State>(own, core, tlb, parts_.tlb ? parts_.tlb->walkers : 1);
  }
  return *state;
}

}  // namespace cxloom
