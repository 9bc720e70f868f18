// The system calls of a workload that threads may wait for: which were read, when they were made, and the
// path to each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/units.hpp"
#include "device/requester/critical_path.hpp"

namespace cxloom {

/// `Thread` is whatever waits.
template <class Thread>
class CallTable {
 public:
  struct Call {
    bool made = false;
    Time at;                         // which may be later than now
    std::unique_ptr<PathUpTo> path;  // to it; none once it is long ago
    std::vector<Thread*> waiting;
  };

  /// The call of that number, not 0, was read of that core.
  void add(std::uint64_t number, std::uint32_t core) {
    if (latest_.core != core) of_another_ = latest_;
    latest_ = {core, number};
    calls_.try_emplace(number);
    in_order_.push_back(number);
    if (in_order_.size() > kCalls && calls_.at(in_order_.front()).made) {
      calls_.erase(in_order_.front());
      in_order_.pop_front();
    }
  }
  /// Null: one that is not in the workload, or long ago.
  Call* find(std::uint64_t number) {
    const auto found = number == 0 ? calls_.end() : calls_.find(number);
    return found == calls_.end() ? nullptr : &found->second;
  }
  /// Null where it is not known.
  const PathUpTo* path_to(std::uint64_t number) {
    const Call* const call = find(number);
    return call == nullptr ? nullptr : call->path.get();
  }
  /// The number of the latest call that was read of any core but this one; 0: none.
  std::uint64_t latest_but_of(std::uint32_t core) const {
    return latest_.core != core ? latest_.number : of_another_.number;
  }
  /// The call is made at that time. The paths to the latest ones are kept.
  void make(std::uint64_t number, Call& call, Time at, const PathUpTo& path) {
    call.made = true;
    call.at = at;
    call.path = std::make_unique<PathUpTo>(path);
    with_path_.push_back(number);
    if (with_path_.size() <= kPaths) return;
    if (Call* const old = find(with_path_.front())) old->path.reset();
    with_path_.pop_front();
  }

 private:
  struct Latest {
    std::uint32_t core = 0;
    std::uint64_t number = 0;
  };
  static constexpr std::size_t kCalls = std::size_t{1} << 20U;  // nobody waits for one that is further back
  static constexpr std::size_t kPaths = std::size_t{1} << 16U;  // of calls to which the path is kept

  std::unordered_map<std::uint64_t, Call> calls_;  // by number, calls of the workload that were read
  std::deque<std::uint64_t> in_order_;
  std::deque<std::uint64_t> with_path_;
  Latest latest_;      // the latest call that was read,
  Latest of_another_;  // and the latest of another core than that
};

}  // namespace cxloom
