#include "component/io_record.hpp"

#include "base/error.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

void IoRecord::add(const Account& account, Time begun, Time now) {
  ensure(account.mark() == now, "a packet whose time is not accounted for");
  ended_.add(now);
  if (!ended_.is_open()) return;
  latency_.add(now - begun);
  segments_.add(account, now - begun);
}

void IoRecord::measure_in(Kernel& kernel) { kernel.measure(ended_); }

}  // namespace cxloom
