#include "component/virtual_channel_turns.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cxloom {
namespace {

using Turn = VirtualChannelTurns::Turn;

Message between(std::uint32_t source, std::uint32_t destination) {
  Message message;
  message.source = NodeId{source};
  message.destination = NodeId{destination};
  return message;
}

TEST(VirtualChannelTurns, ALevelRisesAtADatelineAndBeginsAnewBehindACircle) {
  VirtualChannelTurns turns({4, 4, 2}, 3);
  turns.set(0, 1, Turn::kNext);
  turns.set(1, 0, Turn::kRestart);
  turns.set(0, 2, Turn::kNext);
  EXPECT_EQ(turns.level_after(0, 1, 0), 1);
  EXPECT_EQ(turns.level_after(0, 1, 1), 2);
  EXPECT_EQ(turns.level_after(0, 1, 2), 2) << "no level is above the last one";
  EXPECT_EQ(turns.level_after(1, 2, 1), 1);
  EXPECT_EQ(turns.level_after(0, 2, 1), 1) << "the link has two virtual channels";
  EXPECT_EQ(turns.level_after(1, 0, 2), 0);
  EXPECT_EQ(turns.level_after(3, 0, 2), 0) << "what comes in by no port";
}

// All virtual channels of a level have their share of the pairs, and a pair keeps to one.
TEST(VirtualChannelTurns, PairsAreSpreadOverTheVirtualChannelsOfALevel) {
  for (const unsigned channels : {1U, 2U, 3U, 4U}) {
    for (const unsigned levels : {1U, 2U, 3U}) {
      VirtualChannelTurns turns({static_cast<std::uint8_t>(channels)}, static_cast<std::uint8_t>(levels));
      turns.set(0, 0, Turn::kStay);
      std::set<unsigned> used;
      for (std::uint32_t pair = 0; pair < 200; ++pair) {
        for (unsigned level = 0; level < std::min(levels, channels); ++level) {
          const Message message = between(pair, 3 * pair + 1);
          const std::uint8_t taken = turns.after(0, 0, static_cast<std::uint8_t>(level), message);
          EXPECT_LT(taken, channels);
          EXPECT_EQ(taken % levels, level);
          EXPECT_EQ(turns.after(0, 0, taken, message), taken) << "it goes on as it has come";
          used.insert(taken);
        }
      }
      EXPECT_EQ(used.size(), channels);
    }
  }
}

TEST(VirtualChannelTurns, OneVirtualChannelMoreAddsNobodyToTheOthers) {
  for (std::uint32_t pair = 0; pair < 200; ++pair) {
    const Message message = between(pair, 7 * pair + 1);
    unsigned before = 0;
    for (std::uint8_t channels = 2; channels <= 4; ++channels) {
      const VirtualChannelTurns turns({channels}, 1);
      const unsigned taken = turns.after(0, 0, 0, message);
      EXPECT_TRUE(taken == before || taken == channels - 1U);
      before = taken;
    }
  }
}

}  // namespace
}  // namespace cxloom
