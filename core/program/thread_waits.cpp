#include "program/thread_waits.hpp"

namespace cxloom {

void ThreadWaits::call(const SystemCall& call) {
  call_ = system_call::may_wait(call) ? call.order : 0;
  asleep_ = false;
  behind_ = 0;
}

void ThreadWaits::turn(const Release& by) {
  behind_ = by.order;
  asleep_ &= by.thread == 0;
}

ThreadWaits::Back ThreadWaits::end(std::uint32_t thread, const SystemCallEnd& end,
                                   const LatestCalls& latest) {
  Back back;
  if (end.by.thread != 0) {
    if (end.by.order != behind_) back.behind = end.by;
  } else if (asleep_) {
    // It waited for an unknown thread, or not at all.
    if (end.slept) back.comes_by = true;
    else back.behind = {thread, call_};
  } else if (call_ != 0 && end.slept) {
    back.behind = latest.of_another_than(thread);
  }
  call_ = behind_ = 0;
  asleep_ = false;
  return back;
}

}  // namespace cxloom
