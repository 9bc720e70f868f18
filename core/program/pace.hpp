// The pace of a thread: when its instructions would be executed if nothing ever waited for memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parameters.hpp"
#include "program/block.hpp"

namespace cxloom {

/// What an out-of-order core takes, in cycles.
struct PaceParams {
  std::uint32_t width = 6;
  std::uint32_t window = 512;
  std::uint32_t load_cycles = 5;  ///< from the address of a load to its data, in the nearest cache
};

/// Cycles from the operands of an instruction to its result, by class.
inline constexpr std::array<std::uint8_t, kInstructionClasses> kLatencies = [] {
  std::array<std::uint8_t, kInstructionClasses> cycles{};
  const auto set = [&](InstructionClass kind, std::uint8_t latency) {
    cycles[static_cast<std::size_t>(kind)] = latency;
  };
  // Golden Cove: Intel 64 and IA-32 Architectures Optimization Reference Manual; divisions of 64 bits and of double precision.
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

/// Instructions are dispatched in order, `width` a cycle, each when that `window` places before has retired; they are executed
/// when their operands are there, whatever the order, and retire in order.
class Pace {
 public:
  explicit Pace(const PaceParams& params = {}) : params_(params), retired_(params.window) {}

  /// The next instruction is dispatched.
  void dispatch() {
    const std::uint64_t room = retired_[at_];  // still that of the one a window before
    if (++in_cycle_ > params_.width || room > now_) {
      now_ = std::max(now_ + (in_cycle_ > params_.width ? 1 : 0), room);
      in_cycle_ = 1;
    }
  }
  std::uint64_t now() const { return now_; }
  std::uint32_t load_cycles() const { return params_.load_cycles; }
  /// When the last of these registers is known, at the earliest now.
  std::uint64_t known(RegisterSet registers) const {
    std::uint64_t latest = now_;
    for (; registers != 0; registers &= registers - 1)
      latest = std::max(latest, known_[static_cast<std::size_t>(std::countr_zero(registers))]);
    return latest;
  }
  void set(RegisterSet registers, std::uint64_t cycle) {
    for (; registers != 0; registers &= registers - 1)
      known_[static_cast<std::size_t>(std::countr_zero(registers))] = cycle;
  }
  /// The instruction that was dispatched last is executed then.
  void retire(std::uint64_t cycle) {
    last_ = std::max(last_, cycle);
    retired_[at_] = last_;
    if (++at_ == retired_.size()) at_ = 0;
  }

 private:
  PaceParams params_;
  std::vector<std::uint64_t> retired_;  // cycle, of the last `window` instructions
  std::size_t at_ = 0;                  // of the next one
  std::uint64_t now_ = 0;
  std::uint32_t in_cycle_ = 0;  // dispatched
  std::uint64_t last_ = 0;
  std::array<std::uint64_t, 64> known_{};
};

}  // namespace cxloom
