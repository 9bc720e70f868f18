// The translation layer of one plane of flash: where its logical pages lie, which blocks are free, which one
// is collected. It has no data and no timing.
//
// A page of flash is programmed once and then only erased with its whole block. So a write
// goes to the next page of the open block, and what was there before is no longer current.
// A block is made free again by moving its current pages to the open block and erasing it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "base/zeroed_array.hpp"
#include "memory/flash/gc_policy.hpp"
#include "memory/flash/params.hpp"

namespace cxloom {

class FlashPlane {
 public:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  struct Shape {
    std::uint32_t blocks;
    std::uint32_t pages;    ///< of a block
    std::uint32_t logical;  ///< pages; fewer than (blocks - least_free) x pages
    std::uint32_t filled;   ///< of them written at the start, one after the other
    std::uint32_t least_free;
    FlashWearLevelling levelling;
    std::uint32_t wear_gap;
  };
  FlashPlane(const Shape& shape, GcPolicy& collector);

  /// Where the data of a logical page are: block x pages + page. kNowhere: it was never written.
  std::uint32_t place(std::uint32_t logical) const;
  /// The logical page whose current data a page has; kNowhere if none.
  std::uint32_t owner(std::uint32_t physical) const;

  /// Whether a write finds a page. A block is kept for what collection moves: the last free one and, once
  /// that is open, its pages.
  bool has_room() const { return free_.size() >= 2 || (free_.size() == 1 && open_ != kNowhere); }
  /// Writes a logical page: to the page that is returned. There must be room.
  std::uint32_t write(std::uint32_t logical);

  /// Whether fewer blocks are free than there should be.
  bool must_collect() const { return free_.size() < shape_.least_free; }
  /// The block to be collected now.
  std::uint32_t choose_victim();
  /// The first page of a block from `page` on whose data are current; the number of pages if there is none.
  std::uint32_t next_current(std::uint32_t block, std::uint32_t page) const;
  /// Moves the current data of a page: to the page that is returned.
  std::uint32_t move(std::uint32_t physical);
  /// A block without current pages is free from now on.
  void erase(std::uint32_t block);

  /// Writes logical pages drawn at random, and collects as needed, in no time: what a device has been
  /// through.
  void age(std::uint64_t writes, RandomStream& random);
  /// The wear of such writes, without moving anything: so many more erases, spread evenly over worn blocks.
  void wear(std::uint64_t erases);
  /// Erases that all blocks have borne.
  std::uint64_t erases() const;

  const std::vector<FlashBlock>& blocks() const { return blocks_; }
  std::uint32_t pages() const { return shape_.pages; }
  std::uint32_t block_of(std::uint32_t physical) const { return physical / shape_.pages; }

 private:
  std::uint32_t program(std::uint32_t logical);
  void open_block();
  void leave(std::uint32_t physical);
  const FlashBlock* least_worn() const;

  // Zero stands for the state at the start: the first `filled` pages, block by block.
  static constexpr std::uint32_t kAtFirst = 0;

  Shape shape_;
  GcPolicy& collector_;
  std::vector<FlashBlock> blocks_;
  ZeroedArray<std::uint32_t> place_;  // by logical page: place + 1
  ZeroedArray<std::uint32_t> owner_;  // by physical page: owner + 1; kNowhere: nobody
  std::vector<std::uint32_t> free_;   // blocks; the one freed last is the last
  std::uint32_t open_ = kNowhere;     // block
  std::uint32_t next_ = 0;            // page of it
  std::uint64_t programmed_ = 0;      // pages
  std::uint32_t most_erases_ = 0;
  bool levelled_ = false;  // the last victim was chosen for its wear
};

}  // namespace cxloom
