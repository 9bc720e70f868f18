#include "program/process_parents.hpp"

namespace cxloom {

void ProcessParents::call(const ProgramThread& thread, std::uint32_t number) {
  if (thread.number >= callers_.size()) callers_.resize(thread.number + 1);
  callers_[thread.number] = {thread.process, number};
}

bool ProcessParents::is_first(const ProgramThread& thread) {
  if (thread.process < processes_) return false;
  processes_ = thread.process + 1;
  return true;
}

std::uint32_t ProcessParents::parent_of(const ProgramThread& thread, const Release& by) const {
  const Caller caller = by.thread < callers_.size() ? callers_[by.thread] : Caller{thread.process, 0};
  const bool replaced = caller.number == system_call::kExecve || caller.number == system_call::kExecveAt;
  return by.thread == 0 || replaced ? thread.process : caller.process;
}

}  // namespace cxloom
