#include "workload/kv/model/prefill_time.hpp"

#include <algorithm>

namespace cxloom {

double compute_seconds(const ModelShape& shape, double tokens, double cached, double flops) {
  return (shape.prefill_flops(tokens) - shape.prefill_flops(cached)) / flops;
}

double first_token_seconds(const ModelShape& shape, double tokens, double cached, const PrefillRates& rates,
                           KvLoads loads) {
  const double computing = compute_seconds(shape, tokens, cached, rates.flops);
  const double loading = cached > 0 ? cached * static_cast<double>(shape.kv_bytes()) / rates.bytes : 0;
  if (loads == KvLoads::kFirst) return loading + computing;
  const auto layers = static_cast<double>(shape.layers);
  const double x = loading / layers;
  const double c = computing / layers;
  return x + (layers - 1) * std::max(x, c) + c;
}

double worthwhile_bytes(const ModelShape& shape, double cached, double flops) {
  return cached * static_cast<double>(shape.kv_bytes()) * flops / shape.prefill_flops(cached);
}

}  // namespace cxloom
