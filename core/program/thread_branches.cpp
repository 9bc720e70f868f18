#include "program/thread_branches.hpp"

#include <utility>

namespace cxloom {

void ThreadBranches::end(const ProgramBlock& block, const Dependence& needs, bool reads) {
  const BlockInstruction& last = block.instructions.back();
  const std::uint64_t behind = block.last + last.length;
  Kind kind = kNone;
  switch (last.kind) {
    case InstructionClass::kBranch: kind = kConditional; break;
    case InstructionClass::kReturn: kind = kReturn; break;
    case InstructionClass::kCall: predictor_.call(behind); [[fallthrough]];
    case InstructionClass::kJump:
      // A direct one reads neither a register nor memory.
      if (reads || last.data_reads != 0) kind = kIndirect;
      break;
    default: break;
  }
  if (kind == kNone) return;
  kind_ = kind;
  address_ = block.last;
  behind_ = behind;
  needs_ = needs;
}

bool ThreadBranches::go_to(std::uint64_t address) {
  switch (std::exchange(kind_, kNone)) {
    case kConditional: return predictor_.direction(address_, address != behind_);
    case kIndirect: return predictor_.target(address_, address);
    case kReturn: return predictor_.returns(address);
    case kNone: break;
  }
  return true;
}

}  // namespace cxloom
