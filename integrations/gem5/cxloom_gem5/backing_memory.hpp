// The bytes of memories that are reached through hosts.
#pragma once

#include <vector>

#include <mem/abstract_mem.hh>
#include <params/CxlMemory.hh>

namespace gem5::cxl {

class Host;

class BackingMemory : public memory::AbstractMemory {
 public:
  explicit BackingMemory(const CxlMemoryParams& params) : AbstractMemory(params) {}

  /// The hosts that reach it, each with caches of its own.
  void reached_by(Host& host) { hosts_.push_back(&host); }
  const std::vector<Host*>& hosts() const { return hosts_; }

 private:
  std::vector<Host*> hosts_;
};

}  // namespace gem5::cxl
