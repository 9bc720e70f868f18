#include "memory/dram/scheduler/fr_fcfs.hpp"

#include "base/schema.hpp"

namespace cxloom {

void FrFcfsParams::describe(Schema<FrFcfsParams>& schema) {
  schema.doc(
      "First ready, first come first served: in a bank accesses to the open row go first, then the oldest.");
  schema.field("age_cap", &FrFcfsParams::age_cap)
      .doc(
          "For so long hits to the open row of a bank go before an older access to another of its rows, "
          "counted from the first hit that did. 0: never.")
      .source("Rixner et al., ISCA 2000; Mutlu and Moscibroda, MICRO-40");
}

[[gnu::hot]] DramPick FrFcfs::pick(DramQueue::Slot oldest, std::int64_t row, Clock now) {
  if (row == DramTimers::kClosed) return {oldest};
  DramQueue::Slot hit = oldest;
  while (hit != DramQueue::kNone && queue_.at(hit).burst.row != row) hit = queue_.at(hit).next;
  return {hit != DramQueue::kNone && cap_.may_pass(queue_.at(oldest), now) ? hit : oldest};
}

std::uint32_t FrFcfs::served(DramQueue::Slot slot, Clock now) {
  cap_.served(slot, now);
  return kNoBank;
}

}  // namespace cxloom
