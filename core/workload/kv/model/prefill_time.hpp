// The time to the first token behind a prefix of the prompt whose KV cache is loaded, at constant rates: the
// closed forms that a server without a queue follows.
#pragma once

#include <cstdint>

#include "workload/kv/model/model_shape.hpp"

namespace cxloom {

/// Whether the cached prefix is there before the rest is computed, or layer by layer beside it.
enum class KvLoads : std::uint8_t { kFirst, kLayers };

struct PrefillRates {
  double flops = 0;  ///< operations a second
  double bytes = 0;  ///< a second, from where the prefix is
};

/// Seconds to compute `tokens` of which the first `cached` are there: (F(n) - F(p)) / G.
double compute_seconds(const ModelShape& shape, double tokens, double cached, double flops);

/// Seconds to the first token of a prompt of `tokens` whose first `cached` are loaded. First: p k / B + C.
/// By layers, with x = p k / (l B) and c = C / l: x + (l - 1) max(x, c) + c.
double first_token_seconds(const ModelShape& shape, double tokens, double cached, const PrefillRates& rates,
                           KvLoads loads);

/// Bytes a second above which loading a prefix takes less time than computing it: p k G / F(p).
double worthwhile_bytes(const ModelShape& shape, double cached, double flops);

}  // namespace cxloom
