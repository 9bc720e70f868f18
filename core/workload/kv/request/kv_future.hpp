// Which request uses each block next: what no cache can know, for policies that are a bound.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "workload/kv/request/kv_block.hpp"

namespace cxloom {

struct KvRequests;

class KvFuture {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  explicit KvFuture(const KvRequests& requests);

  /// The number of the first request behind `request` that has the block; kNever if there is none.
  std::uint64_t next(KvBlock block, std::uint64_t request) const;

 private:
  std::vector<std::uint64_t> begin_;  // by block, and one behind the last
  std::vector<std::uint32_t> uses_;   // requests, rising for each block
};

}  // namespace cxloom
