// Shares of a server by weight: start-time fair queueing (Goyal, Vin and Cheng, 1996), in integers.
//
// A served item moves its flow's finish tag on by its size over the weight. The flow's next item starts
// there, or at the tag of the item served last if that is later. The smallest start goes first. A flow with
// nothing waiting falls behind and starts anew with the others: idle time neither gives nor costs credit.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cxloom {

class FairShare {
 public:
  static constexpr std::uint32_t kMostWeight = 65'535;

  struct Flow {
    std::uint32_t weight = 1;
    std::uint32_t remainder = 0;  ///< of what was served over the weight
    std::uint64_t finish = 0;     ///< where what was served last ended
    std::uint64_t served = 0;     ///< its number among all that was served
  };

  /// Where the flow's next item would start. The smallest goes first; of equals, the one served longest ago.
  std::uint64_t start_of(const Flow& flow) const { return std::max(flow.finish, tag_); }
  bool before(const Flow& a, const Flow& b) const {
    const std::uint64_t of_a = start_of(a);
    const std::uint64_t of_b = start_of(b);
    return of_a != of_b ? of_a < of_b : a.served < b.served;
  }
  /// Something of that size is served.
  void serve(Flow& flow, std::uint64_t size) {
    tag_ = start_of(flow);
    if (flow.finish < tag_) flow.remainder = 0;
    const std::uint64_t scaled = size * kScale + flow.remainder;
    flow.finish = tag_ + scaled / flow.weight;
    flow.remainder = static_cast<std::uint32_t>(scaled % flow.weight);
    flow.served = ++served_;
    latest_ = std::max(latest_, flow.finish);
  }
  /// Nothing waited, and nothing was being served: all start alike.
  void begin_anew() { tag_ = latest_; }

 private:
  static constexpr std::uint64_t kScale = kMostWeight + 1;  // so that whatever is served moves a tag on

  std::uint64_t tag_ = 0;     // the start of what was served last
  std::uint64_t latest_ = 0;  // the last end of any
  std::uint64_t served_ = 0;
};

}  // namespace cxloom
