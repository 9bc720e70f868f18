#include "program/program_feed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "core/support/program_feed_test.hpp"

namespace cxloom {
namespace {

using test::ProgramFeedTest;
using test::Telling;

TEST_F(ProgramFeedTest, ExpandsBlocksAndTheirAccesses) {
  FeedWriter blocks = process();
  FeedWriter one = thread(last_process_);
  describe(blocks, 0, 100, {plain(), plain(), plain()});
  describe(blocks, 1, 200, {plain()});
  for (const std::uint64_t record :
       {enter(0), load(0, 5000), store(2, 6000, 0), enter(1), enter(0), load(1, 7000, 2)}) {
    one.put(record);
  }
  call(one, 60, order(), {3, 0, 0, 0, 0, 9});
  Telling told;
  EXPECT_EQ(feed_->read(told, 1000), 6U + feed::kCallWords);
  EXPECT_EQ(feed_->read(told, 1000), 0U);
  const std::vector<std::string> expected{"1/0 begins", "1/0 B100+3 r5000:8@0 w6000:1@2", "1/0 B200+1",
                                          "1/0 B100+3 r7000:4@1", "1/0 call 60(3..9)#2"};
  EXPECT_EQ(told.lines, expected);
  one.close();
  feed_->read(told, 1000);
  EXPECT_EQ(told.lines.back(), "1/0 ends");
  EXPECT_FALSE(
      std::filesystem::exists(folder_.path() + "/0"));  // nobody needs the name of a ring that both have
}

TEST_F(ProgramFeedTest, ABlockIsToldWhenItIsKnownThatNoAccessFollows) {
  FeedWriter blocks = process();
  FeedWriter one = thread(last_process_);
  describe(blocks, 0, 100, {plain()});
  one.put(enter(0));
  Telling told;
  feed_->read(told, 1000);
  EXPECT_EQ(told.instructions, 0U);
  one.put(load(0, 5000));
  feed_->read(told, 1000);
  EXPECT_EQ(told.instructions, 0U);
  feed_->finish(told);
  EXPECT_EQ(told.instructions, 1U);
  EXPECT_EQ(told.accesses, 1U);
}

TEST_F(ProgramFeedTest, PiecesOfAWideAccessAreOne) {
  FeedWriter blocks = process();
  FeedWriter one = thread(last_process_);
  describe(blocks, 0, 100, {plain(32), plain(8), plain(16)});
  one.put(enter(0));
  for (std::uint64_t piece = 0; piece < 4; ++piece) one.put(load(0, 5000 + 8 * piece));
  // Two of eight bytes side by side, by an instruction whose operand has eight: a string is compared so.
  one.put(load(1, 6000));
  one.put(load(1, 6008));
  one.put(load(2, 7000));  // two halves that are not side by side: gathered
  one.put(load(2, 7016));
  one.put(enter(0));
  Telling told;
  feed_->read(told, 1000);
  EXPECT_EQ(told.lines[1], "1/0 B100+3 r5000:32@0 r6000:8@1 r6008:8@1 r7000:8@2 r7016:8@2");
}

TEST_F(ProgramFeedTest, ARepeatedInstructionCountsOnce) {
  FeedWriter blocks = process();
  FeedWriter one = thread(last_process_);
  const BlockInstruction repeated = plain(1, BlockInstruction::kRepeated);
  describe(blocks, 0, 100, {plain(), repeated});
  describe(blocks, 1, 104, {repeated});  // where it is entered for all elements but the first
  describe(blocks, 2, 108, {plain()});
  for (const std::uint32_t block : {0, 1, 1, 1, 2, 1, 1, 2}) one.put(enter(block));
  Telling told;
  feed_->read(told, 1000);
  feed_->finish(told);
  // The first time through: two instructions and one behind; then the repeated one is jumped to: it counts
  // again.
  EXPECT_EQ(told.instructions, 2U + 1 + 1 + 1);
}

// QEMU leaves a block before an access to a device or to memory on CXL, and does that in a block of its own.
TEST_F(ProgramFeedTest, AnInstructionThatIsDoneAgainCountsOnce) {
  FeedWriter blocks = process();
  FeedWriter one = thread(last_process_);
  describe(blocks, 0, 100, {plain(), plain(), plain(), plain()});
  describe(blocks, 1, 108, {plain()});           // its third instruction alone
  describe(blocks, 2, 112, {plain()});           // where it goes on
  describe(blocks, 3, 200, {plain(), plain()});  // left before its first
  describe(blocks, 4, 200, {plain()});
  const auto again = [](std::uint32_t block) { return feed::event(FeedEvent::kAgain, block); };
  for (const std::uint64_t record :
       {enter(0), load(0, 5000), again(1), load(0, 6000), enter(2), enter(3), again(4), load(0, 7000)}) {
    one.put(record);
  }
  Telling told;
  feed_->read(told, 1000);
  feed_->finish(told);
  const std::vector<std::string> expected{"1/0 begins", "1/0 B100+2 r5000:8@0", "1/0 B108+1 r6000:8@0",
                                          "1/0 B112+1", "1/0 B200+1 r7000:8@0", "1/0 ends"};
  EXPECT_EQ(told.lines, expected);
  EXPECT_EQ(told.instructions, 2U + 1 + 1 + 1);
}

TEST_F(ProgramFeedTest, ThreadsAndProcessesAreNumberedAsTheyBegin) {
  FeedWriter first = process();
  const std::uint32_t parent = last_process_;
  FeedWriter one = thread(parent);
  FeedWriter two = thread(parent);
  describe(first, 0, 100, {plain()});
  describe(first, 1, 200, {plain()});
  one.put(enter(0));
  two.put(enter(1));
  // A fork knows what its parent had translated, and goes on with numbers of its own.
  FeedWriter second = process(parent, 2);
  FeedWriter three = thread(last_process_);
  describe(first, 2, 300, {plain()});
  describe(second, 2, 400, {plain()});
  one.put(enter(2));
  three.put(enter(0));
  three.put(enter(2));
  Telling told;
  feed_->read(told, 1000);
  feed_->finish(told);
  auto count = [&](const char* line) { return std::count(told.lines.begin(), told.lines.end(), line); };
  EXPECT_EQ(count("1/0 B300+1"), 1);
  EXPECT_EQ(count("2/0 B200+1"), 1);
  EXPECT_EQ(count("3/1 B100+1"), 1);
  EXPECT_EQ(count("3/1 B400+1"), 1);
  EXPECT_EQ(feed_->threads(), 3U);
  EXPECT_EQ(feed_->processes(), 2U);
  EXPECT_EQ(feed_->living().size(), 2U);
}

TEST_F(ProgramFeedTest, AForkMayOutliveItsParent) {
  FeedWriter first = process();
  const std::uint32_t parent = last_process_;
  FeedWriter one = thread(parent);
  describe(first, 0, 100, {plain()});
  one.put(enter(0));
  first.count_fork();
  one.close();
  first.close();
  Telling told;
  feed_->read(told, 1000);
  EXPECT_EQ(feed_->living().size(), 0U);
  process(parent, 1);
  FeedWriter two = thread(last_process_);
  two.put(enter(0));
  feed_->read(told, 1000);
  feed_->finish(told);
  EXPECT_EQ(told.lines.at(told.lines.size() - 2), "2/1 B100+1");
}

// Threads take turns by the numbers of their calls, whatever order the rings are read in.
TEST_F(ProgramFeedTest, CallsAreToldInTheirOrder) {
  FeedWriter blocks = process();
  FeedWriter one = thread(last_process_);  // number 1 in the order
  const std::uint32_t creator = last_thread_;
  describe(blocks, 0, 100, {plain()});
  const std::uint64_t made = order();                     // 2
  FeedWriter two = thread(last_process_, creator, made);  // 3
  call(two, 39, order());                                 // 4
  two.put(enter(0));
  back(two, 39, 6, 7, true);
  Telling told;
  feed_->read(told, 1000);
  EXPECT_EQ(told.lines,
            std::vector<std::string>{"1/0 begins"});  // all else comes after the call that is not told yet
  call(one, 56, made);
  back(one, 56, 5, 11);
  feed_->read(told, 1000);
  feed_->finish(told);
  const std::vector<std::string> expected{
      "1/0 begins",      "1/0 call 56(0..0)#2", "2/0 begins by 1#2",    "2/0 call 39(0..0)#4",
      "1/0 end 56=11#5", "2/0 B100+1",          "2/0 end 39=7#6 slept", "1/0 ends",
      "2/0 ends"};
  EXPECT_EQ(told.lines, expected);
}

TEST_F(ProgramFeedTest, AThreadInACallSleepsIfTheKernelSaysSo) {
  process();
  FeedWriter writer = thread(last_process_);
  std::atomic<int> stage{0};
  // Runs within its call until the stage is 1, sleeps there until it is 2; a call that does not wait, in
  // which it sleeps; at the end it waits again, and its end is there.
  std::thread one([&] {
    writer.note_thread();
    call(writer, 0, order());
    while (stage.load() < 1) {
    }
    stage.wait(1);
    back(writer, 0, order(), 0);
    call(writer, 9, order());
    stage.wait(2);
    back(writer, 9, order(), 0);
    call(writer, 0, order());
    back(writer, 0, order(), 0);
  });
  Telling told;
  EXPECT_TRUE(read_for(told, std::chrono::seconds(10), [&] { return told.last() == "1/0 call 0(0..0)#2"; }));
  read_for(told, std::chrono::milliseconds(50), never);
  EXPECT_TRUE(told.sleeping.empty());
  stage = 1;
  EXPECT_TRUE(read_for(told, std::chrono::seconds(10), [&] { return !told.sleeping.empty(); }));
  read_for(told, std::chrono::milliseconds(20), never);
  EXPECT_EQ(told.sleeping, std::vector<std::uint32_t>{1});  // once
  stage = 2;
  stage.notify_all();
  EXPECT_TRUE(read_for(told, std::chrono::seconds(10), [&] { return told.last() == "1/0 call 9(0..0)#4"; }));
  read_for(told, std::chrono::milliseconds(50), never);
  stage = 3;
  stage.notify_all();
  one.join();
  EXPECT_TRUE(read_for(told, std::chrono::seconds(10), [&] { return told.last() == "1/0 end 0=0#7"; }));
  EXPECT_EQ(told.sleeping.size(), 1U);
}

TEST_F(ProgramFeedTest, AWriterThatWaitsForRoomDoesNotSleepInItsCall) {
  process();
  FeedWriter writer = thread(last_process_);
  const SharedPages ring = SharedPages::of_file(folder_.path() + "/" + std::to_string(last_thread_));
  auto& rests = static_cast<FeedRingHead*>(ring.at(0))->rests;
  std::atomic<bool> over{false};
  std::thread one([&] {
    writer.note_thread();
    call(writer, 0, order());
    over.wait(false);
  });
  Telling told;
  rests = 1;
  EXPECT_TRUE(read_for(told, std::chrono::seconds(10), [&] { return told.last() == "1/0 call 0(0..0)#2"; }));
  read_for(told, std::chrono::milliseconds(50), never);
  EXPECT_TRUE(told.sleeping.empty());
  rests = 2;
  EXPECT_TRUE(read_for(told, std::chrono::seconds(10), [&] { return !told.sleeping.empty(); }));
  over = true;
  over.notify_all();
  one.join();
}

TEST_F(ProgramFeedTest, TheThreadThatIsWantedComesFirst) {
  Telling sink;
  FeedWriter code = process();
  describe(code, 0, 0x1000, {plain()});
  FeedWriter one = thread(last_process_);
  FeedWriter two = thread(last_process_);
  auto run = [](FeedWriter& writer) {
    for (int i = 0; i < 100; ++i) writer.put(enter(0));
  };
  run(one);
  run(two);
  EXPECT_EQ(feed_->read(sink, 1000), 200U);
  run(one);
  run(two);
  EXPECT_EQ(feed_->read(sink, 50, 2), 100U);  // of a turn all
  EXPECT_EQ(feed_->read(sink, 50, 2), 0U);    // it has nothing, for the moment
  EXPECT_EQ(feed_->read(sink, 50, 7), 100U);  // an unknown thread
  run(one);
  EXPECT_EQ(feed_->read(sink, 50, 2), 0U);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(feed_->read(sink, 50, 2), 100U);  // it has been silent for so long that it may wait for the other
  // A call that is not the next in order waits for what others tell.
  const std::uint64_t first = order();
  call(two, 1, order());
  call(one, 1, first);
  EXPECT_EQ(feed_->read(sink, 50, 2), 16U);
}

// A thread was killed between taking a number and telling what it was for.
TEST_F(ProgramFeedTest, ALostCallHoldsNobodyUpForEver) {
  process();
  FeedWriter one = thread(last_process_);
  order();
  call(one, 39, order());
  order();
  back(one, 39, order(), 0);
  Telling told;
  while (told.lines.size() < 2) feed_->read(told, 1000);
  feed_->finish(told);
  const std::vector<std::string> expected{"1/0 begins", "1/0 call 39(0..0)#3", "1/0 end 39=0#5", "1/0 ends"};
  EXPECT_EQ(told.lines, expected);
}

TEST_F(ProgramFeedTest, AProgramTakesThePlaceOfTheOneThatCalledExecve) {
  process();
  const std::uint32_t before = last_process_;
  FeedWriter one = thread(before);
  const std::uint32_t ring = last_thread_;
  const std::uint64_t execve = order();
  call(one, 59, execve);
  process(~0U, 0, before);
  thread(last_process_, ring, execve);
  Telling told;
  feed_->read(told, 1000);
  EXPECT_EQ(told.lines,
            (std::vector<std::string>{"1/0 begins", "1/0 call 59(0..0)#2", "2/1 begins by 1#2", "1/0 ends"}));
  EXPECT_EQ(feed_->living().size(), 1U);
}

TEST_F(ProgramFeedTest, AReadTellsTheEndOfAThread) {
  FeedWriter blocks = process();
  describe(blocks, 0, 100, {plain()});
  FeedWriter one = thread(last_process_);
  const std::uint32_t creator = last_thread_;
  const std::uint64_t made = order();
  call(one, system_call::kClone, made, {0x20'0000, 0, 0, 8000});
  FeedWriter two = thread(last_process_, creator, made);
  call(two, system_call::kExit, order());
  Telling told;
  feed_->read(told, 1000);
  for (const std::uint64_t record :
       {enter(0), load(0, 7936), enter(0), load(0, 8000, 2), enter(0), load(0, 8000, 2)}) {
    one.put(record);
  }
  feed_->read(told, 1000);
  feed_->finish(told);
  EXPECT_EQ(std::count(told.lines.begin(), told.lines.end(), "1/0 joins by 2#4"), 1);
  EXPECT_EQ(told.lines.at(5), "1/0 B100+1 r8000:4@0");
  EXPECT_EQ(told.lines.at(6), "1/0 joins by 2#4");
}

// The emulator has such: what it stores for a signal.
TEST_F(ProgramFeedTest, AccessesOfNoInstructionAreDropped) {
  FeedWriter blocks = process();
  FeedWriter one = thread(last_process_);
  describe(blocks, 0, 100, {plain(), plain()});
  for (const std::uint64_t record : {load(0, 8), enter(0), load(2, 16), load(1, 24), load(0, 32), enter(0)}) {
    one.put(record);
  }
  Telling told;
  feed_->read(told, 1000);
  EXPECT_EQ(told.lines.back(), "1/0 B100+2 r24:8@1");
  EXPECT_EQ(feed_->strays(), 3U);
}

// More than fits into the rings, so that each waits for the other; threads take turns.
TEST_F(ProgramFeedTest, WritersWaitForRoom) {
  constexpr std::uint64_t kRounds = 20'000;
  FeedWriter blocks = process();
  const std::uint32_t number = last_process_;
  describe(blocks, 0, 100, {plain(), plain()});
  auto write = [&](FeedWriter writer) {
    for (std::uint64_t i = 0; i < 2 * kRounds; ++i) {
      if (writer.full() && !writer.wait_for(1, *control_)) return;
      writer.put(i % 2 == 0 ? enter(0) : load(1, 64 * i));
    }
    writer.close();
  };
  std::thread one(write, thread(number));
  std::thread two(write, thread(number));
  Telling told;
  while (feed_->words() < 4 * kRounds) feed_->read(told, 512);
  one.join();
  two.join();
  feed_->read(told, 1000);
  EXPECT_EQ(told.accesses, 2 * kRounds);
  EXPECT_EQ(told.instructions, 4 * kRounds);
}

TEST_F(ProgramFeedTest, NobodyWaitsForAReaderThatHasEnough) {
  FeedWriter blocks = process();
  FeedWriter one = thread(last_process_);
  describe(blocks, 0, 100, {plain()});
  while (!one.full()) one.put(enter(0));
  feed_->stop();
  EXPECT_FALSE(one.wait_for(1, *control_));
  one.mute();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(one.full());
    one.put(enter(0));
  }
  one.forget();
}

TEST_F(ProgramFeedTest, AFolderThatIsInUseIsRefused) {
  EXPECT_THROW(ProgramFeed{folder_.path()}, InputError);
  EXPECT_THROW(ProgramFeed{folder_.path() + "/nowhere"}, InputError);
}

TEST_F(ProgramFeedTest, TwoRingsOfOneNumberCannotBe) {
  process();
  FeedWriter again;
  EXPECT_EQ(again.open(folder_.path().c_str(), *control_, {FeedRingHead::kProcess, 0, 0, 0, 0}), EEXIST);
  EXPECT_FALSE(again.is_open());
}

// A processor of a machine says where pages are; a page that has moved is told again.
TEST_F(ProgramFeedTest, AccessesOfAMachineAreWhereTheirPagesAre) {
  FeedWriter blocks = machine();
  FeedWriter one = thread(last_process_);
  describe(blocks, 0, 100, {plain(), plain(16)});
  struct Tabled : Telling {
    void page_placed(const ProgramThread&, const TabledPage& page) override { pages.push_back(page); }
    std::vector<TabledPage> pages;
  } told;
  one.put(enter(0));
  put_at_once(one, {feed::event(FeedEvent::kPage, 5), 0x10000, 1, 2, 3, 4});
  one.put(load(0, 5 * 4096 + 8));
  one.put(load(1, 5 * 4096 + 4088));
  put_at_once(one, {feed::event(FeedEvent::kPage, 6), 0x90000, 0, 2, 3, 4});
  one.put(load(1, 6 * 4096));  // goes on in the next page, which lies elsewhere: another piece
  put_at_once(one, {feed::event(FeedEvent::kPage, 5), 0x20000, 0, 0, 0, 0});
  one.put(enter(0));
  one.put(load(0, 5 * 4096 + 8));
  feed_->read(told, 1000);
  feed_->finish(told);
  const std::vector<std::string> expected{
      "1/0 begins", "1/0 B100+2 r20488:8@0 in 65544 r24568:8@1 in 69624 r24576:8@1 in 589824",
      "1/0 B100+2 r20488:8@0 in 131080", "1/0 ends"};
  EXPECT_EQ(told.lines, expected);
  ASSERT_EQ(told.pages.size(), 3U);
  EXPECT_EQ(told.pages[0].address, 5U * 4096);
  EXPECT_EQ(told.pages[0].entries, (std::array<std::uint64_t, 4>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace cxloom
