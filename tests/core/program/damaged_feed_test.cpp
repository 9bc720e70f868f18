#include "program/program_feed.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "core/support/program_feed_test.hpp"
#include "program/feed/current_block.hpp"

namespace cxloom {
namespace {

using test::ProgramFeedTest;
using test::Telling;

// What no writer writes is refused by name.
class DamagedFeed : public ProgramFeedTest {
 protected:
  void refused(const std::vector<std::uint64_t>& records, const std::string& what) {
    FeedWriter blocks = process();
    FeedWriter one = thread(last_process_);
    describe(blocks, 0, 100, {plain(), plain()});
    for (const std::uint64_t record : records) one.put(record);
    expect(what);
  }
  void described(const std::vector<std::uint64_t>& words, const std::string& what) {
    FeedWriter blocks = process();
    for (const std::uint64_t word : words) blocks.put(word);
    expect(what);
  }
  void expect(const std::string& what) {
    Telling told;
    try {
      feed_->read(told, 1000);
      FAIL() << "nothing was refused";
    } catch (const SimulationError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  }
};

TEST_F(DamagedFeed, ABlockThatWasNotDescribed) { refused({enter(1)}, "never described"); }
TEST_F(DamagedFeed, AccessesOfNoInstructionWithoutEnd) {
  process();
  FeedWriter one = thread(last_process_);
  Telling told;
  auto strays = [&] {
    for (std::size_t i = 0; i < 2 * CurrentBlock::kMostAccesses; ++i) {
      if (one.full()) {
        feed_->read(told, 1U << 20U);
        one.wait_for(1, *control_);
      }
      one.put(load(0, 8));
    }
  };
  EXPECT_THROW(strays(), SimulationError);
}
TEST_F(DamagedFeed, AnAccessOfAMachineToAPageThatIsNowhere) {
  FeedWriter blocks = machine();
  FeedWriter one = thread(last_process_);
  describe(blocks, 0, 100, {plain()});
  one.put(enter(0));
  one.put(load(0, 4096));
  Telling told;
  EXPECT_THROW(feed_->read(told, 1000), SimulationError);
}
TEST_F(DamagedFeed, AnAccessThatNeitherReadsNorWrites) {
  refused({enter(0), feed::access(feed::access_of(0), 8, 3, 0)}, "neither reads nor writes");
}
TEST_F(DamagedFeed, ACallThatIsCutOff) {
  refused({enter(0), feed::event(FeedEvent::kSystemCall, 1), 2, 0}, "cut off");
}
TEST_F(DamagedFeed, ARecordOfNoKind) {
  refused({feed::event(static_cast<FeedEvent>(99), 0)}, "no known kind");
}
TEST_F(DamagedFeed, ABlockOutOfOrder) {
  described({block_form::head(1, 1), 100, 0, 0, 0, 0, 0x400}, "a block out of order");
}
TEST_F(DamagedFeed, ABlockThatIsCutOff) {
  described({block_form::head(0, 2), 100, 0}, "a block out of order");
}
TEST_F(DamagedFeed, ABlockWithoutInstructions) {
  described({block_form::head(0, 0), 100}, "a block out of order");
}
TEST_F(DamagedFeed, AnInstructionOfNoClass) {
  described({block_form::head(0, 1), 100, 0, 0, 0, 0, 0x4FF},
            "invalid record from the emulator: an instruction of no known class");
}
TEST_F(DamagedFeed, AnInstructionWithoutLength) {
  described({block_form::head(0, 1), 100, 0, 0, 0, 0, 0x001}, "no known class");
}
TEST_F(DamagedFeed, AThreadOfNoProcess) {
  thread(77);
  expect("of no process");
}
TEST_F(DamagedFeed, AForkThatKnowsMoreThanItsParent) {
  process();
  process(last_process_, 1);
  expect("more blocks than its parent");
}

}  // namespace
}  // namespace cxloom
