// The parameters of a coherency agent of a device.
#pragma once

#include "coherence/home/directory_params.hpp"

namespace cxloom {

struct DcohParams : DirectoryParams {
  SnoopFilterParams filter;

  static void describe(Schema<DcohParams>& schema);
  static void estimate(const DcohParams& params, MemoryEstimate& memory) {
    estimate_filter(params.filter, memory);
  }
};

}  // namespace cxloom
