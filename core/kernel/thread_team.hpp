// Threads that do the same at the same time, again and again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace cxloom {

/// Threads are started when they are first needed. Between two works they spin for a while before they wait.
class ThreadTeam {
 public:
  explicit ThreadTeam(std::size_t size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Calls `work(i)` for each i below the size at once, the first in this thread; returns when all have
  /// ended. It must not throw.
  void run(const std::function<void(std::size_t)>& work);
  /// CPU time of the threads other than the one that calls `run`.
  double cpu_seconds();

 private:
  /// Whether it is worth a thread's while to spin. Others may have the processor of whom it waits for: then
  /// it would spin in vain each time, and keep a processor from them.
  struct Patience {
    unsigned in_vain = 0;  ///< times that it has spun in vain, one after the other
    unsigned pauses = 0;   ///< waits without spinning before it tries again
  };

  void start();
  void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old, Patience& patience) const;
  void live(std::size_t index);

  std::size_t size_;
  unsigned spins_;     // before it waits: none where threads have no processors of their own
  Patience patience_;  // of the thread that calls `run`
  std::vector<std::thread> threads_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  alignas(128) std::atomic<std::uint32_t> round_{0};  // of work; the threads end when `over_` is set with it
  alignas(128) std::atomic<std::uint32_t> at_work_{0};
  bool over_ = false;
};

/// The processors of the machine on which this process may run; one at least.
std::uint32_t available_processors();

}  // namespace cxloom
