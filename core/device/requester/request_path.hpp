// The way of a requester's requests to memory: through its cache, through its cache outside of the
// simulation, or straight.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "coherence/cache/agent.hpp"
#include "coherence/external/agent.hpp"
#include "device/context/context.hpp"
#include "device/requester/params.hpp"
#include "device/requester/uncached_access.hpp"

namespace cxloom {

class RequestPath {
 public:
  /// Makes the cache that the parameters name. Returns the agent that sends the requests to memory and takes
  /// their answers: a cache, or `requester`. Throws InputError, with the path `cache`, for one that cannot
  /// be.
  Agent& connect(const RequesterParams& params, Endpoint& endpoint, const DeviceContext& context,
                 Agent& requester, CacheClient& client);
  void start() {
    if (cache_) cache_->start();
  }
  /// Sends a request of `requester`, of one line at most, charged up to its arrival.
  void send(Agent& requester, Request& request) {
    if (cache_) {
      cache_->access(request);
    } else if (external_) [[unlikely]] {
      external_->access(request);
    } else {
      send_uncached(requester, request);
    }
  }

  /// Null: it has none, or it is outside.
  const CacheAgent* cache() const { return cache_.get(); }
  CacheAgent* cache() { return cache_.get(); }
  /// Null: it has none, or it is of the simulation.
  ExternalCache* external_cache() const { return external_.get(); }
  /// Requests go straight to memory.
  bool uncached() const { return !cache_ && !external_; }

  /// Write-backs and notices of evictions on their way.
  std::uint64_t write_backs() const { return cache_ ? cache_->evictions() : 0; }
  /// Lines that the cache has asked for ahead of their use, without an answer.
  std::uint64_t prefetches() const { return cache_ ? cache_->prefetches() : 0; }
  /// Lines on their way to and from the cache.
  std::uint64_t outstanding() const {
    return write_backs() + prefetches() + (external_ ? external_->lines_under_way() : 0);
  }

  void report(MeasureSink& sink) const {
    if (cache_) cache_->report(sink);
  }
  void resources(ResourceSink& sink) const {
    if (cache_) cache_->resources(sink);
  }
  static std::vector<MeasureInfo> measures() { return CacheAgent::measures(); }

 private:
  std::unique_ptr<CacheAgent> cache_;
  std::unique_ptr<ExternalCache> external_;
};

}  // namespace cxloom
