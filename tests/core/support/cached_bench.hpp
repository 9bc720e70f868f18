// Caches of pages before media of fixed latency.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "core/support/media_bench.hpp"
#include "core/support/media_kinds.hpp"
#include "memory/cached/media.hpp"

namespace cxloom::test {

using CachedBench = MediaBench<CachedMedia>;

inline KindSpec fixed(const char* latency, const char* write_latency = nullptr,
                      const char* bandwidth = nullptr) {
  Value::Map params{{"latency", latency}};
  if (write_latency) params.emplace_back("write_latency", write_latency);
  if (bandwidth) params.emplace_back("bandwidth", bandwidth);
  return {"fixed", Value(params)};
}

/// Two sets of two pages of 4 KiB: 3 ns to look up, 40 ns (20 ns) to read (write) the cache, 1 us (2 us)
/// behind.
inline CachedMediaParams cached_media() {
  CachedMediaParams params;
  params.size = Bytes{16 * 1024};
  params.ways = 2;
  params.lookup_time = Time{3'000};
  params.cache = fixed("40ns", "20ns");
  params.backing = fixed("1us", "2us");
  return params;
}

inline constexpr std::uint64_t kCachedPage = 4096;
inline constexpr std::uint64_t kSet = 2 * kCachedPage;  // from a page to the next one of its set

}  // namespace cxloom::test
