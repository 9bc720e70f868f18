// The block that a thread is in, whose accesses are told one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "program/feed/blocks.hpp"
#include "program/feed/program_sink.hpp"
#include "program/feed/record.hpp"

namespace cxloom {

/// Collects the accesses of a run through a block. What is joined, dropped or refused depends on the block
/// and on what came before.
class CurrentBlock {
 public:
  static constexpr std::size_t kMostAccesses =
      1U << 18U;  // of one run: XSAVE has some hundred, and QEMU 10 copies 65536 elements of a string in one

  /// The block at hand; none behind one that was left.
  const ProgramBlock* block() const { return block_; }
  std::span<const ProgramAccess> accesses() const { return accesses_; }
  /// Whether the first instruction of the block is a repeated one that goes on.
  bool is_continued() const { return continued_; }

  void enter(const ProgramBlock& block, const ProgramBlock* before) {
    block_ = &block;
    // A repeated instruction is entered again for each element, as a block that begins with it.
    continued_ = block.repeats && before != nullptr && before->last == block.address;
  }
  /// The block at hand was left before the instruction that `again` begins with, and `again` is entered.
  /// True: the block at hand is now what was done of it, and has to be told first. False: nothing of it was
  /// done.
  bool leave_before(const ProgramBlock& again);
  /// Takes the place of the block at hand, of which nothing was done.
  void replace(const ProgramBlock& block) {
    accesses_.clear();
    block_ = &block;
  }
  void leave() {
    accesses_.clear();
    block_ = nullptr;
  }
  /// An access, as its record tells it, and its place if a machine has said it. False if it belongs to no
  /// instruction, so that it is dropped. Throws SimulationError if the record cannot be.
  bool access(std::uint64_t record, std::uint64_t place = ProgramAccess::kByAddress);

 private:
  const ProgramBlock* block_ = nullptr;
  ProgramBlock done_;  // what was done of one that was left
  bool continued_ = false;
  std::size_t strays_ = 0;  // in a row
  std::vector<ProgramAccess> accesses_;
};

inline bool CurrentBlock::leave_before(const ProgramBlock& again) {
  std::uint64_t address = block_->address;
  std::size_t done = 0;
  while (done < block_->instructions.size() && address != again.address)
    address += block_->instructions[done++].length;
  if (done == 0) return false;
  if (done == block_->instructions.size()) return true;  // it was not left, or somewhere else
  // What was left may be what was done of a block that had been left before.
  if (block_ != &done_) {
    done_.address = block_->address;
    done_.instructions.assign(block_->instructions.begin(),
                              block_->instructions.begin() + static_cast<std::ptrdiff_t>(done));
  } else {
    done_.instructions.resize(done);
  }
  done_.complete();
  block_ = &done_;
  return true;
}

inline bool CurrentBlock::access(std::uint64_t record, std::uint64_t place) {
  const std::uint32_t instruction = feed::instruction(record);
  if (!feed::reads(record) && !feed::writes(record)) refuse_feed("an access that neither reads nor writes");
  // QEMU 7.2 tells what it stores for a signal (the registers on the stack) as accesses of whatever
  // instruction last had some.
  if (block_ == nullptr || instruction >= block_->instructions.size() ||
      (!accesses_.empty() && instruction < accesses_.back().instruction)) {
    if (++strays_ > kMostAccesses) refuse_feed("accesses of no instruction without end");
    return false;
  }
  strays_ = 0;
  const std::uint64_t address = feed::address(record);
  const std::uint32_t size = feed::size(record);
  if (!accesses_.empty()) {
    ProgramAccess& last = accesses_.back();
    // The emulator splits an access of more than eight bytes into pieces.
    if (instruction == last.instruction && address == last.address + last.size &&
        feed::reads(record) == last.reads && feed::writes(record) == last.writes &&
        last.size + size <= block_->instructions[instruction].operand_bytes &&
        (place == ProgramAccess::kByAddress || place == last.place + last.size)) {
      last.size = static_cast<std::uint16_t>(last.size + size);
      return true;
    }
    if (accesses_.size() >= kMostAccesses) refuse_feed("an instruction without end");
  }
  accesses_.push_back({address, static_cast<std::uint16_t>(size), static_cast<std::uint16_t>(instruction),
                       feed::reads(record), feed::writes(record), place});
  return true;
}

}  // namespace cxloom
