// The cycle of a memory latency benchmark (lat_mem_rd of LMbench): a chase that goes through all blocks in
// one fixed order.
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/schema.hpp"
#include "workload/pattern/pattern.hpp"

namespace cxloom {

struct CycleParams : PatternParams {
  static constexpr std::uint64_t kPage = 4096;

  static void describe(Schema<CycleParams>& schema) {
    schema.doc(
        "A chase through all blocks in one fixed order, over and over: pages of 4 KiB in random order, a new "
        "page with "
        "each step, and the blocks of a page in bit-reversed order. Each is needed to know the next.");
    PatternParams::describe_in(schema);
    schema.rule(
        "the blocks of a page of 4 KiB come in bit-reversed order: their size must be a power of two, 4KiB "
        "or less",
        [](const CycleParams& params) {
          return std::has_single_bit(params.size.count()) && params.size.count() <= CycleParams::kPage;
        },
        "size");
  }
};

class Cycle final : public Pattern {
 public:
  using Params = CycleParams;
  static std::vector<std::string> traits() { return {"dependent"}; }
  Cycle(const Params& params, const PatternContext& context)
      : Pattern(params, context),
        block_bits_(static_cast<unsigned>(std::countr_zero(CycleParams::kPage / params.size.count()))),
        pages_((blocks() + (1ULL << block_bits_) - 1) >> block_bits_) {
    std::iota(pages_.begin(), pages_.end(), std::uint64_t{0});
    for (std::uint64_t left = pages_.size(); left > 1; --left)
      std::swap(pages_[left - 1], pages_[random().below(left)]);
  }

 private:
  std::uint64_t next_block() override {
    while (true) {
      const std::uint64_t block = (pages_[page_] << block_bits_) + reversed(place_);
      if (++page_ == pages_.size()) {
        page_ = 0;
        place_ = (place_ + 1) & ((std::uint64_t{1} << block_bits_) - 1);
      }
      if (block < blocks()) return block;  // the last page may be a part of one
    }
  }
  std::uint32_t dependence() const override { return 1; }

  std::uint64_t reversed(std::uint64_t place) const {
    std::uint64_t mirrored = 0;
    for (unsigned bit = 0; bit < block_bits_; ++bit)
      mirrored |= (place >> bit & 1U) << (block_bits_ - 1 - bit);
    return mirrored;
  }

  unsigned block_bits_;  // of the number of a block in its page
  std::vector<std::uint64_t> pages_;
  std::uint64_t page_ = 0;   // the next one, by its place in the order
  std::uint64_t place_ = 0;  // that its block has in the order of each page
};

}  // namespace cxloom
