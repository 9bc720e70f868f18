#include "workload/kv/request/kv_future.hpp"

#include <algorithm>
#include <cstddef>

#include "workload/kv/request/kv_requests.hpp"

namespace cxloom {

KvFuture::KvFuture(const KvRequests& requests)
    : begin_(std::size_t{requests.distinct()} + 1), uses_(requests.blocks.size()) {
  for (const KvBlock block : requests.blocks) ++begin_[block + 1];
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  std::vector<std::uint64_t> at(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (const KvBlock block : requests.blocks_of(i)) uses_[at[block]++] = static_cast<std::uint32_t>(i);
  }
}

std::uint64_t KvFuture::next(KvBlock block, std::uint64_t request) const {
  const auto begin = uses_.begin() + static_cast<std::ptrdiff_t>(begin_[block]);
  const auto end = uses_.begin() + static_cast<std::ptrdiff_t>(begin_[block + 1]);
  const auto found = std::upper_bound(begin, end, request);
  return found == end ? kNever : *found;
}

}  // namespace cxloom
