// Threads of a pattern: each has a stream of its own, and a core makes its accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// The streams of several threads as one: each thread in its turn, or the one that is wanted.
class ThreadedStream final : public AccessStream {
 public:
  /// Dependences within a thread that reach further back are long answered: no core holds so many accesses.
  static constexpr std::size_t kReach = std::size_t{1} << 16U;

  explicit ThreadedStream(std::vector<std::unique_ptr<AccessStream>> streams) {
    for (auto& stream : streams) threads_.push_back({.stream = std::move(stream), .numbers = {}});
  }

  void want(std::uint32_t thread) override { wanted_ = thread; }

  bool next(Access& access) override {
    const std::size_t chosen = wanted_ ? *std::exchange(wanted_, std::nullopt) : turn_;
    if (chosen == turn_) turn_ = (turn_ + 1) % threads_.size();
    Thread& thread = threads_[chosen];
    if (!thread.stream->next(access)) return false;
    access.thread = static_cast<std::uint32_t>(chosen);
    // A stream counts places among the accesses of its thread; here they are among those of all.
    if (access.dependence != kAllBefore && access.dependence != 0) {
      const std::size_t back = access.dependence;
      access.dependence =
          back > thread.numbers.size()
              ? 0
              : static_cast<std::uint32_t>(number_ - thread.numbers[thread.numbers.size() - back]);
    }
    thread.numbers.push_back(number_++);
    if (thread.numbers.size() > kReach) thread.numbers.pop_front();
    return true;
  }

 private:
  struct Thread {
    std::unique_ptr<AccessStream> stream;
    std::deque<std::uint64_t> numbers;  // of its latest accesses, among those of all threads
  };

  std::vector<Thread> threads_;
  std::size_t turn_ = 0;
  std::optional<std::uint32_t> wanted_;
  std::uint64_t number_ = 0;
};

}  // namespace cxloom
