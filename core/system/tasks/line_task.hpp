// A kernel, or a copy between objects, as the lines that its threads access.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "system/tasks/activity.hpp"
#include "system/tasks/task_graph.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// How a host makes its accesses.
struct LineTaskHost {
  std::string lane = {};     ///< its name: hosts of other queues and links have other rates
  std::uint32_t lag = 0;     ///< reads of a copy that are made before the first is written, of a thread
  double cycles_per_ps = 0;  ///< of a core; 0: there are none, and time says when an access may be made
};

class LineTask final : public Activity {
 public:
  /// All outlive it. `random` is what lines are drawn from.
  LineTask(const Task& task, const TaskObjects& objects, const LineTaskHost& host, RandomStream& random,
           Time start);

  std::uint32_t threads() const { return static_cast<std::uint32_t>(threads_.size()); }
  /// A thread has no more accesses.
  bool made(std::uint32_t thread) const;
  /// When the next access of a thread may be made.
  Time due(std::uint32_t thread) const;
  /// Gives it, as record `number` of its stream; without its number of thread.
  void next(std::uint32_t thread, std::uint64_t number, Access& access);
  /// One was answered; `counts` is what `next` has left in `counted`.
  void answered(bool counts, Time now);
  /// Whether the access given last is one of those that progress is counted by.
  bool counted() const { return counted_; }
  /// Accesses that are still to be made, at least.
  std::uint64_t accesses_left() const;
  bool over() const { return threads_made_ == threads_.size() && unanswered_ == 0; }

  ActivityProgress progress() override { return progress_.asked(); }
  std::uint64_t ahead() const override;
  std::uint64_t skip(std::uint64_t lines, Time time) override;
  std::string sort() const override;
  std::uint64_t turn() const override;
  /// Until a task that is behind its pace has caught up.
  Time steady_for(double rate) const override;

 private:
  struct Part {
    const PlacedObject* object;
    std::uint64_t offset;
    std::uint64_t lines;  // of all threads
    std::uint64_t room;   // lines from the offset to the end of the object
    bool writes;
  };
  struct Thread {
    std::vector<std::uint64_t> first;  // line of each part
    std::vector<std::uint64_t> lines;
    std::vector<std::uint64_t> done;
    std::uint64_t total = 0;
    std::uint64_t made = 0;  // accesses, or lines of a copy that are read
    Time skipped = {};       // that lines took which were not made
    /// What a copy has read and not written yet: the record, and the line.
    std::deque<std::pair<std::uint64_t, std::uint64_t>> read = {};
  };

  std::size_t next_part(const Thread& thread) const;
  Address address(const Part& part, std::uint64_t line) const;
  void pace(const Thread& thread, Access& access) const;
  void note_made(const Thread& thread);
  std::uint64_t even_lines(const Thread& thread) const;
  /// How far it is behind its pace; zero: it is not.
  Time behind() const;
  /// How long so many lines take at its pace.
  Time take(const Thread& thread, std::uint64_t lines) const;
  std::uint64_t line_at(const Thread& thread, std::size_t part) const;
  std::uint64_t phase(const Thread& thread, std::size_t part) const;

  const Task& task_;
  LineTaskHost host_;
  RandomStream& random_;
  Time start_;
  bool copies_;
  std::vector<Part> parts_;
  std::vector<Thread> threads_;
  std::uint64_t unanswered_ = 0;
  std::size_t threads_made_ = 0;
  bool counted_ = false;
  ActivityProgress progress_;
};

}  // namespace cxloom
