// A running program on its way into a trace: regions of interest, samples, dependences, caches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "program/branch_predictor.hpp"
#include "program/dependence.hpp"
#include "program/memory_origins.hpp"
#include "program/pace.hpp"
#include "program/page_walks.hpp"
#include "program/program_sink.hpp"
#include "workload/capture_filter.hpp"

namespace cxloom {

/// What of a program's run is recorded. The caches fill all the time.
struct CaptureParts {
  bool regions = false;      ///< only within regions of interest
  std::uint64_t window = 0;  ///< of every `period` instructions the last so many; 0: all
  std::uint64_t period = 0;
  std::optional<PaceParams> core =
      std::nullopt;  ///< records have the cycles that it takes; branches are predicted
  std::optional<TlbParams> tlb = std::nullopt;  ///< of the core; walks of the page table are accesses, too
  bool flushes = true;  ///< flushes of lines are recorded, and the fences that wait for them
};

/// Gives the filter each access of a program, with the record of the trace that it waits for.
///
/// With caches a record is the read of a line or its write-back. What a load delivers waits for the record of its line, also if
/// a neighbour of it was what missed; the read of a line waits for what its address is made of. Without caches a
/// store also waits for what it stores. An access to a page whose place is not known waits for a walk of the page table, each of whose
/// loads waits for the one before.
///
/// A flush of a line waits for what its address is made of, and for the line if it is coming. The next fence or atomic operation of its
/// thread waits for all before it; of a thread that has flushed nothing it has its cycles alone.
class ProgramCapture : public ProgramSink {
 public:
  ProgramCapture(CaptureFilter& filter, const CaptureParts& parts);

  void block(const ProgramThread& thread, const ProgramBlock& block, std::span<const ProgramAccess> accesses,
             bool continued) override;
  void thread_begins(const ProgramThread& thread, const Release& by) override;
  void memory_mapped(const ProgramThread& thread, const ProgramMapping& mapping) override {
    memory_.is_mapped(thread.process, mapping);
  }
  void thread_ends(const ProgramThread& thread) override;
  void system_call(const ProgramThread& thread, const SystemCall& call) override;
  void system_call_ends(const ProgramThread& thread, const SystemCallEnd& end) override;
  void thread_sleeps(const ProgramThread& thread) override;
  void thread_turns(const ProgramThread& thread, const Release& by) override;
  void thread_joins(const ProgramThread& thread, const Release& by) override { go_on(thread, by); }
  bool complete() const override { return filter_.complete(); }

  /// While false, nothing is recorded, whatever the parts are.
  void set_recording(bool recording) {
    wanted_ = recording;
    choose();
  }
  /// The records since this was asked last.
  std::vector<Access> take() { return std::exchange(records_, {}); }
  /// Accesses of instructions to memory, of all threads.
  std::uint64_t loads() const { return loads_; }
  std::uint64_t stores() const { return stores_; }
  /// Lines that instructions flushed, whether that is recorded or not.
  std::uint64_t flushes() const { return flushes_; }
  /// Regions of interest that have begun.
  std::uint64_t regions() const { return regions_; }
  /// Branches that were predicted, and those of them that were predicted wrongly; with a core.
  std::uint64_t branches() const { return branches_; }
  std::uint64_t mispredictions() const { return mispredictions_; }
  /// What the program's memory is for.
  const MemoryOrigins& memory() const { return memory_; }
  /// A page that got a frame.
  struct Page {
    std::uint64_t address = 0;  ///< its first, in its process, whose number is in the upper 16 bits
    std::uint32_t origin = 0;   ///< of those of the memory
  };
  /// By frame, if pages get frames.
  const std::vector<Page>& pages() const { return framed_; }
  /// While recording; none without a TLB.
  std::optional<TranslationCounts> translation() const;

 private:
  /// The branch at the end of a block, of which it is not known yet where it went.
  struct Branch {
    enum Kind : std::uint8_t { kNone, kConditional, kIndirect, kReturn };

    Kind kind = kNone;
    std::uint64_t address = 0;
    std::uint64_t behind = 0;  // the instruction after it in memory
    Dependence needs;          // its condition, or where it goes
  };
  /// A thread that has nothing else to tell tells after so many cycles how far it has come.
  static constexpr std::uint64_t kSilence = 16384;
  /// What goes on in a thread.
  struct State {
    State(CaptureFilter::Core& own, const PaceParams& core, Tlb* its_tlb, std::uint32_t its_walkers)
        : caches(own), pace(core), predictor(core.branch_entries), tlb(its_tlb), walkers(its_walkers) {}

    CaptureFilter::Core& caches;
    DependenceTracker values;
    Pace pace;
    BranchPredictor predictor;
    Branch branch;
    Tlb* tlb;  // of its core; or none
    PageWalkers walkers;
    PlacesUnderWay places;
    std::uint64_t call = 0;           // that it is in, if it may wait there
    bool asleep = false;              // there, as far as was told
    std::uint64_t behind = 0;         // the call behind which it was said to go on from there
    std::uint64_t told = 0;           // cycle up to which the filter was told
    std::uint64_t instructions = 0;   // in all
    std::uint64_t recorded = 0;       // of these, up to its last record
    Producer answered = 0;            // records up to this one are further back than the window
    Producer marked = 0;              // the next of which that will be known
    std::uint64_t marked_at = 0;      // instructions up to it
    std::uint64_t silent = kSilence;  // it tells how far it has come when it reaches this cycle
    bool flushed = false;             // no fence has waited for its flushes
    std::uint64_t depth = 0;  // of calls within the function that is the region of interest; 0: not in it
  };

  void go_on(const ProgramThread& thread, const Release& by);
  void note(const ProgramThread& thread, AccessRole role, std::uint64_t call = 0);
  void note_progress(State& state, const ProgramThread& thread);
  void begin(State& state, std::uint32_t thread, std::uint64_t instructions);
  void go_to(State& state, const ProgramThread& thread, std::uint64_t address);
  static void note_branch(State& state, const ProgramBlock& block, const Dependence& needs, bool reads);
  State& state_of(std::uint32_t thread) {
    if (thread < states_.size() && states_[thread]) [[likely]]
      return *states_[thread];
    return make_state(thread);
  }
  State& make_state(std::uint32_t thread);
  // `begun` are the instructions that the filter was not told of yet, `walked` the cycles of what is needed that are of page walks. Gives
  // what its result is made of.
  Dependence run(State& state, const ProgramThread& thread, const BlockInstruction& instruction,
                 std::span<const ProgramAccess> accesses, std::uint64_t& begun);
  CaptureFilter::Delivery give(State& state, const ProgramThread& thread, const ProgramAccess& access,
                               AccessKind kind, const Dependence& needed, std::uint64_t& begun,
                               std::uint64_t walked, AccessRole role = AccessRole::kDemand);
  Dependence walk(State& state, const ProgramThread& thread, const ProgramAccess& access,
                  const Dependence& needed, std::uint64_t& begun);
  Dependence wait_for_walks(State& state, const ProgramThread& thread, const ProgramAccess& access,
                            const Dependence& needed);
  Dependence walk_page(State& state, const ProgramThread& thread, std::uint64_t address,
                       const Dependence& needed, std::uint64_t& begun);
  Producer answered(State& state) const;
  std::uint64_t walked() const;
  void flush(State& state, const ProgramThread& thread, const ProgramAccess& access, bool keeps,
             const Dependence& needed, std::uint64_t& begun, std::uint64_t walked);
  void note_fence(State& state, const ProgramThread& thread, std::uint64_t& begun);
  void note_marks(State& state, const ProgramThread& thread, const BlockInstruction& instruction);
  void begin_region();
  void end_region(State& state, const ProgramThread& thread);
  void choose();

  void note_call(State& state, const ProgramThread& thread, const SystemCall& call);
  void note_frames(const ProgramThread& thread, const ProgramAccess& access, AccessRole role);

  CaptureFilter& filter_;
  CaptureParts parts_;
  std::vector<std::unique_ptr<State>> states_;  // by thread
  Release latest_call_;                         // of all
  Release call_of_another_;                     // the latest one of another thread than that
  std::unordered_map<const CaptureFilter::Core*, std::unique_ptr<Tlb>> tlbs_;
  TranslationCounts counts_;         // while recording, cycles aside
  std::uint64_t ended_walked_ = 0;   // cycles of threads that have ended
  std::uint64_t walked_before_ = 0;  // recorded
  std::uint64_t walked_start_ = 0;   // of this time of recording
  std::vector<Access> records_;
  MemoryOrigins memory_;
  std::vector<Page> framed_;
  struct Caller {
    std::uint32_t process = 0;
    std::uint32_t number = 0;  // of its latest call
  };
  std::vector<Caller> callers_;  // by thread
  std::uint32_t processes_ = 0;
  std::uint64_t loads_ = 0;
  std::uint64_t stores_ = 0;
  std::uint64_t flushes_ = 0;
  std::uint64_t regions_ = 0;
  std::uint64_t branches_ = 0;
  std::uint64_t mispredictions_ = 0;
  std::uint64_t inside_ = 0;  // regions of all threads that have begun and not ended
  std::uint64_t change_ = 0;  // number of instructions in all at which a window of the sample begins or ends
  bool in_window_ = true;
  bool wanted_ = true;
};

}  // namespace cxloom
