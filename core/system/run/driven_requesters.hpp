// The requesters that the outside gives their accesses.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "protocol/request_observer.hpp"
#include "system/run/driven_requester.hpp"

namespace cxloom {

class DrivenRequesters {
 public:
  DrivenRequesters(Kernel& kernel, RequestObserver& observer) : kernel_(kernel), observer_(observer) {}

  bool empty() const { return driven_.empty(); }
  /// The outside may give more.
  bool open() const { return !driven_.empty() && !closed_; }
  /// From now on the outside gives this one, at `node`, accesses, and it moves blocks by `engine` if there is
  /// one. Throws InputError if it has work already.
  DrivenRequester& drive(const std::string& device, NodeId node, Requester& requester,
                         const TransferEngine* engine, const AddressMap& map);
  /// Throws InputError unless it is driven.
  DrivenRequester& of(const std::string& device) const;
  /// The driven requester at a node; null: it is not driven.
  DrivenRequester* at(NodeId node) const {
    return node.index() < by_node_.size() ? by_node_[node.index()] : nullptr;
  }
  /// No answer comes before; it may say less than it could.
  Time earliest_answer(TimeLeft& left) const {
    Time earliest = Time::max();
    for (const auto& [name, driven] : driven_) earliest = std::min(earliest, driven->earliest_answer(left));
    return earliest;
  }
  /// No more will come, but for those of answers to others.
  void close();

 private:
  Kernel& kernel_;
  RequestObserver& observer_;
  std::map<std::string, std::unique_ptr<DrivenRequester>> driven_;
  std::vector<DrivenRequester*> by_node_;
  bool closed_ = false;
};

}  // namespace cxloom
