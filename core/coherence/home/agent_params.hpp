// The parameters of the home agent of a host.
#pragma once

#include "coherence/home/directory_params.hpp"

namespace cxloom {

struct HomeAgentParams : DirectoryParams {
  LineFilterParams filter;  // CXL.cache has no snoops for blocks

  static void describe(Schema<HomeAgentParams>& schema);
  static void estimate(const HomeAgentParams& params, MemoryEstimate& memory) {
    estimate_filter(params.filter, memory);
  }
};

}  // namespace cxloom
