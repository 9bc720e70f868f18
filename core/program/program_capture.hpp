// A running program on its way into a trace: regions of interest, samples, dependences, caches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "program/dependence.hpp"
#include "program/pace.hpp"
#include "program/program_sink.hpp"
#include "workload/capture_filter.hpp"

namespace cxloom {

/// What of a program's run is recorded. The caches fill all the time.
struct CaptureParts {
  bool regions = false;      ///< only within regions of interest
  std::uint64_t window = 0;  ///< of every `period` instructions the last so many; 0: all
  std::uint64_t period = 0;
  std::optional<PaceParams> core = std::nullopt;  ///< records have the cycles that it takes
};

/// Gives the filter each access of a program, with the record of the trace that it waits for.
///
/// With caches a record is the read of a line or its write-back. What a load delivers waits for the record of its line, also if
/// a neighbour of it was what missed; the read of a line waits for what its address is made of. Without caches a
/// store also waits for what it stores.
class ProgramCapture : public ProgramSink {
 public:
  ProgramCapture(CaptureFilter& filter, const CaptureParts& parts);

  void block(const ProgramThread& thread, const ProgramBlock& block, std::span<const ProgramAccess> accesses,
             bool continued) override;
  void thread_begins(const ProgramThread& thread, const Release& by) override { go_on(thread, by); }
  void system_call(const ProgramThread& thread, const SystemCall& call) override;
  void system_call_ends(const ProgramThread& thread, const SystemCallEnd& end) override {
    go_on(thread, end.by);
  }
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
  /// Regions of interest that have begun.
  std::uint64_t regions() const { return regions_; }

 private:
  /// What goes on in a thread.
  struct State {
    explicit State(const PaceParams& core) : pace(core) {}

    DependenceTracker values;
    Pace pace;
    std::uint64_t told = 0;   // cycle up to which the filter was told
    std::uint64_t depth = 0;  // of calls within the function that is the region of interest; 0: not in it
  };

  void go_on(const ProgramThread& thread, const Release& by);
  void note(const ProgramThread& thread, AccessRole role, std::uint64_t call);
  void begin(State& state, std::uint32_t thread, std::uint64_t instructions);
  static void execute(Pace& pace, const BlockInstruction& instruction,
                      std::span<const ProgramAccess> accesses);
  State& state_of(std::uint32_t thread) {
    if (thread < states_.size() && states_[thread]) [[likely]]
      return *states_[thread];
    return make_state(thread);
  }
  State& make_state(std::uint32_t thread);
  // `begun` are the instructions that the filter was not told of yet.
  void run(State& state, const ProgramThread& thread, const BlockInstruction& instruction,
           std::span<const ProgramAccess> accesses, std::uint64_t& begun);
  Producer give(State& state, const ProgramThread& thread, const ProgramAccess& access, AccessKind kind,
                const Dependence& needed, std::uint64_t& begun);
  void note_marks(State& state, const BlockInstruction& instruction);
  void begin_region();
  void end_region();
  void choose();

  CaptureFilter& filter_;
  CaptureParts parts_;
  std::vector<std::unique_ptr<State>> states_;  // by thread
  std::vector<Access> records_;
  std::uint64_t loads_ = 0;
  std::uint64_t stores_ = 0;
  std::uint64_t regions_ = 0;
  std::uint64_t inside_ = 0;  // regions of all threads that have begun and not ended
  std::uint64_t change_ = 0;  // number of instructions in all at which a window of the sample begins or ends
  bool in_window_ = true;
  bool wanted_ = true;
};

}  // namespace cxloom
