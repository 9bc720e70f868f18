// Which virtual channel of its class a message takes when it turns from one link into another at a switch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cxloom {

/// Of one switch.
class VirtualChannelTurns {
 public:
  enum class Turn : std::uint8_t {
    kStay,    ///< the same as before
    kNext,    ///< the next one: the turn crosses a dateline
    kRestart  ///< the first one: no circle leads back behind it
  };

  /// `most`: of each port, the last virtual channel to be used on the link that leaves by it.
  explicit VirtualChannelTurns(std::vector<std::uint8_t> most)
      : most_(std::move(most)), turns_(most_.size() * most_.size(), Turn::kStay) {}

  void set(std::uint16_t in, std::uint16_t out, Turn turn) { turns_[in * most_.size() + out] = turn; }
  /// Where a message that has come in by the port `in` and virtual channel `from` goes on by `out`. What comes in by no port
  /// begins with the first one.
  std::uint8_t after(std::uint16_t in, std::uint16_t out, std::uint8_t from) const {
    if (in >= most_.size()) return 0;
    const Turn turn = turns_[in * most_.size() + out];
    if (turn == Turn::kRestart) return 0;
    return std::min<std::uint8_t>(most_[out],
                                  static_cast<std::uint8_t>(from + (turn == Turn::kNext ? 1 : 0)));
  }

 private:
  std::vector<std::uint8_t> most_;  // by port
  std::vector<Turn> turns_;         // by port in and port out
};

}  // namespace cxloom
