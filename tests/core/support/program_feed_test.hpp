// Writers of a program's feed that are played by a test, and what their reader is told.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/support/feed_bench.hpp"
#include "program/feed/record.hpp"
#include "program/feed/writer.hpp"
#include "program/program_feed.hpp"

namespace cxloom::test {

// What the sink was told, as short lines: "1/0 B1000+3 r100:8@1" is thread 1 of process 0 in a block of three
// instructions, the second of which reads 8 bytes.
struct Telling : ProgramSink {
  std::vector<std::string> lines;
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;

  static std::string name(const ProgramThread& thread) {
    return std::to_string(thread.number) + "/" + std::to_string(thread.process);
  }
  void block(const ProgramThread& thread, const ProgramBlock& block, std::span<const ProgramAccess> all,
             bool continued) override {
    std::string line = name(thread) + " B" + std::to_string(block.address) + "+" +
                       std::to_string(block.instructions.size()) + (continued ? "..." : "");
    for (const ProgramAccess& access : all) {
      line += std::string(" ") + (access.reads ? "r" : "") + (access.writes ? "w" : "") +
              std::to_string(access.address) + ":" + std::to_string(access.size) + "@" +
              std::to_string(access.instruction);
      if (access.place != ProgramAccess::kByAddress) line += " in " + std::to_string(access.place);
    }
    lines.push_back(line);
    instructions += block.instructions.size() - (continued ? 1 : 0);
    accesses += all.size();
  }
  static std::string by(const Release& release) {
    if (release.thread == 0) return "";
    return " by " + std::to_string(release.thread) + "#" + std::to_string(release.order);
  }
  void thread_begins(const ProgramThread& thread, const Release& release) override {
    lines.push_back(name(thread) + " begins" + by(release));
  }
  void thread_ends(const ProgramThread& thread) override { lines.push_back(name(thread) + " ends"); }
  void system_call(const ProgramThread& thread, const SystemCall& call) override {
    lines.push_back(name(thread) + " call " + std::to_string(call.number) + "(" +
                    std::to_string(call.arguments.front()) + ".." + std::to_string(call.arguments.back()) +
                    ")#" + std::to_string(call.order));
  }
  void system_call_ends(const ProgramThread& thread, const SystemCallEnd& end) override {
    lines.push_back(name(thread) + " end " + std::to_string(end.number) + "=" + std::to_string(end.result) +
                    "#" + std::to_string(end.order) + (end.slept ? " slept" : "") + by(end.by));
  }
  void thread_joins(const ProgramThread& thread, const Release& release) override {
    lines.push_back(name(thread) + " joins" + by(release));
  }
  void register_accessed(const ProgramThread& thread) override {
    lines.push_back(name(thread) + " register");
  }
  void process_goes_on(const ProgramThread& thread, const GuestProcess& process) override {
    lines.push_back(name(thread) + " process " + std::to_string(process.pid) + " " + process.name + " " +
                    std::to_string(process.space) + " of " + std::to_string(process.parent));
  }
  void space_mapped(const GuestMapping& mapping) override {
    lines.push_back(std::to_string(mapping.space) + " has " + std::to_string(mapping.begin) + "-" +
                    std::to_string(mapping.end) + " " + mapping.name);
  }
  void thread_sleeps(const ProgramThread& thread) override { sleeping.push_back(thread.number); }
  std::string last() const { return lines.empty() ? "" : lines.back(); }
  std::vector<std::uint32_t> sleeping;
};

class ProgramFeedTest : public testing::Test {
 protected:
  explicit ProgramFeedTest(const ProgramFeed::Sizes& sizes = {1U << 10U, 1U << 12U}) {
    feed_.emplace(folder_.path(), sizes);
    const int file = ::open((folder_.path() + "/control").c_str(), O_RDWR);
    control_ = static_cast<FeedControl*>(
        mmap(nullptr, kFeedControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    ::close(file);
  }
  ~ProgramFeedTest() override { munmap(control_, kFeedControlBytes); }

  FeedWriter process(std::uint32_t parent = ~0U, std::uint32_t inherited = 0, std::uint32_t replaces = ~0U) {
    const std::uint32_t number = control_->rings.fetch_add(1);
    last_process_ = number;
    return folder_.write(*control_, {FeedRingHead::kProcess, number, number, parent == ~0U ? number : parent,
                                     inherited, replaces == ~0U ? number : replaces});
  }
  FeedWriter machine() {
    const std::uint32_t number = last_process_ = control_->rings.fetch_add(1);
    return folder_.write(*control_, {.kind = FeedRingHead::kProcess,
                                     .number = number,
                                     .process = number,
                                     .parent = number,
                                     .replaces = number,
                                     .is_machine = true});
  }
  FeedWriter thread(std::uint32_t process, std::uint32_t creator = ~0U, std::uint64_t creation = 0) {
    const std::uint32_t number = last_thread_ = control_->rings.fetch_add(1);
    return folder_.write(*control_, {.number = number,
                                     .process = process,
                                     .creator = creator == ~0U ? number : creator,
                                     .creation = creation});
  }
  std::uint64_t order() { return FeedWriter::next_in_order(*control_); }
  static void call(FeedWriter& writer, std::uint32_t number, std::uint64_t order,
                   std::array<std::uint64_t, 6> arguments = {}) {
    put_at_once(writer, {feed::event(FeedEvent::kSystemCall, number), order, arguments[0], arguments[1],
                         arguments[2], arguments[3], arguments[4], arguments[5]});
  }
  static void back(FeedWriter& writer, std::uint32_t number, std::uint64_t order, std::int64_t result,
                   bool slept = false) {
    put_at_once(writer, {feed::event(FeedEvent::kSystemCallEnd, number | (slept ? feed::kSlept : 0)), order,
                         static_cast<std::uint64_t>(result), 0});
  }
  // Writes like the emulator: a reader sees all words of a call or none.
  static void put_at_once(FeedWriter& writer, std::initializer_list<std::uint64_t> words) {
    std::uint64_t count = 0;
    for (const std::uint64_t word : words) writer.ahead(count++) = word;
    writer.publish(count);
  }
  static void describe(FeedWriter& writer, std::uint32_t number, std::uint64_t address,
                       const std::vector<BlockInstruction>& instructions) {
    writer.put(block_form::head(number, static_cast<std::uint32_t>(instructions.size())));
    writer.put(address);
    for (const BlockInstruction& instruction : instructions) {
      std::uint64_t words[block_form::kInstructionWords];
      block_form::write(instruction, words);
      for (const std::uint64_t word : words) writer.put(word);
    }
  }
  static BlockInstruction plain(std::uint16_t operand_bytes = 8, std::uint16_t flags = 0) {
    BlockInstruction result;
    result.length = 4;
    result.operand_bytes = operand_bytes;
    result.flags = flags;
    return result;
  }
  static std::uint64_t enter(std::uint32_t block) { return feed::event(FeedEvent::kBlock, block); }
  static std::uint64_t load(std::uint32_t instruction, std::uint64_t address, unsigned log2_size = 3) {
    return feed::access(feed::access_of(instruction), address, log2_size, 1);
  }
  static std::uint64_t store(std::uint32_t instruction, std::uint64_t address, unsigned log2_size = 3) {
    return feed::access(feed::access_of(instruction), address, log2_size, 2);
  }

  // Reads what a thread writes meanwhile, for no longer than this time.
  template <typename Condition>
  bool read_for(Telling& told, std::chrono::milliseconds time, Condition until) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end && !until()) feed_->read(told, 1000);
    return until();
  }
  static bool never() { return false; }

  FeedBench folder_;
  std::optional<ProgramFeed> feed_;
  FeedControl* control_ = nullptr;
  std::uint32_t last_process_ = 0;
  std::uint32_t last_thread_ = 0;
};

}  // namespace cxloom::test
