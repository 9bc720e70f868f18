// The parameters of a coherency agent of a device.
#pragma once

#include "coherence/directory_params.hpp"

namespace cxloom {

struct DcohParams : DirectoryParams {
  SnoopFilterParams filter;

  static void describe(Schema<DcohParams>& schema) {
    schema.doc(
        "A coherency agent (DCOH): an inclusive snoop filter, and back-invalidate snoops to the caches that "
        "hold lines of its memory.");
    describe_in(schema);
  }
  static void estimate(const DcohParams& params, MemoryEstimate& memory) {
    estimate_filter(params.filter, memory);
  }
};

}  // namespace cxloom
