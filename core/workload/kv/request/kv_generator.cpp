#include "workload/kv/request/kv_generator.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/schema.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kMostPromptTokens = std::uint64_t{1} << 24U;
constexpr double kLatestSeconds = 1e6;  // eleven days, as in traces
constexpr std::uint64_t kMostRequests = std::uint64_t{1} << 24U;

/// A request before it has its blocks.
struct DrawnRequest {
  Time arrival;
  std::uint32_t chat;
  std::uint32_t prompt;  // the system prompt
  std::uint32_t input;
  std::uint32_t output;
};

class ChatDrawer {
 public:
  ChatDrawer(const KvGeneratorParams& params, std::uint64_t seed)
      : params_(params), lengths_(seed, "requests", "lengths"), times_(seed, "requests", "times") {}

  std::vector<DrawnRequest> draw() {
    Time start;
    for (std::uint64_t chat = 0; chat < params_.chats; ++chat) {
      start += after(1 / params_.rate.per_second, start, "rate");
      add_chat(static_cast<std::uint32_t>(chat), start);
    }
    // The prompts of a chat grow from turn to turn.
    std::ranges::sort(drawn_, {}, [](const DrawnRequest& request) {
      return std::tuple(request.arrival, request.chat, request.input);
    });
    return std::move(drawn_);
  }

 private:
  /// Exponentially distributed with this mean in seconds. Throws InputError at a key for times too far off.
  Time after(double mean, Time now, const char* key) {
    const double length = mean * times_.exponential();
    if (now.ns() * 1e-9 + length > kLatestSeconds)
      throw InputError({"requests that arrive too late", {}, "all within 1000000s", {}}, key);
    return Time{static_cast<std::int64_t>(length * 1e12)};
  }
  /// Exponentially distributed with this mean, one at least.
  std::uint64_t tokens(double mean) {
    return 1 + static_cast<std::uint64_t>(std::max(0.0, mean - 1) * lengths_.exponential());
  }

  void add_chat(std::uint32_t chat, Time at) {
    const auto prompt = static_cast<std::uint32_t>(lengths_.below(params_.system_prompts));
    std::uint64_t before = params_.system_tokens;
    do {
      const std::uint64_t input = std::min(before + tokens(params_.question_tokens), kMostPromptTokens);
      const std::uint64_t output = std::min(tokens(params_.answer_tokens), kMostPromptTokens);
      drawn_.push_back(
          {at, chat, prompt, static_cast<std::uint32_t>(input), static_cast<std::uint32_t>(output)});
      if (drawn_.size() > kMostRequests)
        throw InputError({"more requests than can be drawn", {}, counted(kMostRequests, "request"), {}},
                         "chats");
      before = input + output;
      at += after(static_cast<double>(params_.pause.ps()) * 1e-12, at, "pause");
      // The number of turns is geometric.
    } while (times_.chance(1 - 1 / params_.turns) && before < kMostPromptTokens);
  }

  const KvGeneratorParams& params_;
  RandomStream lengths_;
  RandomStream times_;
  std::vector<DrawnRequest> drawn_;
};

/// What a block is of, in one number: a system prompt, a conversation, or one request alone.
std::uint64_t block_key(std::uint64_t kind, std::uint64_t owner, std::uint64_t index) {
  return (kind << 62U) | (owner << 30U) | index;
}

}  // namespace

void KvGeneratorParams::describe(Schema<KvGeneratorParams>& schema) {
  schema.doc(
      "Conversations that are drawn. Each turn's prompt is all that was said before, and a question; "
      "conversations begin with one of a few system prompts.");
  schema.field("chats", &KvGeneratorParams::chats)
      .required()
      .min(1)
      .max(std::uint64_t{1} << 24U)
      .doc("Conversations.");
  schema.field("rate", &KvGeneratorParams::rate)
      .required()
      .doc("Conversations that begin in a second, as a Poisson process.");
  schema.field("turns", &KvGeneratorParams::turns)
      .min(1.0)
      .max(1000.0)
      .doc("Turns of a conversation, the mean of a geometric distribution.")
      .source("own choice");
  schema.field("pause", &KvGeneratorParams::pause)
      .doc("Time from one question of a conversation to the next, the mean of an exponential distribution.")
      .source("own choice");
  schema.field("system_prompts", &KvGeneratorParams::system_prompts)
      .min(1)
      .max(1'000'000)
      .doc("Different system prompts, each as frequent as the others.")
      .source("own choice");
  schema.field("system_tokens", &KvGeneratorParams::system_tokens)
      .max(1'000'000)
      .doc("Tokens of a system prompt, which all of its conversations share.")
      .source("own choice");
  schema.field("question_tokens", &KvGeneratorParams::question_tokens)
      .min(1.0)
      .max(1e6)
      .doc("Tokens of a question, the mean of an exponential distribution.")
      .source("own choice");
  schema.field("answer_tokens", &KvGeneratorParams::answer_tokens)
      .min(1.0)
      .max(1e6)
      .doc("Tokens of an answer, the mean of an exponential distribution.")
      .source("own choice");
}

KvRequests generate_requests(const KvGeneratorParams& params, std::uint32_t block_tokens,
                             std::uint64_t seed) {
  KvRequests made;
  made.block_tokens = block_tokens;
  made.has_chats = true;
  std::unordered_map<std::uint64_t, KvBlock> numbers;
  for (const DrawnRequest& drawn : ChatDrawer(params, seed).draw()) {
    KvRequest request{.arrival = drawn.arrival,
                      .input = drawn.input,
                      .output = drawn.output,
                      .begin = made.blocks.size(),
                      .chat = drawn.chat};
    for (std::uint64_t token = 0; token < drawn.input; token += block_tokens) {
      const std::uint64_t index = token / block_tokens;
      const std::uint64_t end = token + block_tokens;
      const std::uint64_t key = end <= params.system_tokens ? block_key(0, drawn.prompt, index)
                                : end <= drawn.input        ? block_key(1, drawn.chat, index)
                                                            : block_key(2, made.requests.size(), index);
      const auto next = static_cast<KvBlock>(numbers.size());
      made.blocks.push_back(numbers.try_emplace(key, next).first->second);
      ++request.blocks;
    }
    made.requests.push_back(request);
  }
  return made;
}

}  // namespace cxloom
