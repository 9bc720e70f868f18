#include "workload/kv/request/kv_trace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/json.hpp"
#include "base/random.hpp"

namespace cxloom {

namespace {

constexpr std::int64_t kMostTokens = std::int64_t{1} << 24;
constexpr std::size_t kLongestLine = std::size_t{1} << 24U;  // a million hashes
constexpr double kMostSeconds = 1e6;                         // eleven days, so that sums of times fit

/// Text of a file that may be no text at all, for a message.
std::string printable(const std::string& text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) result += c;
    else (((result += "\\x") += kDigits[byte / 16]) += kDigits[byte % 16]);
  }
  return result;
}

}  // namespace

std::uint32_t block_tokens_of(KvTraceForm form) { return form == KvTraceForm::kMooncake ? 512 : 16; }

std::size_t KvTraceReader::KeyHash::operator()(const Key& key) const {
  return static_cast<std::size_t>(mix_bits(mix_bits(key.before) ^ key.hash));
}

KvTraceReader::KvTraceReader(KvTraceForm form, std::uint32_t block_tokens)
    : form_(form), lines_(kLongestLine) {
  read_.block_tokens = block_tokens == 0 ? block_tokens_of(form) : block_tokens;
  read_.has_chats = form == KvTraceForm::kBailian;
}

void KvTraceReader::feed(std::string_view block) {
  lines_.feed(block, [this](std::string_view line) { parse(line); });
}

KvRequests KvTraceReader::finish() {
  const std::string_view rest = lines_.rest();
  if (!rest.empty()) {
    if (rest.find('}') == std::string_view::npos)
      refuse({"the trace is cut off in the middle of a line", quoted(rest), "a whole request", {}});
    parse(rest);
  }
  if (read_.requests.empty()) refuse({"the trace has no requests", {}, "a request a line", {}});
  return std::move(read_);
}

void KvTraceReader::parse(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  Value entry;
  try {
    entry = parse_json(line);
  } catch (const InputError& error) {
    refuse({"not JSON: " + error.detail().problem, quoted(line), "a request: {\"timestamp\": ...}", {}});
  }
  if (!entry.as_map()) refuse({"not a request", entry.described(), "a map of the request's fields", {}});
  KvRequest request;
  request.arrival = arrival(entry);
  if (!read_.requests.empty() && request.arrival < read_.requests.back().arrival)
    refuse({"a request before the one in front of it",
            to_text(request.arrival),
            "at least " + to_text(read_.requests.back().arrival),
            {}});
  request.input = static_cast<std::uint32_t>(integer(entry, "input_length", 1, kMostTokens));
  request.output = static_cast<std::uint32_t>(integer(entry, "output_length", 0, kMostTokens));
  if (form_ == KvTraceForm::kBailian) add_chat(entry, request);
  else request.chat = static_cast<std::uint32_t>(read_.requests.size());
  add_blocks(entry, request);
  read_.requests.push_back(request);
}

void KvTraceReader::refuse(InputError::Detail detail) const {
  detail.problem = printable(detail.problem);
  detail.found = printable(detail.found);
  throw TraceError(std::move(detail), lines_.number());
}

const Value& KvTraceReader::field(const Value& entry, const char* key) const {
  const Value* found = entry.find(key);
  if (found) return *found;
  std::vector<std::string> keys;
  for (const auto& [name, value] : *entry.as_map()) keys.push_back(name);
  refuse({std::string("a request without '") + key + "'", list_names(keys), std::string(key),
          nearest_name(key, keys)});
}

std::int64_t KvTraceReader::integer(const Value& entry, const char* key, std::int64_t least,
                                    std::int64_t most) const {
  const Value& found = field(entry, key);
  const std::int64_t* value = found.as_integer();
  if (!value || *value < least || *value > most)
    refuse({std::string("'") + key + "' is wrong",
            found.described(),
            "a whole number from " + std::to_string(least) + " to " + std::to_string(most),
            {}});
  return *value;
}

Time KvTraceReader::arrival(const Value& entry) const {
  const bool seconds = form_ == KvTraceForm::kBailian;
  const Value& found = field(entry, "timestamp");
  const double unit = seconds ? 1.0 : 1e-3;
  double value = -1;
  if (const std::int64_t* whole = found.as_integer()) value = static_cast<double>(*whole);
  else if (const double* real = found.as_real()) value = *real;
  if (!(value >= 0 && value * unit <= kMostSeconds))
    refuse({"'timestamp' is wrong",
            found.described(),
            seconds ? "seconds from 0 to 1000000" : "milliseconds from 0 to 1000000000",
            {}});
  return Time{static_cast<std::int64_t>(std::floor(value * (seconds ? 1e12 : 1e9) + 0.5))};
}

void KvTraceReader::add_blocks(const Value& entry, KvRequest& request) {
  const Value& found = field(entry, "hash_ids");
  const Value::List* hashes = found.as_list();
  if (!hashes) refuse({"'hash_ids' is wrong", found.described(), "a list of whole numbers", {}});
  const std::uint64_t tokens = read_.block_tokens;
  const std::uint64_t full = request.input / tokens;
  const std::uint64_t all = (request.input + tokens - 1) / tokens;
  // Mooncake has a hash for the rest of a prompt, too. Of Qwen-Bailian it is not said.
  const bool fits = hashes->size() == all || (form_ == KvTraceForm::kBailian && hashes->size() == full);
  if (!fits)
    refuse({"'hash_ids' does not fit 'input_length'",
            counted(hashes->size(), "block"),
            counted(all, "block") + " of " + counted(tokens, "token") + " for " +
                counted(request.input, "token"),
            {}});
  request.begin = read_.blocks.size();
  request.blocks = static_cast<std::uint32_t>(hashes->size());
  std::uint64_t before = 0;
  for (const Value& hash : *hashes) {
    const std::int64_t* value = hash.as_integer();
    if (!value) refuse({"'hash_ids' is wrong", hash.described(), "whole numbers", {}});
    const auto next = static_cast<KvBlock>(numbers_.size());
    const auto [at, is_new] = numbers_.try_emplace({before, static_cast<std::uint64_t>(*value)}, next);
    read_.blocks.push_back(at->second);
    before = std::uint64_t{at->second} + 1;
  }
}

void KvTraceReader::add_chat(const Value& entry, KvRequest& request) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::int64_t chat = integer(entry, "chat_id", 0, kMost);
  const std::int64_t parent = integer(entry, "parent_chat_id", -1, kMost);
  static_cast<void>(integer(entry, "turn", 0, kMostTokens));
  // A conversation may have begun before the trace: then its first request here is its root.
  const auto root = parent < 0 ? chats_.end() : chats_.find(parent);
  request.chat = root == chats_.end() ? conversations_++ : root->second;
  if (parent >= 0 && root == chats_.end()) chats_.emplace(parent, request.chat);
  chats_[chat] = request.chat;
}

}  // namespace cxloom
