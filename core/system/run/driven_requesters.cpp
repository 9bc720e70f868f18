#include "system/run/driven_requesters.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "device/requester/requester.hpp"
#include "kernel/kernel.hpp"
#include "system/model/system.hpp"
#include "system/run/block_check.hpp"

namespace cxloom {

ExternalFeed& DrivenRequesters::drive(const std::string& device, Requester& requester,
                                      const TransferEngine* engine) {
  if (requester.has_work()) throw InputError({"'" + device + "' has a workload already", {}, {}, {}});
  // A copy within memory has half of the queue for its reads, as one of a graph of tasks.
  auto feed = std::make_unique<ExternalFeed>(
      FedBlock::Form{.whole = engine != nullptr, .lag = std::max(requester.traits().queue / 2, 1U) - 1});
  ExternalFeed& driven = *feed;
  Work work;
  work.name = "driven." + device;
  work.stream = std::move(feed);
  requester.assign(std::move(work), observer_);
  driven_[device] = {&requester, &driven, engine};
  kernel_.stay_awake(true);
  return driven;
}

DrivenRequesters::Driven& DrivenRequesters::driven(const std::string& device) {
  const auto found = driven_.find(device);
  if (found == driven_.end())
    throw InputError({"'" + device + "' is not driven from outside", {}, "drive() first", {}});
  return found->second;
}

void DrivenRequesters::inject(const std::string& device, const Access& access,
                              ExternalFeed::Answered answered) {
  const auto [requester, feed, engine] = driven(device);
  // Before anything has changed: whoever drives it may go on with another access.
  if (access.size == 0 || access.address.value() + (access.size - 1U) < access.address.value())
    throw InputError({"an access of no bytes, or past the end of all addresses", {}, {}, {}},
                     "driven." + device);
  requester->check_mapped(access);
  feed->push(access, std::move(answered));
  requester->resume();
}

void DrivenRequesters::transfer(const System& system, const std::string& device, const BlockOrder& order,
                                FedBlock::Moved moved) {
  const auto [requester, feed, engine] = driven(device);
  with_path("driven." + device, [&] { check_block(order, device, *requester, engine); });
  check_block_mapped(order, system.address_map(), *requester);
  feed->push(order, std::move(moved));
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
