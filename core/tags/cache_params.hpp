// The parameters of a set-associative cache.
#pragma once

#include <cstdint>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

class MemoryEstimate;

struct CacheParams {
  Bytes size{32 * 1024};
  std::uint32_t ways = 8;
  Time access_time{12'000};
  KindSpec policy{"lru", Value(Value::Map{})};

  std::uint64_t lines() const { return size.count() / kLineBytes; }
  bool operator==(const CacheParams&) const = default;
  static void describe(Schema<CacheParams>& schema);
  static void estimate(const CacheParams& params, MemoryEstimate& memory);
};

}  // namespace cxloom
