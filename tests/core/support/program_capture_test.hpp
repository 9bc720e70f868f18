// Programs that a test plays to a capture, and what it records of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/support/victims.hpp"
#include "program/program_capture.hpp"

namespace cxloom::test {

inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
inline constexpr RegisterSet kA = 1, kB = 2, kC = 4, kStackPointer = 8;
inline constexpr ProgramThread kThread{1, 0};

inline BlockInstruction instruction(InstructionClass kind, RegisterSet address, RegisterSet data,
                                    RegisterSet result, RegisterSet pointers = 0, std::uint16_t flags = 0) {
  BlockInstruction made;
  made.kind = kind;
  made.address_reads = address;
  made.data_reads = data;
  made.data_writes = result;
  made.pointer_writes = pointers;
  made.length = 4;
  made.flags = flags;
  return made;
}
inline BlockInstruction load(RegisterSet to, RegisterSet address) {
  return instruction(InstructionClass::kMove, address, 0, to);
}
inline BlockInstruction store(RegisterSet from, RegisterSet address) {
  return instruction(InstructionClass::kMove, address, from, 0);
}
inline BlockInstruction add(RegisterSet to, RegisterSet from) {
  return instruction(InstructionClass::kInteger, 0, to | from, to);
}
inline BlockInstruction flushing(RegisterSet address, std::uint16_t flag = BlockInstruction::kFlushDropping) {
  return instruction(InstructionClass::kOther, address, 0, 0, 0, flag);
}
inline BlockInstruction fence(std::uint16_t flags = BlockInstruction::kOrdersFlushes) {
  return instruction(InstructionClass::kFence, 0, 0, 0, 0, flags);
}

inline ProgramAccess read(std::uint16_t of, std::uint64_t address) { return {address, 8, of, true, false}; }
inline ProgramAccess write(std::uint16_t of, std::uint64_t address) { return {address, 8, of, false, true}; }

// A program is played to a capture, block by block, without caches if nothing else is said.
class ProgramCaptureTest : public testing::Test {
 protected:
  void start(const CaptureParts& parts = {}, std::uint64_t cache_bytes = 0, std::uint64_t second_bytes = 0) {
    std::vector<CacheParams> levels;
    if (cache_bytes > 0) levels.push_back({.size = Bytes{cache_bytes}, .ways = 4});
    if (second_bytes > 0) levels.push_back({.size = Bytes{second_bytes}, .ways = 4});
    filter_.emplace(levels, test::victims(), false, 0, kNoLimit);
    capture_.emplace(*filter_, parts);
  }
  void run(std::vector<BlockInstruction> instructions, std::vector<ProgramAccess> accesses,
           const ProgramThread& thread = kThread, bool continued = false, std::uint64_t at = 0) {
    ProgramBlock block;
    block.instructions = std::move(instructions);
    block.address = at;
    block.complete();
    capture_->block(thread, block, accesses, continued);
  }
  std::vector<std::uint32_t> dependences() {
    std::vector<std::uint32_t> result;
    for (const Access& record : records()) result.push_back(record.dependence);
    return result;
  }
  const std::vector<Access>& records() {
    for (const Access& record : capture_->take()) records_.push_back(record);
    return records_;
  }

  std::optional<CaptureFilter> filter_;
  std::optional<ProgramCapture> capture_;
  std::vector<Access> records_;
};

using Numbers = std::vector<std::uint32_t>;

// A core whose closed forms are simple: four instructions per cycle.
inline CaptureParts timed(std::uint32_t penalty = 17) {
  return {.core = CorePipelineParams{
              .width = 4, .window = 64, .load_cycles = {5, 15}, .branch_penalty = penalty}};
}

/// Cycles up to a last access, which misses.
inline std::uint64_t cycles_of(const std::vector<Access>& records) {
  std::uint64_t sum = 0;
  for (const Access& record : records) sum += record.cycles;
  return sum;
}

}  // namespace cxloom::test
