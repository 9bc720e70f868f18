#include "system/run/driven_requesters.hpp"

#include <memory>
#include <utility>

#include "device/requester/requester.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

ExternalFeed& DrivenRequesters::drive(const std::string& device, Requester& requester) {
  if (requester.has_work()) throw InputError({"'" + device + "' has a workload already", {}, {}, {}});
  auto feed = std::make_unique<ExternalFeed>();
  ExternalFeed& driven = *feed;
  Work work;
  work.name = "driven." + device;
  work.stream = std::move(feed);
  requester.assign(std::move(work), observer_);
  driven_[device] = {&requester, &driven};
  kernel_.stay_awake(true);
  return driven;
}

void DrivenRequesters::inject(const std::string& device, const Access& access,
                              ExternalFeed::Answered answered) {
  const auto found = driven_.find(device);
  if (found == driven_.end())
    throw InputError({"'" + device + "' is not driven from outside", {}, "drive() first", {}});
  const auto [requester, feed] = found->second;
  // Before anything has changed: whoever drives it may go on with another access.
  if (access.size == 0 || access.address.value() + (access.size - 1U) < access.address.value())
    throw InputError({"an access of no bytes, or past the end of all addresses", {}, {}, {}},
                     "driven." + device);
  requester->check_mapped(access);
  feed->push(access, std::move(answered));
  requester->resume();
}

void DrivenRequesters::close() {
  for (const auto& [name, driven] : driven_) {
    driven.feed->close();
    driven.requester->resume();
  }
  kernel_.stay_awake(false);
}

}  // namespace cxloom
