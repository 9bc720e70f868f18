// The protocols in which a cache speaks with the homes of its lines.
#pragma once

#include "coherence/cache/cxl_bias_protocol.hpp"
#include "coherence/cache/cxl_cache_protocol.hpp"
#include "coherence/cache/cxl_mem_protocol.hpp"
#include "protocol/address_map.hpp"

namespace cxloom {

struct HomeProtocols {
  HomeProtocols(Agent& agent, HomeProtocol::Cache& cache, ReadState read_state)
      : cxl_mem(agent, cache, read_state),
        cxl_bias(agent, cache, read_state),
        cxl_cache(agent, cache, read_state) {}

  /// The protocol of lines at `place`, for a cache of the device `self`.
  HomeProtocol& of(const AddressMap::DecodedAddress& place, NodeId self) {
    if (place.coherence == Coherence::kHdmH) return cxl_cache;
    if (place.coherence == Coherence::kHdmD && place.home != self) return cxl_bias;
    return cxl_mem;
  }

  CxlMemProtocol cxl_mem;      ///< with the agent of a device, and with plain memory
  CxlBiasProtocol cxl_bias;    ///< with a device that knows by a bias who has its lines
  CxlCacheProtocol cxl_cache;  ///< with the agent of a host
};

}  // namespace cxloom
