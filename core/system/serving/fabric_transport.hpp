// Moves between tiers and servers over a simulated fabric, at the rates of the moves that are under way
// together; tiers that are not in it are moved by their numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "system/serving/declared_transport.hpp"
#include "system/serving/fabric_states.hpp"
#include "system/serving/kv_transport.hpp"

namespace cxloom {

/// Each server has a queue of moves from each tier and one of moves to it, as a stream of a DMA engine: the
/// next begins when the one before has ended. A latency lies behind each, in which it takes nothing of the
/// fabric.
class FabricTransport final : public KvTransport {
 public:
  /// `tier_bytes` is the capacity of each tier, of one server where it is not shared. Throws InputError, with
  /// the path of the key.
  FabricTransport(const Registry& registry, const ServingParams& params,
                  const std::vector<std::uint64_t>& tier_bytes);

  void begin(Time now, const KvMove& move) override;
  Time next() const override;
  void advance(Time until, std::vector<std::uint64_t>& done) override;
  Time estimate(Time now, const KvMove& move) const override;
  KvWayUse used(std::uint32_t tier, bool write) const override;
  std::vector<KvPartUse> parts() const override;
  Value details(Time length) const override;
  std::string note() const override;

 private:
  struct Move {
    double left;  // bytes
    std::uint64_t ticket;
  };
  struct Queue {
    FabricFlow flow;
    std::deque<Move> moves = {};
    Time free;  // of the move before
    double moved = 0;
  };

  bool simulates(std::uint32_t tier) const { return simulated_[tier]; }
  bool is_active(const Queue& queue) const { return !queue.moves.empty() && queue.free <= now_; }
  void look_at_state();
  Time next_change() const;
  void move_all(Time until);
  void flow(Time until);
  double alone_rate(const FabricFlow& flow) const;
  double fullest(std::uint32_t tier, bool write) const;

  DeclaredTransport declared_;
  // Measuring a set that is asked for is no change that anybody can see.
  std::unique_ptr<FabricStates> states_;
  std::vector<KvTierParams> tiers_;
  std::vector<bool> simulated_;  // by tier
  std::uint32_t servers_;
  std::vector<Queue> queues_;  // by the number of their flow
  std::vector<bool> active_;
  const FabricState* state_ = nullptr;
  Time now_;
  std::multiset<std::pair<Time, std::uint64_t>> done_;  // when moves end, and their tickets
  std::vector<double> busy_;                            // seconds, by part
  double moving_ = 0;                                   // seconds in which something moved
  double error_ = 0;                                    // of these
};

}  // namespace cxloom
