#include "program/program_capture.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

namespace {

/// Cycles that a record waits from what it needs on. If that is no record, those of page walks are all that
/// is known.
inline std::uint16_t cycles_behind(Dependence needed, std::uint64_t walked) {
  return needed.producer() != 0 ? needed.cycles()
                                : static_cast<std::uint16_t>(std::min(walked, Dependence::kMostCycles));
}

bool is_of_kernel(const ProgramBlock& block) { return block.address >> 63U != 0; }

}  // namespace

ProgramCapture::ProgramCapture(CaptureFilter& filter, const CaptureParts& parts)
    : filter_(filter),
      parts_(parts),
      recorded_(parts.regions, parts.window, parts.period),
      framed_(parts.tlb && parts.tlb->huge()) {
  ensure(parts.core || !parts.tlb, "a TLB without a core");
  if (parts.tlb) translation_.emplace(*parts.tlb, filter.policies());
  // A level that the core does not tell of is as far as the last one.
  if (parts_.core) {
    std::vector<std::uint32_t>& cycles = parts_.core->load_cycles;
    cycles.resize(std::max<std::size_t>(filter.levels(), 1), cycles.back());
  }
  choose();
}

inline CaptureFilter::Delivery ProgramCapture::give(State& state, const ProgramThread& thread,
                                                    const ProgramAccess& access, AccessKind kind,
                                                    Dependence needed, std::uint64_t& begun,
                                                    std::uint64_t walked, AccessRole role) {
  CaptureFilter::Delivery found;
  const Address address{place_of(thread, access)};
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
  whole.process = process_;
  const std::size_t before = records_.size();
  found = filter_.access(state.caches, whole, needed.producer(), records_);
  if (of_process_) guest_->accessed(thread, access, role, std::span(records_).subspan(before));
  if (filter_.pages() != framed_.count()) [[unlikely]]
    framed_.note(thread, access, role == AccessRole::kPageWalk, filter_.pages(), memory_);
  if (found.level == filter_.levels()) {
    if (state.translation) state.answered.add(found.record);
    else state.answered.add();
    state.told.record(state.pace.now());
  } else if (found.recorded) {  // a line that was asked for ahead
    state.answered.add();
    state.told.record(state.pace.now());
  }
  if (found.level < filter_.levels() && kind == AccessKind::kRead && found.level > 0) {
    filter_.arrives(state.caches, address, needed.known + state.pace.load_cycles(found.level));
  }
  return found;
}

void ProgramCapture::flush(State& state, const ProgramThread& thread, const ProgramAccess& access, bool keeps,
                           Dependence needed, std::uint64_t& begun, std::uint64_t walked) {
  ++flushes_;
  if (!parts_.flushes || filter_.complete()) return;
  state.flushed = true;
  begin(state, thread.number, std::exchange(begun, 0));
  Access whole;
  whole.address = Address{place_of(thread, access)};
  whole.thread = thread.number;
  whole.keeps = keeps;
  whole.process = process_;
  whole.dependence_cycles = cycles_behind(needed, walked);
  const std::size_t before = records_.size();
  filter_.flush(state.caches, whole, needed.producer(), records_);
  if (of_process_) guest_->accessed(thread, access, AccessRole::kDemand, std::span(records_).subspan(before));
  state.answered.add();
  state.told.record(state.pace.now());
}

// A fence is no access: accesses behind it may hit the caches, and wait as well.
void ProgramCapture::note_fence(State& state, const ProgramThread& thread, std::uint64_t& begun) {
  state.flushed = false;
  if (filter_.complete()) return;
  begin(state, thread.number, std::exchange(begun, 0));
  Access record;
  record.thread = thread.number;
  record.role = AccessRole::kProgress;
  record.dependence = kAllBefore;
  filter_.note(record, 0, records_);
  state.told.record(state.pace.now());
}

inline void ProgramCapture::store(State& state, const ProgramThread& thread, const ProgramAccess& access,
                                  Dependence needed, std::uint64_t& begun, std::uint64_t walked) {
  ++counts_.stores;
  if (const Producer earlier = state.places.enter(); earlier != 0) [[unlikely]] {
    begin(state, thread.number, std::exchange(begun, 0));
    wait_for(thread.number, earlier, 0);
  }
  const CaptureFilter::Delivery found =
      give(state, thread, access, AccessKind::kWrite, needed, begun, walked);
  // Without caches all stores are records, and the core counts them itself.
  const bool comes = filter_.levels() > 0 && (found.level == filter_.levels() || found.recorded);
  if (parts_.core && comes && found.record != 0) [[unlikely]]
    state.places.waits_for(found.record);
}

inline void ProgramCapture::go_on_cached(State& state, const ProgramThread& thread, const ProgramBlock& block,
                                         BlockProgress& at) {
  // Flushes are waited for, and walks counted, instruction by instruction.
  if (state.flushed || state.pace.has_walks()) return;
  CachedPath path(filter_, state.caches, state.values, state.places,
                  state.translation ? &*state.translation : nullptr, counts_);
  at = parts_.core ? path.go_on<true>(thread, block, state.pace, at)
                   : path.go_on<false>(thread, block, state.pace, at);
}

inline Dependence ProgramCapture::run(State& state, const ProgramThread& thread,
                                      const BlockInstruction& instruction,
                                      std::span<const ProgramAccess> accesses, std::uint64_t& begun) {
  DependenceTracker& values = state.values;
  CorePipeline& pace = state.pace;
  Dependence result = values.of(instruction.data_reads).not_before(pace.now());
  Dependence address;
  if (!accesses.empty() || instruction.pointer_writes != 0)
    address = values.of(instruction.address_reads).not_before(pace.now());
  std::uint64_t walked = 0;  // cycles from the address to the places of all pages
  for (const ProgramAccess& access : accesses) {
    Dependence placed = address;
    if (state.translation) {
      const std::uint64_t place = among_all(thread, access.address);
      if (!state.translation->has(place, access.size)) [[unlikely]]
        placed = walk(state, thread, access, address, begun);
      else if (state.translation->any_under_way()) [[unlikely]]
        placed = state.translation->wait(place, access.size, address, state.answered.up_to(), pace.now());
      walked = std::max(walked, placed.known - address.known);
    }
    if (instruction.has(BlockInstruction::kFlush)) [[unlikely]] {
      flush(state, thread, access, instruction.has(BlockInstruction::kFlushKeeping), placed, begun,
            placed.known - address.known);
      continue;
    }
    if (access.reads) {
      ++counts_.loads;
      const CaptureFilter::Delivery found =
          give(state, thread, access, AccessKind::kRead, placed, begun, placed.known - address.known);
      result = loaded(result, placed, access, found, pace, values);
    }
    if (access.writes) {
      store(state, thread, access, filter_.levels() == 0 ? later(placed, result) : placed, begun,
            placed.known - address.known);
      values.store(access.address, access.size, result);
    }
  }
  // A value that is only read from memory is there with the data.
  const bool reads = !accesses.empty() && accesses.front().reads;
  const bool computes = !reads || instruction.kind != InstructionClass::kMove;
  const Dependence done = result.after(computes ? kLatencies[static_cast<std::size_t>(instruction.kind)] : 0);
  values.set(instruction.data_writes, done);
  if (instruction.pointer_writes != 0) values.set(instruction.pointer_writes, address.after(1));
  if (parts_.core) pace.retire(std::max(done.known, address.known + walked), walked);
  return result;
}

/// The dependence of an access that has its address, and not the place of one of its pages.
Dependence ProgramCapture::walk(State& state, const ProgramThread& thread, const ProgramAccess& access,
                                Dependence needed, std::uint64_t& begun) {
  const auto read = [&](std::uint64_t address, const Dependence& known, std::uint64_t walked) {
    ProgramAccess entry{.address = address, .size = 8, .reads = true};
    if (access.place != ProgramAccess::kByAddress && !tables_.find(address, entry.place))
      return ThreadTranslation::TableRead{};  // a large page: its tables have fewer levels
    const CaptureFilter::Delivery found =
        give(state, thread, entry, AccessKind::kRead, known, begun, walked, AccessRole::kPageWalk);
    return ThreadTranslation::TableRead{found.record, load_cycles(state.pace, found, known.known)};
  };
  return state.translation->bring(among_all(thread, access.address), access.size, needed, state.answered,
                                  state.pace.now(), read);
}

void ProgramCapture::page_placed(const ProgramThread& /*thread*/, const TabledPage& page) {
  if (translation_) tables_.note(page);
}

void ProgramCapture::block(const ProgramThread& thread, const ProgramBlock& block,
                           std::span<const ProgramAccess> accesses, bool continued) {
  if (filter_.complete()) return;
  State& state = state_of(thread.number);
  enter(thread, block);
  if (state.branches.under_way()) go_to(state, thread, block.address);
  std::uint64_t begun =
      continued ? ~std::uint64_t{0} : 0;  // instructions since those that the filter was told
  const std::uint64_t records = filter_.records();
  BlockProgress at{.next = accesses.data(), .end = accesses.data() + accesses.size()};
  const std::size_t size = block.instructions.size();
  for (; at.number < size; ++at.number) {
    const std::size_t before = at.number;
    go_on_cached(state, thread, block, at);
    begun += at.number - before;
    state.answered.begin_instructions(at.number - before);
    if (at.number == size) break;
    const BlockInstruction& instruction = block.instructions[at.number];
    ++begun;
    state.answered.begin_instructions();
    const ProgramAccess* const first = at.next;
    while (at.next != at.end && at.next->instruction == at.number) ++at.next;
    if (parts_.core) state.pace.dispatch();
    if (block.marks) [[unlikely]] {
      // The first instruction of a function is of it, that of a mark is not.
      const std::uint64_t within = begun > 0 && instruction.has(BlockInstruction::kRegionEntry) ? 1 : 0;
      begin(state, thread.number, begun - within);
      begun = within;
      note_marks(state, thread, instruction);
    }
    if (state.flushed && instruction.has(BlockInstruction::kOrdersFlushes | BlockInstruction::kAtomic))
        [[unlikely]]
      note_fence(state, thread, begun);
    at.needs = run(state, thread, instruction, {first, at.next}, begun);
    at.reads = first != at.next && first->reads;
  }
  begin(state, thread.number, begun);
  if (filter_.recording()) count(thread, block, size - (continued ? 1 : 0), filter_.records() - records);
  if (parts_.core) {
    state.branches.end(block, at.needs, at.reads);
    if (state.told.is_silent(state.pace.now())) [[unlikely]]
      note_progress(state, thread);
  }
  if (state.region.inside() && state.region.leave(block.instructions.back().kind)) end_region(state, thread);
  if (recorded_.reach(filter_.instructions_in_all())) [[unlikely]]
    choose();
}

inline void ProgramCapture::count(const ProgramThread& thread, const ProgramBlock& block,
                                  std::uint64_t instructions, std::uint64_t records) {
  if (of_process_) guest_->ran(thread, instructions, records);
  if (!is_of_kernel(block)) return;
  if (thread.number >= kernel_.size()) kernel_.resize(thread.number + 1);
  KernelRecords& kernel = kernel_[thread.number];
  kernel.instructions += instructions;
  kernel.records += records;
}

void ProgramCapture::begin(State& state, std::uint32_t thread, std::uint64_t instructions) {
  const std::uint64_t cycles = state.told.pass(state.pace.now());
  filter_.begin_instructions(thread, instructions, cycles);
  if (!filter_.recording()) return;
  if (process_ >= cycles_.size()) [[unlikely]]
    cycles_.resize(process_ + std::size_t{1});
  cycles_[process_] += cycles;
}

inline void ProgramCapture::enter(const ProgramThread& thread, const ProgramBlock& block) {
  const bool of_kernel = is_of_kernel(block);
  of_process_ = guest_ && !of_kernel;
  const std::uint16_t process = of_kernel ? kKernelProcess : of_process_ ? guest_->number_of(thread) : 0;
  process_ = process & kLastProcess;
}

// What follows a wrong prediction comes into the window when the branch is executed, and what was fetched
// behind it is thrown away.
void ProgramCapture::go_to(State& state, const ProgramThread& thread, std::uint64_t address) {
  ++branches_;
  if (state.branches.go_to(address)) [[likely]]
    return;
  ++mispredictions_;
  const Dependence resolved = state.branches.needs().after(parts_.core->branch_penalty);
  state.pace.wait_until(resolved.known);
  if (resolved.producer() == 0 || state.answered.all()) return;
  begin(state, thread.number, 0);
  wait_for(thread.number, resolved.producer(), resolved.cycles());
}

// What follows in the thread comes into the window so many cycles after that record is answered.
void ProgramCapture::wait_for(std::uint32_t thread, Producer record, std::uint16_t cycles) {
  Access wait;
  wait.thread = thread;
  wait.role = AccessRole::kBranch;
  wait.process = process_;
  wait.dependence_cycles = cycles;
  filter_.note(wait, record, records_);
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

// Notes matter only where threads have cores: there threads wait for each other.
void ProgramCapture::note(const ProgramThread& thread, AccessRole role, std::uint64_t call) {
  if (!parts_.core || filter_.complete()) return;
  Access record;
  record.address = Address{call};
  record.thread = thread.number;
  record.role = role;
  filter_.note(record, 0, records_);
}

void ProgramCapture::note_progress(State& state, const ProgramThread& thread) {
  state.told.record(state.pace.now());
  note(thread, AccessRole::kProgress);
}

void ProgramCapture::thread_begins(const ProgramThread& thread, const Release& by) {
  if (parents_.is_first(thread)) memory_.begins(thread.process, parents_.parent_of(thread, by));
  go_on(thread, by);
}

void ProgramCapture::system_call(const ProgramThread& thread, const SystemCall& call) {
  note(thread, AccessRole::kCall, call.order);
  if (!parts_.core) return;
  State& state = state_of(thread.number);
  std::array<std::uint64_t, MemoryOrigins::kCallers> callers;
  state.branches.callers(callers);
  memory_.calls(thread, call, callers);
  parents_.call(thread, call.number);
  calls_.add(thread.number, call);
  state.waits.call(call);
}

void ProgramCapture::thread_sleeps(const ProgramThread& thread) {
  if (!parts_.core) return;
  state_of(thread.number).waits.sleep();
  note(thread, AccessRole::kWait);
}

void ProgramCapture::thread_turns(const ProgramThread& thread, const Release& by) {
  if (!parts_.core) return;
  state_of(thread.number).waits.turn(by);
  go_on(thread, by);
}

void ProgramCapture::system_call_ends(const ProgramThread& thread, const SystemCallEnd& end) {
  memory_.ends(thread, end);
  if (!parts_.core) return;
  State& state = state_of(thread.number);
  const ThreadWaits::Back back = state.waits.end(thread.number, end, calls_);
  if (back.comes_by) note_progress(state, thread);
  go_on(thread, back.behind);
}

void ProgramCapture::go_on(const ProgramThread& thread, const Release& by) {
  if (by.thread != 0) note(thread, AccessRole::kGoOn, by.order);
}

void ProgramCapture::note_marks(State& state, const ProgramThread& thread,
                                const BlockInstruction& instruction) {
  if (instruction.has(BlockInstruction::kRegionBegin)) begin_region();
  if (instruction.has(BlockInstruction::kRegionEnd) && recorded_.in_region()) end_region(state, thread);
  if (instruction.has(BlockInstruction::kRegionEntry) && state.region.enter()) begin_region();
}

void ProgramCapture::begin_region() {
  recorded_.begin_region();
  choose();
}

void ProgramCapture::end_region(State& state, const ProgramThread& thread) {
  note_progress(state, thread);
  recorded_.end_region();
  choose();
}

void ProgramCapture::choose() {
  const bool recording = recorded_.recording();
  if (translation_) translation_->set_recording(recording, walked());
  filter_.set_recording(recording);
}

std::uint64_t ProgramCapture::walked() const {
  std::uint64_t sum = ended_walked_;
  for (const auto& state : states_) sum += state ? state->pace.walked() : 0;
  return sum;
}

std::optional<TranslationCounts> ProgramCapture::translation() const {
  if (!translation_) return std::nullopt;
  return translation_->recorded(walked());
}

ProgramCapture::State& ProgramCapture::make_state(std::uint32_t thread) {
  if (thread >= states_.size()) states_.resize(thread + 1);
  std::unique_ptr<State>& state = states_[thread];
  if (!state) {
    CaptureFilter::Core& core = filter_.core_of(thread);
    state = std::make_unique<State>(
        core, parts_.core.value_or(CorePipelineParams{.window = 1, .branch_entries = 2}));
    if (translation_) state->translation.emplace(*translation_, &core);
  }
  return *state;
}

}  // namespace cxloom
