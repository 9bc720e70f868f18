// Phases of a workload: streams that follow each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// A round of phases, over and over.
class PhasedStream final : public AccessStream {
 public:
  struct Phase {
    std::unique_ptr<AccessStream> stream;
    std::uint64_t requests = 1;  ///< accesses that it gives
  };

  explicit PhasedStream(std::vector<Phase> phases) : phases_(std::move(phases)) {}

  bool next(Access& access) override {
    if (done_ == phases_[at_].requests) {
      done_ = 0;
      at_ = (at_ + 1) % phases_.size();
    }
    ++done_;
    return phases_[at_].stream->next(access);
  }
  /// It ends with the first of them.
  std::uint64_t left_at_least() const override {
    std::uint64_t least = kEndless;
    for (const Phase& phase : phases_) least = std::min(least, phase.stream->left_at_least());
    return least;
  }
  bool may_store_past() const override {
    return std::ranges::any_of(phases_, [](const Phase& each) { return each.stream->may_store_past(); });
  }
  std::uint64_t per_access() const override {
    std::uint64_t most = 1;
    for (const Phase& phase : phases_) most = std::max(most, phase.stream->per_access());
    return most;
  }

 private:
  std::vector<Phase> phases_;
  std::size_t at_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace cxloom
