// Which virtual channel of its class a message takes when it turns from one link into another at a switch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// The turns of one switch. A message has a level, which rises at datelines. A link with more
/// virtual channels than levels has several for each level, and each pair of source and destination
/// keeps to one of them: messages of other pairs do not stand in its way, and its own stay in order.
class VirtualChannelTurns {
 public:
  enum class Turn : std::uint8_t {
    kStay,    ///< at the level that it has
    kNext,    ///< the next one: the turn crosses a dateline
    kRestart  ///< the first one: no circle leads back behind it
  };

  /// `channels`: of each port, the virtual channels of the link that leaves by it.
  VirtualChannelTurns(std::vector<std::uint8_t> channels, std::uint8_t levels)
      : channels_(std::move(channels)),
        levels_(levels),
        turns_(channels_.size() * channels_.size(), Turn::kStay) {}

  void set(std::uint16_t in, std::uint16_t out, Turn turn) { turns_[in * channels_.size() + out] = turn; }
  /// At which level a message that has come in by the port `in` goes on by `out`. What comes in by no port
  /// begins at the first one, and where a link has too few virtual channels it stays on the last.
  std::uint8_t level_after(std::uint16_t in, std::uint16_t out, std::uint8_t level) const {
    if (in >= channels_.size()) return 0;
    const Turn turn = turns_[in * channels_.size() + out];
    if (turn == Turn::kRestart) return 0;
    const int next = level + (turn == Turn::kNext ? 1 : 0);
    return static_cast<std::uint8_t>(std::min({next, channels_[out] - 1, levels_ - 1}));
  }
  /// The virtual channel by which a message that has come in by `in` and virtual channel `from` goes on by
  /// `out`.
  std::uint8_t after(std::uint16_t in, std::uint16_t out, std::uint8_t from, const Message& message) const {
    const std::uint8_t level = level_after(in, out, static_cast<std::uint8_t>(from % levels_));
    return static_cast<std::uint8_t>(level + levels_ * group_of(message, groups(out, level)));
  }
  /// All by which some message may go on, a bit each.
  unsigned all_after(std::uint16_t in, std::uint16_t out, std::uint8_t from) const {
    const std::uint8_t level = level_after(in, out, static_cast<std::uint8_t>(from % levels_));
    unsigned all = 0;
    for (unsigned group = 0; group < groups(out, level); ++group) all |= 1U << (level + levels_ * group);
    return all;
  }

 private:
  // Virtual channels of a level.
  unsigned groups(std::uint16_t out, std::uint8_t level) const {
    return (channels_[out] - level + levels_ - 1U) / levels_;
  }
  // With one group more, each of the others has fewer pairs and none that it did not have: more virtual
  // channels never let more messages wait behind each other.
  static unsigned group_of(const Message& message, unsigned groups) {
    const std::uint64_t pair = (std::uint64_t{message.source.index()} << 32U) | message.destination.index();
    unsigned group = 0;
    for (unsigned i = 1; i < groups; ++i) {
      if (mix_bits(mix_bits(pair) + i) % (i + 1) == 0) group = i;
    }
    return group;
  }

  std::vector<std::uint8_t> channels_;  // by port
  std::uint8_t levels_;
  std::vector<Turn> turns_;  // by port in and port out
};

/// By node of a system; null where there is nothing to say. Empty: no link has several virtual channels that
/// a switch distinguishes.
struct VirtualChannelPlan {
  std::uint8_t levels = 1;  ///< that messages need, so that their buffers close no circle
  std::vector<std::unique_ptr<VirtualChannelTurns>> turns;

  const VirtualChannelTurns* of(NodeId node) const {
    return node.index() < turns.size() ? turns[node.index()].get() : nullptr;
  }
};

}  // namespace cxloom
