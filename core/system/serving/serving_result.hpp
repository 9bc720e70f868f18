// What a serving run has found, as plain values.
#pragma once

#include <cstdint>
#include <vector>

#include "base/value.hpp"
#include "system/serving/kv_transport.hpp"
#include "system/serving/serving_params.hpp"
#include "system/serving/serving_record.hpp"

namespace cxloom {

struct ServingOutcome {
  const ServingParams& params;
  const ModelShape& model;
  const KvRequests& requests;
  const ServingRecord& record;
  const KvTransport& transport;
  const std::vector<std::uint64_t>& held;      ///< blocks in each tier, of all servers
  const std::vector<std::uint64_t>& capacity;  ///< blocks of each tier, of all servers
};

/// docs/model/kv.md defines its keys.
Value serving_result(const ServingOutcome& outcome);

}  // namespace cxloom
