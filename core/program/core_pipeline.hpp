// The pace of a thread: when its instructions would be executed if nothing ever waited for memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parameters.hpp"
#include "base/ring.hpp"
#include "program/feed/block.hpp"

namespace cxloom {

/// The cycles that an out-of-order core takes.
struct CorePipelineParams {
  std::uint32_t width = 6;
  std::uint32_t window = 512;
  std::vector<std::uint32_t> load_cycles{
      5};  ///< from the address of a load to its data, by level of the caches
  std::uint32_t branch_penalty =
      17;  ///< from the operands of a branch that was predicted wrongly to what follows
  std::uint32_t branch_entries = 4096;  ///< of each table that predicts branches
  std::uint32_t store_buffer = 112;     ///< stores that have come into the window and not left in order

  bool operator==(const CorePipelineParams&) const = default;
};

/// Cycles from the operands of an instruction to its result, by class.
inline constexpr std::array<std::uint8_t, kInstructionClasses> kLatencies = [] {
  std::array<std::uint8_t, kInstructionClasses> cycles{};
  const auto set = [&](InstructionClass kind, std::uint8_t latency) {
    cycles[static_cast<std::size_t>(kind)] = latency;
  };
  // Golden Cove: Intel 64 and IA-32 Architectures Optimization Reference Manual; divisions of 64 bits and of
  // double precision.
  for (std::uint8_t& each : cycles) each = 1;
  set(InstructionClass::kMultiply, 3);
  set(InstructionClass::kDivide, 14);
  set(InstructionClass::kFloat, 3);
  set(InstructionClass::kFloatMultiply, 4);
  set(InstructionClass::kFloatDivide, 14);
  set(InstructionClass::kFence, 33);
  set(InstructionClass::kNothing, 0);
  return cycles;
}();

/// Instructions are dispatched in order, `width` per cycle, each when the one `window` places before it has
/// retired; they are executed when their operands are there, whatever the order, and retire in order.
class CorePipeline {
 public:
  explicit CorePipeline(const CorePipelineParams& params = {})
      : width_(params.width), load_cycles_(params.load_cycles), retired_(params.window) {}

  /// The next instruction is dispatched.
  void dispatch() {
    const std::uint64_t room = retired_[at_];  // still that of the one a window before
    if (++in_cycle_ > width_ || room > now_) {
      if (!walks_.empty()) [[unlikely]]
        wait_for_walks(room);
      now_ = std::max(now_ + (in_cycle_ > width_ ? 1 : 0), room);
      in_cycle_ = 1;
    }
  }
  std::uint64_t now() const { return now_; }
  /// The instruction that was dispatched last is executed then; it would have been so many cycles earlier
  /// without a page walk.
  void retire(std::uint64_t cycle, std::uint64_t walk = 0) {
    if (walk > 0 && cycle > last_) [[unlikely]]
      walks_.push_back({cycle, std::min(walk, cycle - last_)});
    last_ = std::max(last_, cycle);
    retired_[at_] = last_;
    if (++at_ == retired_.size()) at_ = 0;
  }
  /// None is dispatched before that cycle.
  void wait_until(std::uint64_t cycle) {
    if (cycle <= now_) return;
    if (!walks_.empty()) [[unlikely]]
      wait_for_walks(cycle);
    now_ = cycle;
    in_cycle_ = 0;
  }
  /// What a load takes that finds its line in that level of the caches. A line in no level takes as long as
  /// one in the first: whoever makes the access adds the time of the memory.
  std::uint32_t load_cycles(std::size_t level) const {
    return load_cycles_[level < load_cycles_.size() ? level : 0];
  }
  /// Whether instructions are in the window that waited for their pages.
  bool has_walks() const { return !walks_.empty(); }
  std::uint64_t longest_load() const { return load_cycles_.back(); }
  /// Cycles up to now without a dispatch because an instruction had to wait for its page.
  std::uint64_t walked() const { return walked_; }

  /// The pace of several instructions one behind the other, none of which waits for its page: a copy that is
  /// in registers, until it is put back.
  class Front {
   public:
    explicit Front(CorePipeline& pace)
        : pace_(pace),
          retired_(pace.retired_.data() + pace.at_),
          now_(pace.now_),
          last_(pace.last_),
          in_cycle_(pace.in_cycle_) {}

    void dispatch() {
      const std::uint64_t room = *retired_;
      const bool full = ++in_cycle_ > pace_.width_;
      if (full || room > now_) {
        now_ = std::max(now_ + (full ? 1 : 0), room);
        in_cycle_ = 1;
      }
    }
    std::uint64_t now() const { return now_; }
    void retire(std::uint64_t cycle) {
      last_ = std::max(last_, cycle);
      *retired_ = last_;
      if (++retired_ == pace_.retired_.data() + pace_.retired_.size()) retired_ = pace_.retired_.data();
    }
    void put_back() {
      pace_.at_ = static_cast<std::size_t>(retired_ - pace_.retired_.data());
      pace_.now_ = now_;
      pace_.last_ = last_;
      pace_.in_cycle_ = in_cycle_;
    }

   private:
    CorePipeline& pace_;
    std::uint64_t* retired_;  // of the next one
    std::uint64_t now_;
    std::uint64_t last_;
    std::uint32_t in_cycle_;
  };

 private:
  /// An instruction that retires then, with so many cycles of a walk since the one before it retired.
  struct Walk {
    std::uint64_t retired;
    std::uint64_t cycles;
  };

  void wait_for_walks(std::uint64_t until) {
    std::uint64_t cycles = 0;
    for (; !walks_.empty() && walks_.front().retired <= until; walks_.pop_front())
      cycles += walks_.front().retired > now_ ? walks_.front().cycles : 0;
    walked_ += std::min(cycles, until - now_);
  }

  std::uint32_t width_;
  std::vector<std::uint32_t> load_cycles_;
  std::vector<std::uint64_t> retired_;  // cycle, of the last `window` instructions
  std::size_t at_ = 0;                  // of the next one
  std::uint64_t now_ = 0;
  std::uint32_t in_cycle_ = 0;  // dispatched
  std::uint64_t last_ = 0;
  Ring<Walk> walks_;  // of the instructions in the window, or a few more
  std::uint64_t walked_ = 0;
};

}  // namespace cxloom
