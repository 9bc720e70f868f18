// Threads of a pattern: each has a stream of its own, and a core makes its accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "workload/stream/access_stream.hpp"
#include "workload/stream/latest_accesses.hpp"

namespace cxloom {

/// The streams of several threads as one: each thread in its turn, or the one that is wanted.
class ThreadedStream final : public AccessStream {
 public:
  explicit ThreadedStream(std::vector<std::unique_ptr<AccessStream>> streams) {
    for (auto& stream : streams) threads_.push_back({.stream = std::move(stream), .latest = {}});
  }

  void want(std::uint32_t thread) override { wanted_ = thread; }

  bool next(Access& access) override {
    const std::size_t chosen = wanted_ ? *std::exchange(wanted_, std::nullopt) : turn_;
    if (chosen == turn_) turn_ = (turn_ + 1) % threads_.size();
    Thread& thread = threads_[chosen];
    if (!thread.stream->next(access)) return false;
    access.thread = static_cast<std::uint32_t>(chosen);
    access.dependence = thread.latest.among_all(access.dependence, number_);
    thread.latest.add(number_++);
    return true;
  }
  /// It ends with the first of them.
  std::uint64_t left_at_least() const override {
    std::uint64_t least = kEndless;
    for (const Thread& thread : threads_) least = std::min(least, thread.stream->left_at_least());
    return least;
  }
  std::uint64_t per_access() const override { return threads_.front().stream->per_access(); }

 private:
  struct Thread {
    std::unique_ptr<AccessStream> stream;
    LatestAccesses latest;
  };

  std::vector<Thread> threads_;
  std::size_t turn_ = 0;
  std::optional<std::uint32_t> wanted_;
  std::uint64_t number_ = 0;
};

}  // namespace cxloom
