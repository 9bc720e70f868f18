#include "system/run/driven_requesters.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "device/requester/requester.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

DrivenRequester& DrivenRequesters::drive(const std::string& device, NodeId node, Requester& requester,
                                         const TransferEngine* engine, const AddressMap& map) {
  if (requester.has_work()) {
    throw InputError({"'" + device + "' has a workload already",
                      {},
                      "a device without one: whose accesses are given makes none of its own",
                      {}},
                     "workload." + device);
  }
  // A copy within memory has half of the queue for its reads, as one of a graph of tasks.
  auto feed = std::make_unique<ExternalFeed>(
      FedBlock::Form{.whole = engine != nullptr, .lag = std::max(requester.traits().queue / 2, 1U) - 1});
  ExternalFeed& given = *feed;
  Work work;
  work.name = "driven." + device;
  work.stream = std::move(feed);
  requester.assign(std::move(work), observer_);
  auto& driven = driven_[device];
  driven = std::make_unique<DrivenRequester>(device, node, requester, given, engine, kernel_, map);
  if (by_node_.size() <= node.index()) by_node_.resize(node.index() + 1);
  by_node_[node.index()] = driven.get();
  kernel_.stay_awake(true);
  return *driven;
}

DrivenRequester& DrivenRequesters::of(const std::string& device) const {
  const auto found = driven_.find(device);
  if (found == driven_.end())
    throw InputError({"'" + device + "' is not driven from outside", {}, "drive() first", {}});
  return *found->second;
}

void DrivenRequesters::close() {
  closed_ = true;
  for (const auto& [name, driven] : driven_) driven->close();
  kernel_.stay_awake(false);
}

}  // namespace cxloom
