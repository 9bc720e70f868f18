// The parameters of a cache of pages before other media.
#pragma once

#include <cstdint>

#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

struct CachedMediaParams {
  Bytes size{64ULL << 20U};
  Bytes page{4096};
  std::uint32_t ways = 16;
  KindSpec policy{"lru", Value(Value::Map{})};
  KindSpec prefetch{"none", Value(Value::Map{})};
  Time lookup_time{5'000};
  std::uint32_t misses = 32;
  KindSpec cache{"fixed", Value(Value::Map{})};
  KindSpec backing;

  std::uint64_t pages() const { return size.count() / page.count(); }
  static void describe(Schema<CachedMediaParams>& schema);
  static void estimate(const CachedMediaParams& params, MemoryEstimate& memory);
};

}  // namespace cxloom
