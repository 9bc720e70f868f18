// Threads of a real program under QEMU: who began whom, who waited for whom, and in which order that is told.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "program/program_feed.hpp"

namespace cxloom {
namespace {

constexpr std::uint64_t kTurn = 0x1000'0000;
constexpr std::size_t kRounds = 50;

struct Log : ProgramSink {
  std::map<std::uint32_t, Release> begun;  // by thread
  std::vector<std::uint32_t> writers;      // of the word that tells whose turn it is
  std::map<std::uint64_t, std::pair<std::uint32_t, SystemCall>> calls;  // by their order
  std::vector<std::pair<std::uint32_t, SystemCallEnd>> ends;
  std::vector<std::pair<std::uint32_t, Release>> joins;
  std::uint64_t last = 0;
  bool in_order = true;

  void note(std::uint64_t order) {
    in_order &= order > last;
    last = order;
  }
  void block(const ProgramThread& thread, const ProgramBlock&, std::span<const ProgramAccess> accesses,
             bool) override {
    for (const ProgramAccess& access : accesses) {
      if (access.writes && access.address == kTurn) writers.push_back(thread.number);
    }
  }
  void thread_begins(const ProgramThread& thread, const Release& by) override { begun[thread.number] = by; }
  void system_call(const ProgramThread& thread, const SystemCall& call) override {
    note(call.order);
    calls[call.order] = {thread.number, call};
  }
  void system_call_ends(const ProgramThread& thread, const SystemCallEnd& end) override {
    note(end.order);
    ends.emplace_back(thread.number, end);
  }
  void thread_joins(const ProgramThread& thread, const Release& by) override {
    joins.emplace_back(thread.number, by);
  }
};

int run(std::vector<std::string> words, pid_t& pid) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ);
}

int code_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// What a thread's call was that another one waited for; its number is 0 if there is none.
SystemCall call_of(const Log& log, const Release& by) {
  const auto found = log.calls.find(by.order);
  return found != log.calls.end() && found->second.first == by.thread ? found->second.second : SystemCall{};
}

/// What calls waited for: of futexes, the end of a process, and the end of threads, whose numbers are
/// returned.
std::vector<std::uint32_t> joined_by_calls(const Log& log) {
  std::size_t woken = 0;
  std::vector<std::uint32_t> joined;
  bool slept = false;
  for (const auto& [thread, end] : log.ends) {
    if (end.number == 35 || end.number == 230) {  // nanosleep
      EXPECT_GE(end.nanoseconds, 100'000'000U);
      slept = end.slept;
    }
    if (end.number == system_call::kWait4) {
      EXPECT_EQ(call_of(log, end.by).number, system_call::kExitGroup);
      EXPECT_EQ(end.by.thread, 5U);
    }
    if (end.number != system_call::kFutex || end.by.thread == 0) continue;
    const SystemCall release = call_of(log, end.by);
    EXPECT_NE(end.by.thread, thread);
    EXPECT_LT(end.by.order, end.order);
    if (release.number == system_call::kExit) {
      joined.push_back(end.by.thread);
    } else {
      EXPECT_EQ(release.number, system_call::kFutex);
      ++woken;
    }
  }
  EXPECT_TRUE(slept);
  // Each of the two waits nearly each time, as the other one holds the lock until it waits itself.
  EXPECT_GE(woken, kRounds);
  return joined;
}

TEST(EmulatedThreads, WaitForEachOther) {
  pid_t pid = 0;
  std::string folder = testing::TempDir() + "threadsXXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string program = folder + "/program";
  if (run({"cc", "-O2", "-static", "-pthread", CXLOOM_TEST_SOURCES "/integrations/qemu/hand_over.c", "-o",
           program},
          pid) != 0 ||
      code_of(pid) != 0) {
    std::filesystem::remove_all(folder);
    GTEST_SKIP() << "no C compiler";
  }

  const std::string shared = folder + "/shared";
  std::filesystem::create_directory(shared);
  ProgramFeed feed(shared);
  Log log;
  if (run({"qemu-x86_64", "-plugin", CXLOOM_TEST_PLUGIN ",folder=" + shared, program}, pid) != 0) {
    std::filesystem::remove_all(folder);
    GTEST_SKIP() << "no QEMU";
  }
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) feed.read(log, 1U << 16U);
  while (feed.read(log, 1U << 16U) != 0) {
  }
  feed.finish(log);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(feed.failure(), "");
  std::filesystem::remove_all(folder);

  EXPECT_TRUE(log.in_order);
  // The main thread began three threads and a process.
  ASSERT_EQ(log.begun.size(), 5U);
  EXPECT_EQ(log.begun[1], Release{});
  for (std::uint32_t thread = 2; thread <= 5; ++thread) {
    EXPECT_EQ(log.begun[thread].thread, 1U);
    EXPECT_EQ(call_of(log, log.begun[thread]).number, system_call::kClone);
  }
  // What was written under the lock is told in the order in which it happened.
  ASSERT_EQ(log.writers.size(), 2 * kRounds);
  EXPECT_NE(log.writers[0], log.writers[1]);
  for (std::size_t i = 2; i < log.writers.size(); ++i) EXPECT_EQ(log.writers[i], log.writers[i - 2]);

  std::vector<std::uint32_t> joined = joined_by_calls(log);
  // A futex that woke a thread is known for each wait that ended well.
  for (const auto& [thread, end] : log.ends) {
    const bool waited = end.number == system_call::kFutex && end.slept && end.result == 0;
    EXPECT_TRUE(!waited || end.by.thread != 0) << "thread " << thread << ", call " << end.order;
  }
  // The one that had ended before is noticed by a read, the others by it or by a call.
  for (const auto& [thread, by] : log.joins) {
    EXPECT_EQ(thread, 1U);
    joined.push_back(by.thread);
  }
  for (std::uint32_t thread = 2; thread <= 4; ++thread) {
    EXPECT_NE(std::find(joined.begin(), joined.end(), thread), joined.end()) << thread;
  }
  EXPECT_EQ(std::count_if(log.joins.begin(), log.joins.end(),
                          [](const auto& join) { return join.second.thread == 2; }),
            1);
}

}  // namespace
}  // namespace cxloom
