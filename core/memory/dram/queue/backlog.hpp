// Bursts of one direction that wait for room in the queue, in a list for each requester. Admits the oldest
// burst of the requester with the fewest entries in the queue, so that one requester cannot fill it.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/dram/queue/queue.hpp"

namespace cxloom {

/// A burst on its way into its queue.
struct DramArrival {
  DramBurst burst;
  Clock ready = 0;
  std::uint64_t order = 0;  ///< of arrival
  Clock rest = 0;           ///< it takes at least so long from `ready` on
};

class DramBacklog {
 public:
  /// The queue has so many places for this direction.
  explicit DramBacklog(std::uint32_t places) : levels_(places + std::size_t{1}) {}

  bool empty() const { return waiting_ == 0; }
  void push(const DramArrival& arrival);
  /// The next burst to be admitted, which counts as queued at once. Among requesters with equally few entries
  /// the one that has had so few for longest is next.
  DramArrival pop();

  /// A burst came into the queue.
  void entered(NodeId requester) {
    const std::uint32_t requester_index = index(requester);
    if (requester_index >= queued_.size()) [[unlikely]]
      queued_.resize(requester_index + std::size_t{1});
    ++queued_[requester_index];
  }
  /// The one that was taken last needs no place in the queue.
  void needs_no_place(NodeId requester) {
    if (waiting_ != 0) [[unlikely]]
      fewer(index(requester));
  }
  /// One left it.
  void left(NodeId requester) {
    const std::uint32_t requester_index = index(requester);
    --queued_[requester_index];
    if (waiting_ != 0) [[unlikely]]
      fewer(requester_index);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  struct Waiting {
    DramArrival arrival;
    std::uint32_t next = kNone;
  };
  /// The waiting bursts of a requester.
  struct RequesterQueue {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t level =
        kNone;  ///< its list of requesters, by the number in the queue; none while nothing waits
    std::uint32_t before = kNone;
    std::uint32_t after = kNone;
  };
  struct Level {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  /// The index of a requester; 0 is nobody's.
  static std::uint32_t index(NodeId requester) { return requester.index() + 1U; }
  void fewer(std::uint32_t index);
  void link(std::uint32_t index, std::uint32_t level);
  void unlink(std::uint32_t index);

  std::uint32_t waiting_ = 0;
  std::uint32_t lowest_ = 0;           ///< no requester is on a lower level
  std::vector<std::uint32_t> queued_;  ///< by requester: bursts in the queue
  std::vector<RequesterQueue> requesters_;
  std::vector<Level> levels_;
  std::vector<Waiting> entries_;
  std::uint32_t free_ = kNone;  ///< a list of entries
};

}  // namespace cxloom
