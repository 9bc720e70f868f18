#include "memory/dram/scheduler/fcfs.hpp"

#include "base/schema.hpp"

namespace cxloom {

void FcfsParams::describe(Schema<FcfsParams>& schema) {
  schema.doc("First come, first served: commands go out for the oldest read, or the oldest write, alone.");
}

DramPick Fcfs::pick(DramQueue::Slot oldest, std::int64_t /*row*/, Clock /*now*/) {
  return {waiting_[queue_.at(oldest).burst.write].front() == oldest ? oldest : DramQueue::kNone};
}

std::uint32_t Fcfs::arrived(DramQueue::Slot slot, Clock /*now*/) {
  waiting_[queue_.at(slot).burst.write].push_back(slot);
  return kNoBank;  // the first is that of its own bank
}

std::uint32_t Fcfs::served(DramQueue::Slot slot, Clock /*now*/) {
  Ring<DramQueue::Slot>& waiting = waiting_[queue_.at(slot).burst.write];
  waiting.pop_front();
  return waiting.empty() ? kNoBank : queue_.at(waiting.front()).burst.bank;
}

}  // namespace cxloom
