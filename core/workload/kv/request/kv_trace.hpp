// Traces of requests to a language model, in JSON Lines: a request a line, with the hashes of its prompt's
// blocks.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "base/value.hpp"
#include "workload/kv/request/kv_requests.hpp"
#include "workload/trace/lines.hpp"

namespace cxloom {

enum class KvTraceForm : std::uint8_t {
  /// Mooncake's: `timestamp` in milliseconds, `input_length`, `output_length`, `hash_ids`, one for each 512
  /// tokens, the last for what is left (github.com/kvcache-ai/Mooncake, FAST25-release/traces).
  kMooncake,
  /// Qwen-Bailian's: `timestamp` in seconds, blocks of 16 tokens, and `chat_id`, `parent_chat_id` (-1 for
  /// the first of a conversation) and `turn` besides (github.com/alibaba-edu/qwen-bailian-usagetraces-anon).
  kBailian,
};

/// The tokens of a block in traces of this form.
std::uint32_t block_tokens_of(KvTraceForm form);

/// Fed blocks of bytes, gives the requests in them. A prefix block is a hash together with the block before
/// it: the hashes of Qwen-Bailian are of the tokens of one block, and say nothing of what stands before.
class KvTraceReader {
 public:
  /// A `block_tokens` of zero: those of the form.
  KvTraceReader(KvTraceForm form, std::uint32_t block_tokens);

  /// Reads the lines that the block completes. Throws TraceError for a line that is no JSON, lacks a field,
  /// has one that cannot be, has more or fewer hashes than its tokens have blocks, or is earlier than the
  /// line before.
  void feed(std::string_view block);
  /// Tells that the input has ended; gives the requests. Throws TraceError for a line that is cut off, and
  /// for a trace without requests.
  KvRequests finish();

 private:
  void parse(std::string_view line);
  [[noreturn]] void refuse(InputError::Detail detail) const;
  const Value& field(const Value& entry, const char* key) const;
  std::int64_t integer(const Value& entry, const char* key, std::int64_t least, std::int64_t most) const;
  Time arrival(const Value& entry) const;
  void add_blocks(const Value& entry, KvRequest& request);
  void add_chat(const Value& entry, KvRequest& request);

  struct Key {
    std::uint64_t before;  // the block before, counted from one; zero for none
    std::uint64_t hash;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  KvTraceForm form_;
  LineSplitter lines_;
  KvRequests read_;
  std::unordered_map<Key, KvBlock, KeyHash> numbers_;
  std::unordered_map<std::int64_t, std::uint32_t> chats_;  // the conversation of each request, by its name
  std::uint32_t conversations_ = 0;
};

}  // namespace cxloom
