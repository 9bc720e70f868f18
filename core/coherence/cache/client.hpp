// The maker of the requests that a cache serves.
#pragma once

#include <cstdint>

#include "protocol/message.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class CacheClient {
 public:
  /// The request is done now, its account charged up to now.
  virtual void answered(Request& request) = 0;
  /// `bytes` of a dirty line have reached memory at `target`; 0: they were lost on the way.
  virtual void written_back(NodeId target, std::uint16_t bytes) = 0;
  /// `bytes` of a line that nobody waits for have come from memory at `target`; 0: they were lost on the way.
  virtual void prefetched(NodeId target, std::uint16_t bytes) = 0;
  /// All that this event has changed is changed: it may go on with what waited for it.
  virtual void go_on() = 0;

 protected:
  ~CacheClient() = default;
};

}  // namespace cxloom
