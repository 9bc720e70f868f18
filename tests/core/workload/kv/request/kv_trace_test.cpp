#include "workload/kv/request/kv_trace.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/support/errors.hpp"

namespace cxloom {
namespace {

using test::contains;
using test::input_error;

KvRequests read_kv(const std::string& text, KvTraceForm form = KvTraceForm::kMooncake) {
  KvTraceReader reader(form, 0);
  // However the bytes come.
  for (std::size_t at = 0; at < text.size(); at += 7) reader.feed(std::string_view(text).substr(at, 7));
  return reader.finish();
}

const std::string kFirst =
    R"({"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [10, 11]})"
    "\n";

TEST(KvTrace, ReadsMooncake) {
  const KvRequests read = read_kv(
      kFirst + R"({"timestamp": 3000, "input_length": 1024, "output_length": 0, "hash_ids": [10, 12]})");
  ASSERT_EQ(read.size(), 2);
  EXPECT_EQ(read.block_tokens, 512);
  EXPECT_EQ(read.requests[1].arrival, Time{3'000'000'000'000});
  EXPECT_EQ(read.requests[0].output, 5);
  EXPECT_EQ(read.blocks, (std::vector<KvBlock>{0, 1, 0, 2}));
  EXPECT_EQ(read.distinct(), 3);
  EXPECT_EQ(read.tokens_of(0, 1), 512);
  EXPECT_EQ(read.tokens_of(0, 2), 600);
  EXPECT_FALSE(read.has_chats);
}

TEST(KvTrace, ReadsQwenBailian) {
  const std::string text =
      R"({"chat_id": 7, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 20, "output_length": 9, )"
      R"("type": "text", "turn": 1, "hash_ids": [5, 5]})"
      "\n"
      R"({"chat_id": 9, "parent_chat_id": 7, "timestamp": 62, "input_length": 33, "output_length": 9, )"
      R"("type": "text", "turn": 2, "hash_ids": [5, 5]})"
      "\n"
      R"({"chat_id": 11, "parent_chat_id": 3, "timestamp": 62, "input_length": 16, "output_length": 9, )"
      R"("type": "text", "turn": 4, "hash_ids": [6]})"
      "\n";
  const KvRequests read = read_kv(text, KvTraceForm::kBailian);
  ASSERT_EQ(read.size(), 3);
  EXPECT_EQ(read.requests[0].arrival, Time{61'114'000'000'000});
  // The same tokens behind others are another prefix. Blocks that are not full may be left out.
  EXPECT_EQ(read.blocks, (std::vector<KvBlock>{0, 1, 0, 1, 2}));
  EXPECT_TRUE(read.has_chats);
  EXPECT_EQ(read.requests[0].chat, read.requests[1].chat);
  EXPECT_NE(read.requests[0].chat, read.requests[2].chat);
}

TEST(KvTrace, RefusesWhatIsNoRequest) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {R"({"timestamp": 1, "input_length": 5, "output_length": 5})", "a request without 'hash_ids'"},
      {R"({"timestam": 1, "input_length": 5, "output_length": 5, "hash_ids": [1]})", "'timestamp'"},
      {R"({"timestamp": -1, "input_length": 5, "output_length": 5, "hash_ids": [1]})",
       "'timestamp' is wrong"},
      {R"({"timestamp": 1, "input_length": 0, "output_length": 5, "hash_ids": []})",
       "'input_length' is wrong"},
      {R"({"timestamp": 1, "input_length": 5, "output_length": -5, "hash_ids": [1]})",
       "'output_length' is wrong"},
      {R"({"timestamp": 1, "input_length": 513, "output_length": 5, "hash_ids": [1]})", "does not fit"},
      {R"({"timestamp": 1, "input_length": 5, "output_length": 5, "hash_ids": ["a"]})",
       "'hash_ids' is wrong"},
      {R"({"timestamp": 1, "input_length": 5, "output_length": 5, "hash_ids": 7})", "'hash_ids' is wrong"},
      {R"([1, 2])", "not a request"},
      {R"(timestamp,input)", "not JSON"},
  };
  for (const auto& [line, problem] : wrong) {
    const InputError error = input_error([&] { read_kv(kFirst + line + "\n"); });
    EXPECT_EQ(error.path(), "line 2") << line;
    EXPECT_TRUE(contains(error.what(), problem)) << error.what();
  }
}

TEST(KvTrace, RefusesTimeThatGoesBack) {
  const InputError error = input_error([&] {
    read_kv(R"({"timestamp": 5, "input_length": 5, "output_length": 5, "hash_ids": [1]})"
            "\n" +
            kFirst);
  });
  EXPECT_EQ(error.path(), "line 2");
}

TEST(KvTrace, RefusesWhatIsCutOffOrEmpty) {
  EXPECT_TRUE(contains(input_error([&] { read_kv(kFirst + kFirst.substr(0, 40)); }).what(), "cut off"));
  EXPECT_TRUE(contains(input_error([&] { read_kv("\n\n"); }).what(), "no requests"));
  EXPECT_TRUE(contains(input_error([&] {
                         read_kv(R"({"timestamp": 1, "input_length": 5, "output_length": 5, "hash_ids": [1]})"
                                 "\n",
                                 KvTraceForm::kBailian);
                       }).what(),
                       "a request without 'chat_id'"));
}

}  // namespace
}  // namespace cxloom
