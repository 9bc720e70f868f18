// Requests to a language model, with the prefix blocks of their prompts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "workload/kv/request/kv_block.hpp"

namespace cxloom {

/// One request. Its prompt is `input` tokens long, and `output` tokens are made of it.
struct KvRequest {
  Time arrival;
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint64_t begin = 0;   ///< of its blocks in those of all requests
  std::uint32_t blocks = 0;  ///< how many it has; the last may be of fewer tokens than the others
  std::uint32_t chat = 0;    ///< requests with the same number belong to one conversation
};

/// Requests in the order of their arrival.
struct KvRequests {
  std::uint32_t block_tokens = 0;
  std::vector<KvRequest> requests;
  std::vector<KvBlock> blocks;  ///< of all requests, one after the other
  bool has_chats = false;       ///< whether it is known which requests belong together

  std::size_t size() const { return requests.size(); }
  std::span<const KvBlock> blocks_of(std::size_t request) const {
    const KvRequest& each = requests[request];
    return {blocks.data() + each.begin, each.blocks};
  }
  /// How many different blocks there are.
  std::uint32_t distinct() const;
  /// Tokens in the first `count` blocks of a request.
  std::uint64_t tokens_of(std::size_t request, std::size_t count) const;
};

}  // namespace cxloom
