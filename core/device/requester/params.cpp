#include "device/requester/params.hpp"

#include <algorithm>
#include <string>

#include "base/schema.hpp"
#include "device/requester/access_window.hpp"
#include "device/requester/core_cluster.hpp"
#include "protocol/request.hpp"

namespace cxloom {

namespace {

// A request in flight, its places in the queues and the event that it waits for. The tables of all of these
// grow to twice their size when they are full.
constexpr std::uint64_t kBytesInFlight = 2 * (sizeof(Request) + 128);

}  // namespace

void RequesterParams::estimate(const RequesterParams& params, MemoryEstimate& memory) {
  const std::uint64_t in_flight = std::min<std::uint64_t>(params.queue, memory.accesses());
  memory.add("queue", std::to_string(params.queue), 1,
             in_flight * kBytesInFlight + AccessWindow::accesses(params.queue) / 8);
  if (params.core) memory.add("core", "1", 1, CoreCluster::bytes());
  if (params.cache)
    memory.add_below("cache",
                     [&](MemoryEstimate& inside) { CacheAgentParams::estimate(*params.cache, inside); });
}

}  // namespace cxloom
