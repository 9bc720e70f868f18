// What a block consists of, on its way to the reader.
#pragma once

#include <cxloom/program_feed.hpp>

#include <cstdint>
#include <span>

namespace cxloom::qemu {

/// Waits until there is room for a block of so many instructions; a writer to whom nobody listens any longer
/// is muted.
inline void make_room_for_block(FeedWriter& writer, std::size_t instructions, FeedControl& control) {
  const std::uint64_t words = block_form::kHeadWords + block_form::kInstructionWords * instructions;
  if (!writer.muted() && writer.room() < words && !writer.wait_for(words, control)) writer.mute();
}

/// Tells a block, for which there must be room. A muted writer tells nothing.
inline void tell_block(FeedWriter& writer, std::uint32_t number, std::uint64_t address,
                       std::span<const BlockInstruction> instructions) {
  if (writer.muted()) return;
  std::uint64_t at = 0;
  writer.ahead(at++) = block_form::head(number, static_cast<std::uint32_t>(instructions.size()));
  writer.ahead(at++) = address;
  for (const BlockInstruction& instruction : instructions) {
    std::uint64_t form[block_form::kInstructionWords];
    block_form::write(instruction, form);
    for (const std::uint64_t word : form) writer.ahead(at++) = word;
  }
  writer.publish(at);
}

}  // namespace cxloom::qemu
