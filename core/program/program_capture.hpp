// A running program on its way into a trace: regions of interest, samples, dependences, caches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "program/cached_path.hpp"
#include "program/core_pipeline.hpp"
#include "program/dependence.hpp"
#include "program/feed/program_sink.hpp"
#include "program/framed_pages.hpp"
#include "program/function_region.hpp"
#include "program/guest_uses.hpp"
#include "program/memory_origins.hpp"
#include "program/page_tables.hpp"
#include "program/process_parents.hpp"
#include "program/program_translation.hpp"
#include "program/recorded_parts.hpp"
#include "program/reported_cycles.hpp"
#include "program/retired_records.hpp"
#include "program/store_places.hpp"
#include "program/thread_branches.hpp"
#include "program/thread_translation.hpp"
#include "program/thread_waits.hpp"
#include "workload/trace/capture_filter.hpp"

namespace cxloom {

/// The parts of a program's run that are recorded. The caches fill all the time.
struct CaptureParts {
  bool regions = false;      ///< only within regions of interest
  std::uint64_t window = 0;  ///< of every `period` instructions the last so many; 0: all
  std::uint64_t period = 0;
  std::optional<CorePipelineParams> core =
      std::nullopt;  ///< records have the cycles that it takes; branches are predicted
  std::optional<TlbParams> tlb = std::nullopt;  ///< of the core; walks of the page table are accesses, too
  bool flushes = true;  ///< flushes of lines are recorded, and the fences that wait for them
};

/// Gives the filter each access of a program, with the record of the trace that it waits for.
///
/// With caches a record is the read of a line or its write-back. What a load delivers waits for the record of
/// its line, also if a neighbour of it was what missed; the read of a line waits for what its address is made
/// of. Without caches a store also waits for what it stores. An access to a page whose place is not known
/// waits for a walk of the page table, each of whose loads waits for the one before.
///
/// A flush of a line waits for what its address is made of, and for the line if it is coming. The next fence
/// or atomic operation of its thread waits for all before it; of a thread that has flushed nothing it has its
/// cycles alone.
class ProgramCapture : public ProgramSink {
 public:
  ProgramCapture(CaptureFilter& filter, const CaptureParts& parts);

  void block(const ProgramThread& thread, const ProgramBlock& block, std::span<const ProgramAccess> accesses,
             bool continued) override;
  void thread_begins(const ProgramThread& thread, const Release& by) override;
  void memory_mapped(const ProgramThread& thread, const ProgramMapping& mapping) override {
    memory_.is_mapped(thread.process, mapping);
  }
  void page_placed(const ProgramThread& thread, const TabledPage& page) override;
  void register_accessed(const ProgramThread& /*thread*/) override {
    if (filter_.recording()) ++register_accesses_;
  }
  void process_goes_on(const ProgramThread& thread, const GuestProcess& process) override {
    guest().goes_on(thread, process);
  }
  void space_mapped(const GuestMapping& mapping) override { guest().maps(mapping); }
  void thread_ends(const ProgramThread& thread) override;
  void system_call(const ProgramThread& thread, const SystemCall& call) override;
  void system_call_ends(const ProgramThread& thread, const SystemCallEnd& end) override;
  void thread_sleeps(const ProgramThread& thread) override;
  void thread_turns(const ProgramThread& thread, const Release& by) override;
  void thread_joins(const ProgramThread& thread, const Release& by) override { go_on(thread, by); }
  bool complete() const override { return filter_.complete(); }

  /// While false, nothing is recorded, whatever the parts are.
  void set_recording(bool recording) {
    recorded_.set_wanted(recording);
    choose();
  }
  /// The records since this was asked last.
  std::vector<Access> take() { return std::exchange(records_, {}); }
  /// Accesses of instructions to memory, of all threads.
  std::uint64_t loads() const { return counts_.loads; }
  std::uint64_t stores() const { return counts_.stores; }
  /// Lines that instructions flushed, whether that is recorded or not.
  std::uint64_t flushes() const { return flushes_; }
  /// What the kernel of a machine did while it was recorded; its code is in the upper half of addresses.
  struct KernelRecords {
    std::uint64_t instructions = 0;
    std::uint64_t records = 0;
  };
  /// By thread, as far as threads have begun that have some.
  const std::vector<KernelRecords>& kernel() const { return kernel_; }
  /// Cycles in which nothing waits for memory, by what records have as their process, while it was recorded.
  const std::vector<std::uint64_t>& cycles() const { return cycles_; }
  /// What processes of a machine did while it was recorded; null if none was told.
  const GuestUses* guest_uses() const { return guest_.get(); }
  /// Accesses of a machine to registers of its devices, while it was recorded. They are in no record.
  std::uint64_t register_accesses() const { return register_accesses_; }
  /// Regions of interest that have begun.
  std::uint64_t regions() const { return recorded_.regions(); }
  /// Branches that were predicted, and the wrongly predicted ones; with a core.
  std::uint64_t branches() const { return branches_; }
  std::uint64_t mispredictions() const { return mispredictions_; }
  /// The origins of the program's memory.
  const MemoryOrigins& memory() const { return memory_; }
  /// By frame, if pages get frames.
  const std::vector<FramedPage>& pages() const { return framed_.pages(); }
  /// While recording; none without a TLB.
  std::optional<TranslationCounts> translation() const;

 private:
  /// The state of a thread.
  struct State {
    State(CaptureFilter::Core& own, const CorePipelineParams& core)
        : caches(own),
          pace(core),
          branches(core.branch_entries),
          answered(core.window),
          places(core.store_buffer) {}

    CaptureFilter::Core& caches;
    DependenceTracker values;
    CorePipeline pace;
    ThreadBranches branches;
    std::optional<ThreadTranslation> translation;  // if its core has a TLB
    RetiredRecords answered;
    StorePlaces places;
    ReportedCycles told;
    ThreadWaits waits;
    FunctionRegion region;
    bool flushed = false;  // no fence has waited for its flushes
  };

  GuestUses& guest() {
    if (!guest_) guest_ = std::make_unique<GuestUses>();
    return *guest_;
  }
  void count(const ProgramThread& thread, const ProgramBlock& block, std::uint64_t instructions,
             std::uint64_t records);
  void go_on(const ProgramThread& thread, const Release& by);
  void note(const ProgramThread& thread, AccessRole role, std::uint64_t call = 0);
  void note_progress(State& state, const ProgramThread& thread);
  void begin(State& state, std::uint32_t thread, std::uint64_t instructions);
  void enter(const ProgramThread& thread, const ProgramBlock& block);
  void go_to(State& state, const ProgramThread& thread, std::uint64_t address);
  State& state_of(std::uint32_t thread) {
    if (thread < states_.size() && states_[thread]) [[likely]]
      return *states_[thread];
    return make_state(thread);
  }
  State& make_state(std::uint32_t thread);
  // Goes on from one instruction on, as far as that is simple.
  void go_on_cached(State& state, const ProgramThread& thread, const ProgramBlock& block, BlockProgress& at);
  // `begun` are the instructions that the filter was not told of yet, `walked` the cycles of what is needed
  // that are of page walks. Gives what its result is made of.
  Dependence run(State& state, const ProgramThread& thread, const BlockInstruction& instruction,
                 std::span<const ProgramAccess> accesses, std::uint64_t& begun);
  CaptureFilter::Delivery give(State& state, const ProgramThread& thread, const ProgramAccess& access,
                               AccessKind kind, Dependence needed, std::uint64_t& begun, std::uint64_t walked,
                               AccessRole role = AccessRole::kDemand);
  Dependence walk(State& state, const ProgramThread& thread, const ProgramAccess& access, Dependence needed,
                  std::uint64_t& begun);
  std::uint64_t walked() const;
  void flush(State& state, const ProgramThread& thread, const ProgramAccess& access, bool keeps,
             Dependence needed, std::uint64_t& begun, std::uint64_t walked);
  void note_fence(State& state, const ProgramThread& thread, std::uint64_t& begun);
  void store(State& state, const ProgramThread& thread, const ProgramAccess& access, Dependence needed,
             std::uint64_t& begun, std::uint64_t walked);
  void wait_for(std::uint32_t thread, Producer record, std::uint16_t cycles);
  void note_marks(State& state, const ProgramThread& thread, const BlockInstruction& instruction);
  void begin_region();
  void end_region(State& state, const ProgramThread& thread);
  void choose();

  CaptureFilter& filter_;
  CaptureParts parts_;
  RecordedParts recorded_;
  std::optional<ProgramTranslation> translation_;
  std::vector<std::unique_ptr<State>> states_;  // by thread
  LatestCalls calls_;
  std::uint64_t ended_walked_ = 0;  // cycles in which threads that have ended waited for walks
  std::vector<Access> records_;
  MemoryOrigins memory_;
  ProcessParents parents_;
  FramedPages framed_;
  PageTables tables_;  // of a machine
  std::unique_ptr<GuestUses> guest_;
  bool of_process_ = false;         // what runs is of a process of it
  std::uint16_t process_ : 12 = 0;  // which one, as records have it
  std::vector<std::uint64_t> cycles_;
  AccessCounts counts_;
  std::uint64_t flushes_ = 0;
  std::uint64_t register_accesses_ = 0;
  std::uint64_t branches_ = 0;
  std::uint64_t mispredictions_ = 0;
  std::vector<KernelRecords> kernel_;
};

}  // namespace cxloom
