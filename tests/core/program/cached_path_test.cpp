#include "program/cached_path.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/support/program_capture_test.hpp"

namespace cxloom {
namespace {

using test::instruction;
using test::ProgramCaptureTest;

constexpr RegisterSet kNeverWritten = RegisterSet{7} << 40U;

/// A program of blocks that draws its instructions, and accesses a few lines again and again.
struct DrawnProgram {
  explicit DrawnProgram(unsigned seed) : random(seed) {}

  RegisterSet drawn_register() { return RegisterSet{1} << random() % 6; }
  BlockInstruction computing() {
    constexpr InstructionClass kKinds[] = {InstructionClass::kInteger, InstructionClass::kMultiply,
                                           InstructionClass::kMove};
    return instruction(kKinds[random() % 3], 0, drawn_register() | drawn_register(), drawn_register());
  }
  void add_accessing() {
    const auto number = static_cast<std::uint16_t>(instructions.size());
    const RegisterSet pointer = random() % 4 == 0 ? drawn_register() : 0;
    const InstructionClass kind = random() % 2 == 0 ? InstructionClass::kMove : InstructionClass::kInteger;
    instructions.push_back(instruction(kind, drawn_register(), random() % 2 == 0 ? drawn_register() : 0,
                                       drawn_register(), pointer));
    // Some are in two lines, and some were seldom used.
    const std::uint64_t address = 0x1000 + random() % (random() % 6 == 0 ? 256 : 12) * 60;
    const std::uint64_t form = random() % 8;
    if (form != 0) accesses.push_back({address, 8, number, form > 2, form <= 3});
    if (form == 7) accesses.push_back({address + 512, 8, number, true, false});
  }
  void next_block() {
    instructions.clear();
    accesses.clear();
    for (std::uint64_t left = 1 + random() % 12; left > 0; --left) {
      if (random() % 3 == 0) add_accessing();
      else instructions.push_back(computing());
    }
  }

  std::mt19937 random;
  std::vector<BlockInstruction> instructions;
  std::vector<ProgramAccess> accesses;
};

class CachedPathTest : public ProgramCaptureTest {
 protected:
  /// What is recorded of a program, with its counts behind. That its instructions read more registers, which
  /// nothing is ever written to, changes nothing but that they have too many for the short way.
  std::vector<std::uint64_t> recorded(const CaptureParts& parts, unsigned seed, bool by_the_short_way) {
    start(parts, 512, 2048);
    DrawnProgram program(seed);
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 400; ++i) {
      program.next_block();
      std::vector<BlockInstruction> instructions = program.instructions;
      for (BlockInstruction& each : instructions) each.data_reads |= by_the_short_way ? 0 : kNeverWritten;
      run(std::move(instructions), program.accesses, test::kThread, false, 64 * (program.random() % 9));
    }
    for (const Access& record : capture_->take()) {
      for (const std::uint64_t part :
           {record.address.value(), std::uint64_t{record.size}, static_cast<std::uint64_t>(record.kind),
            static_cast<std::uint64_t>(record.role), std::uint64_t{record.instruction_gap},
            std::uint64_t{record.dependence}, std::uint64_t{record.dependence_cycles},
            std::uint64_t{record.cycles}})
        all.push_back(part);
    }
    for (const std::uint64_t count : {capture_->loads(), capture_->stores(), capture_->mispredictions()})
      all.push_back(count);
    for (const std::size_t level : {0U, 1U}) all.push_back(filter_->counts(level).hits);
    return all;
  }
};

TEST_F(CachedPathTest, GivesWhatTheLongWayGives) {
  CaptureParts with_tlb = test::timed();
  with_tlb.tlb = TlbParams{.entries = 4, .ways = 4};
  CaptureParts narrow = test::timed();
  narrow.core->width = 1;
  narrow.core->window = 8;
  narrow.core->store_buffer = 2;
  CaptureParts shallow = test::timed();
  shallow.core->window = 3;  // whatever retires late is felt at once
  for (const CaptureParts& parts : {CaptureParts{}, test::timed(), with_tlb, narrow, shallow}) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      const std::vector<std::uint64_t> expected = recorded(parts, seed, false);
      EXPECT_GT(expected.size(), 800U);
      EXPECT_EQ(recorded(parts, seed, true), expected) << seed;
    }
  }
}

}  // namespace
}  // namespace cxloom
