#include "workload/kv/request/kv_requests.hpp"

#include <algorithm>

namespace cxloom {

std::uint32_t KvRequests::distinct() const {
  const auto last = std::ranges::max_element(blocks);
  return last == blocks.end() ? 0 : *last + 1;
}

std::uint64_t KvRequests::tokens_of(std::size_t request, std::size_t count) const {
  return std::min<std::uint64_t>(requests[request].input, count * std::uint64_t{block_tokens});
}

}  // namespace cxloom
