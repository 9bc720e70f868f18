// Requests to a language model that are drawn: conversations of several turns behind a few system prompts.
#pragma once

#include <cstdint>

#include "base/parameters.hpp"
#include "base/units.hpp"
#include "workload/kv/request/kv_requests.hpp"
#include "workload/kv/request/request_rate.hpp"

namespace cxloom {

struct KvGeneratorParams {
  std::uint64_t chats = 0;
  RequestRate rate;
  double turns = 3;
  Time pause{30'000'000'000'000};
  std::uint64_t system_prompts = 1;
  std::uint64_t system_tokens = 1024;
  double question_tokens = 512;
  double answer_tokens = 256;

  static void describe(Schema<KvGeneratorParams>& schema);
};

/// Draws the requests, which depend on the parameters and the seed alone. Prompts have a block for each
/// `block_tokens`, the last for what is left: it is of this prompt alone, as the next turn goes on within it.
KvRequests generate_requests(const KvGeneratorParams& params, std::uint32_t block_tokens, std::uint64_t seed);

}  // namespace cxloom
