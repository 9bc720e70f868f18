#include "program/feed/blocks.hpp"

#include <utility>

#include "base/error.hpp"
#include "program/feed/record.hpp"
#include "program/feed/room.hpp"

namespace cxloom {

namespace {

BlockInstruction instruction_of(const std::uint64_t* words) {
  BlockInstruction result;
  result.address_reads = words[0];
  result.data_reads = words[1];
  result.data_writes = words[2];
  result.pointer_writes = words[3];
  const std::uint64_t rest = words[4];
  const auto kind = static_cast<std::uint8_t>(rest);
  result.length = static_cast<std::uint8_t>(rest >> 8U);
  result.operand_bytes = static_cast<std::uint16_t>(rest >> 16U);
  result.flags = static_cast<std::uint16_t>(rest >> 32U);
  if (kind >= kInstructionClasses || result.length == 0 || result.flags > BlockInstruction::kAllFlags ||
      rest >> 48U != 0) {
    refuse_feed("an instruction of no known class");
  }
  result.kind = static_cast<InstructionClass>(kind);
  return result;
}

}  // namespace

void refuse_feed(const std::string& what) {
  throw SimulationError("invalid record from the emulator: " + what);
}

void read_blocks(FeedRingHead& head, const std::uint64_t* words,
                 std::vector<std::shared_ptr<const ProgramBlock>>& blocks) {
  std::uint64_t at = head.read.load(std::memory_order_relaxed);
  const std::uint64_t written = head.written.load(std::memory_order_acquire);
  if (at == written) return;
  const std::uint64_t mask = head.words - 1;
  if (written - at > head.words) refuse_feed("more words than there is room for");
  while (at != written) {
    const std::uint64_t first = words[at & mask];
    const auto count = static_cast<std::uint32_t>(first >> 32U & 0xFFFFU);
    const std::uint64_t length =
        block_form::kHeadWords + std::uint64_t{block_form::kInstructionWords} * count;
    if (first >> 48U != block_form::kMark || static_cast<std::uint32_t>(first) != blocks.size() ||
        count == 0 || count > feed::kMostInstructions || length > written - at) {
      refuse_feed("a block out of order");
    }
    auto block = std::make_shared<ProgramBlock>();
    block->address = words[(at + 1) & mask];
    block->instructions.reserve(count);
    at += block_form::kHeadWords;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint64_t parts[block_form::kInstructionWords];
      for (std::uint64_t& part : parts) part = words[at++ & mask];
      block->instructions.push_back(instruction_of(parts));
    }
    block->complete();
    blocks.push_back(std::move(block));
  }
  note_read(head, at);
}

}  // namespace cxloom
