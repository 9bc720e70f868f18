// A write buffer that gathers the parts of a block, until the block goes to the media.
#pragma once

#include <cstdint>

#include "base/intrusive_list.hpp"
#include "base/intrusive_queue.hpp"
#include "component/component.hpp"
#include "kernel/distribution.hpp"
#include "kernel/kernel.hpp"
#include "kernel/wait_list.hpp"
#include "memory/media/block_table.hpp"
#include "memory/media/divided_access.hpp"

namespace cxloom {

/// An `Entry` is a block in the buffer: `next`, `previous`, `block`, `parts`, and `held` until it is on its
/// way. The owner makes an entry (`new_entry(block)`), hears of each piece that is in (`buffered(piece,
/// entry, merged)`), and sends an entry to the media (`drain(entry)`).
template <class Owner, class Entry>
class CoalescingBuffer final : public Waiter {
 public:
  struct Shape {
    std::uint32_t room;   ///< blocks; 0: no write waits for room
    std::uint32_t hold;   ///< blocks held back for more of their parts
    std::uint64_t whole;  ///< the parts of a whole block
  };
  /// `what`: its name where a run stands still. `waiting` counts the writes that wait for room, too.
  CoalescingBuffer(Owner& owner, Kernel& kernel, const Component& device, const char* what, Shape shape,
                   LevelMonitor& waiting)
      : owner_(owner),
        kernel_(kernel),
        device_(device),
        shape_(shape),
        waiting_(waiting),
        turn_(kernel, what, device) {}
  const EventHandler& owner() const override { return device_; }

  void write(BlockPiece& piece) {
    if (merges(piece)) return;
    if (shape_.room == 0 || (used_ < shape_.room && !keeps_waiting())) {
      admit(piece);
      return;
    }
    if (!keeps_waiting()) turn_.join(*this, kernel_.now());
    writers_.push(piece);
    waiting_.change(kernel_.now(), +1);
  }
  /// Parts of a block that are here, and not yet being written.
  std::uint64_t parts_of(std::uint64_t block) const {
    const Entry* const entry = blocks_.find(block);
    return entry ? entry->parts : 0;
  }
  /// The media begin to write the block, which takes no more parts.
  void begin(const Entry& entry) { blocks_.erase(entry.block); }
  /// The media have written a block. Writes that wait come in.
  void written() {
    --used_;
    occupied_.change(kernel_.now(), -1);
    while (keeps_waiting() && used_ < shape_.room) {
      BlockPiece& piece = writers_.pop();
      waiting_.change(kernel_.now(), -1);
      if (!merges(piece)) admit(piece);
      if (!keeps_waiting()) turn_.leave(*this);
    }
  }

  bool empty() const { return used_ == 0; }
  bool keeps_waiting() const { return !writers_.empty(); }
  /// Blocks in it.
  LevelMonitor& occupied() { return occupied_; }
  const LevelMonitor& occupied() const { return occupied_; }

 private:
  bool merges(BlockPiece& piece) {
    Entry* const entry = blocks_.find(piece.block);
    if (!entry) return false;
    entry->parts |= piece.parts;
    owner_.buffered(piece, *entry, true);
    if (entry->parts == shape_.whole && entry->held) drain(*entry);
    return true;
  }
  void admit(BlockPiece& piece) {
    Entry& entry = owner_.new_entry(piece.block);
    entry.block = piece.block;
    entry.parts = piece.parts;
    blocks_.put(piece.block, entry);
    ++used_;
    occupied_.change(kernel_.now(), +1);
    owner_.buffered(piece, entry, false);
    entry.held = true;
    held_.push_back(entry);
    if (entry.parts == shape_.whole) drain(entry);
    while (held_.size() > shape_.hold) drain(held_.front());
  }
  void drain(Entry& entry) {
    entry.held = false;
    held_.remove(entry);
    owner_.drain(entry);
  }

  Owner& owner_;
  Kernel& kernel_;
  const Component& device_;
  Shape shape_;
  LevelMonitor& waiting_;
  WaitList turn_;
  BlockTable<Entry> blocks_;  // entries that take more parts
  IntrusiveList<Entry> held_;
  IntrusiveQueue<BlockPiece> writers_;  // that wait for room
  std::uint32_t used_ = 0;
  LevelMonitor occupied_;
};

}  // namespace cxloom
