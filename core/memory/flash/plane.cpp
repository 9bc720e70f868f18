#include "memory/flash/plane.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace cxloom {

FlashPlane::FlashPlane(const Shape& shape, GcPolicy& collector)
    : shape_(shape),
      collector_(collector),
      blocks_(shape.blocks),
      place_(shape.logical),
      owner_(std::size_t{shape.blocks} * shape.pages) {
  const std::uint32_t full = shape.filled / shape.pages;
  const std::uint32_t rest = shape.filled % shape.pages;
  for (std::uint32_t i = 0; i < full; ++i) {
    blocks_[i].state = FlashBlock::State::kFull;
    blocks_[i].current = shape.pages;
  }
  // In descending order: the first ones are taken first.
  for (std::uint32_t i = shape.blocks; i-- > full;) free_.push_back(i);
  if (rest == 0) return;
  open_block();
  blocks_[open_].current = next_ = rest;
}

std::uint32_t FlashPlane::place(std::uint32_t logical) const {
  const std::uint32_t found = place_[logical];
  if (found != kAtFirst) return found - 1;
  return logical < shape_.filled ? logical : kNowhere;
}

std::uint32_t FlashPlane::owner(std::uint32_t physical) const {
  const std::uint32_t found = owner_[physical];
  if (found == kNowhere) return kNowhere;
  if (found != kAtFirst) return found - 1;
  return physical < shape_.filled ? physical : kNowhere;
}

std::uint32_t FlashPlane::write(std::uint32_t logical) {
  ensure(has_room(), "a write to a plane of flash without a free page");
  const std::uint32_t before = place(logical);
  if (before != kNowhere) leave(before);
  return program(logical);
}

std::uint32_t FlashPlane::move(std::uint32_t physical) {
  const std::uint32_t logical = owner(physical);
  ensure(logical != kNowhere, "a page of flash is moved whose data are not current");
  leave(physical);
  return program(logical);
}

std::uint32_t FlashPlane::program(std::uint32_t logical) {
  if (open_ == kNowhere) open_block();
  FlashBlock& block = blocks_[open_];
  const std::uint32_t physical = open_ * shape_.pages + next_;
  place_[logical] = physical + 1;
  owner_[physical] = logical + 1;
  block.modified = ++programmed_;
  ++block.current;
  if (++next_ == shape_.pages) {
    block.state = FlashBlock::State::kFull;
    block.filled = programmed_;
    open_ = kNowhere;
  }
  return physical;
}

/// The data of a page are no longer current.
void FlashPlane::leave(std::uint32_t physical) {
  owner_[physical] = kNowhere;
  FlashBlock& block = blocks_[block_of(physical)];
  --block.current;
  block.modified = programmed_;
}

void FlashPlane::open_block() {
  ensure(!free_.empty(), "a plane of flash has no free block");
  auto chosen = free_.end() - 1;
  if (shape_.levelling != FlashWearLevelling::kNone) {
    chosen = std::ranges::min_element(free_, [&](std::uint32_t a, std::uint32_t b) {
      return blocks_[a].erases != blocks_[b].erases ? blocks_[a].erases < blocks_[b].erases : a < b;
    });
  }
  open_ = *chosen;
  *chosen = free_.back();
  free_.pop_back();
  blocks_[open_].state = FlashBlock::State::kOpen;
  next_ = 0;
}

const FlashBlock* FlashPlane::least_worn() const {
  const FlashBlock* least = nullptr;
  for (const FlashBlock& block : blocks_) {
    if (block.state == FlashBlock::State::kFull && (!least || block.erases < least->erases)) least = &block;
  }
  return least;
}

/// Every other victim may be one that has been erased so much less often than another that its data must be
/// cold.
std::uint32_t FlashPlane::choose_victim() {
  const FlashBlock* victim = nullptr;
  if (shape_.levelling == FlashWearLevelling::kStatic && !levelled_) {
    const FlashBlock* const least = least_worn();
    if (least && most_erases_ - least->erases > shape_.wear_gap) victim = least;
  }
  levelled_ = victim != nullptr;
  double highest = 0.0;
  for (const FlashBlock& block : blocks_) {
    if (levelled_) break;
    if (block.state != FlashBlock::State::kFull) continue;
    const double score = collector_.score(block, programmed_);
    const bool spares = victim && score == highest && shape_.levelling != FlashWearLevelling::kNone &&
                        block.erases < victim->erases;
    if (victim && !(score > highest) && !spares) continue;
    victim = &block;
    highest = score;
  }
  ensure(victim != nullptr, "a plane of flash has no block to collect");
  return static_cast<std::uint32_t>(victim - blocks_.data());
}

std::uint32_t FlashPlane::next_current(std::uint32_t block, std::uint32_t page) const {
  while (page < shape_.pages && owner(block * shape_.pages + page) == kNowhere) ++page;
  return page;
}

void FlashPlane::erase(std::uint32_t block) {
  FlashBlock& erased = blocks_[block];
  ensure(erased.state == FlashBlock::State::kFull && erased.current == 0,
         "a block of flash is erased that has current pages, or is open");
  const std::uint32_t first = block * shape_.pages;
  for (std::uint32_t i = first; i < first + shape_.pages; ++i) owner_[i] = kNowhere;
  erased.state = FlashBlock::State::kFree;
  most_erases_ = std::max(most_erases_, ++erased.erases);
  free_.push_back(block);
}

void FlashPlane::age(std::uint64_t writes, RandomStream& random) {
  for (std::uint64_t i = 0; i < writes; ++i) {
    while (must_collect()) {
      const std::uint32_t victim = choose_victim();
      for (std::uint32_t page = next_current(victim, 0); page < shape_.pages;
           page = next_current(victim, page + 1)) {
        move(victim * shape_.pages + page);
      }
      erase(victim);
    }
    write(static_cast<std::uint32_t>(random.below(shape_.logical)));
  }
}

void FlashPlane::wear(std::uint64_t erases) {
  const auto used = static_cast<std::uint64_t>(
      std::ranges::count_if(blocks_, [](const FlashBlock& b) { return b.erases > 0; }));
  if (used == 0) return;
  std::uint64_t rest = erases % used;
  for (FlashBlock& block : blocks_) {
    if (block.erases == 0) continue;
    block.erases += static_cast<std::uint32_t>(erases / used);
    if (rest > 0) {
      ++block.erases;
      --rest;
    }
    most_erases_ = std::max(most_erases_, block.erases);
  }
}

std::uint64_t FlashPlane::erases() const {
  std::uint64_t sum = 0;
  for (const FlashBlock& block : blocks_) sum += block.erases;
  return sum;
}

}  // namespace cxloom
