// The accesses of a host's kernels and copies: those of its sets of threads in turns, while they have a task.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "system/tasks/line_task.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

class Kernel;
class Requester;

/// Is told of tasks of lanes that end.
class LaneObserver {
 public:
  virtual void lane_done(std::uint32_t lane, bool failed) = 0;

 protected:
  ~LaneObserver() = default;
};

class TaskStream final : public AccessStream, public EventHandler {
 public:
  TaskStream(Kernel& kernel, Requester& requester, LaneObserver& observer, bool cores);

  /// A set of threads of this host; its threads are numbered behind those of the sets before it.
  void add_lane(std::uint32_t lane, std::uint32_t threads);
  /// A lane begins a task, which lives until it is done.
  void begin(std::uint32_t lane, LineTask& task);
  /// There will be no more tasks.
  void close() { open_ = false; }
  /// Accesses that are made at least before a task ends; ~0: there is none now.
  std::uint64_t accesses_left() const;

  bool next(Access& access) override;
  void want(std::uint32_t thread) override { wanted_ = thread; }
  bool open() const override { return open_; }
  bool may_store_past() const override { return false; }
  bool wants_answers() const override { return true; }
  void answered(std::uint64_t number, const Request& request, Time now) override;

  std::string name() const override { return "tasks"; }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  struct Lane {
    std::uint32_t number;
    std::uint32_t first_thread;
    LineTask* task = nullptr;
    bool failed = false;
    bool told = false;
  };
  /// A thread with accesses to make.
  struct Running {
    std::size_t lane;
    std::uint32_t thread;  // of its task
    bool made = false;     // it has none left, and its core is to know
  };
  struct Given {
    std::size_t lane = 0;
    bool counts = false;
    bool answered = false;
  };

  bool give(std::size_t place, Access& access);
  void wake_when_due(Time due);

  Kernel& kernel_;
  Requester& requester_;
  LaneObserver& observer_;
  bool cores_;
  EventSource source_;
  std::vector<Lane> lanes_;
  std::uint32_t threads_ = 0;
  std::vector<Running> running_;
  std::size_t turn_ = 0;
  std::optional<std::uint32_t> wanted_;
  std::deque<Given> given_;
  std::uint64_t first_given_ = 0;
  std::uint64_t count_ = 0;
  bool open_ = true;
  Time armed_ = Time::max();
};

}  // namespace cxloom
