#include "component/io_record.hpp"

#include "base/error.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

void IoRecord::add(const Account& account, Time begun, Time now) {
  ensure(account.mark() == now, "a packet whose time is not accounted for");
  ended_.count(now);
  if (!in_window_.is_open()) return;
  in_window_->latency.add(now - begun);
  in_window_->segments.add(account, now - begun);
}

void IoRecord::measure_in(Kernel& kernel) { kernel.measure(ended_, in_window_); }

}  // namespace cxloom
