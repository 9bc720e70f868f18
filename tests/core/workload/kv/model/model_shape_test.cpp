#include "workload/kv/model/model_shape.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/support/errors.hpp"
#include "workload/kv/model/prefill_time.hpp"

namespace cxloom {
namespace {

struct Published {
  double billions;
  std::uint64_t kv_bytes;
};

TEST(ModelShapes, HaveTheirParametersAndBytes) {
  // Parameters as they are published, to the digits there; bytes of a token in fp16.
  const std::map<std::string, Published> table{
      {"opt-30b", {29.97, 1'376'256}},   {"opt-66b", {65.72, 2'359'296}},   {"llama-65b", {65.29, 2'621'440}},
      {"llama-2-70b", {68.98, 327'680}}, {"llama-3-70b", {70.55, 327'680}}, {"llama-3-8b", {8.03, 131'072}},
      {"deepseek-v3", {671.0, 70'272}},  {"gpt2", {0.124, 36'864}},         {"gpt2-medium", {0.355, 98'304}},
      {"gpt2-large", {0.774, 184'320}},  {"gpt2-xl", {1.558, 307'200}},     {"bert-base", {0.1095, 36'864}},
      {"bert-large", {0.335, 98'304}},   {"opt-175b", {174.60, 4'718'592}}, {"opt-6.7b", {6.66, 524'288}},
      {"opt-13b", {12.85, 819'200}},     {"llama-2-7b", {6.74, 524'288}},   {"gpt2-10b", {10.28, 819'200}},
  };
  ASSERT_EQ(model_catalogue().size(), table.size());
  for (const NamedShape& each : model_catalogue()) {
    const Published& published = table.at(each.name);
    EXPECT_NEAR(each.shape.parameters() / 1e9, published.billions, 0.0051) << each.name;
    EXPECT_EQ(each.shape.kv_bytes(), published.kv_bytes) << each.name;
    EXPECT_FALSE(each.source.empty());
  }
}

TEST(ModelShapes, SayWhatBlocksTake) {
  EXPECT_EQ(16 * read_model("llama-3-8b").kv_bytes(), 2'097'152);
  EXPECT_EQ(512 * read_model("llama-3-70b").kv_bytes(), 160U << 20U);
  EXPECT_EQ(256 * read_model("llama-2-70b").kv_bytes(), 80U << 20U);
}

TEST(ModelShapes, CountOperations) {
  // A layer of LLaMA-3-70B: matrices 25.5 d^2 a token, causal attention 2 n^2 d.
  const ModelShape model = read_model("llama-3-70b");
  const double d = 8192;
  const double n = 12'288;
  EXPECT_DOUBLE_EQ(model.prefill_flops(n), 80 * (25.5 * n * d * d + 2 * n * n * d));
  EXPECT_DOUBLE_EQ(paper_prefill_flops(model, n, 4, 22), 80 * (4 * n * n * d + 22 * n * d * d));
  EXPECT_NEAR(model.token_flops(n), model.prefill_flops(n + 1) - model.prefill_flops(n), 1);
}

TEST(ModelShapes, MayBeOwn) {
  const Value own(
      Value::Map{{"layers", 2}, {"hidden", 64}, {"heads", 4}, {"kv_heads", 2}, {"vocabulary", 100}});
  const ModelShape model = read_model(own);
  // Each layer: 2 x 64 x 64 of queries and outputs, 2 x 64 x 32 of keys and values, 3 x 64 x 256, two norms.
  EXPECT_EQ(model.parameters(), 2 * (8192 + 4096 + 49'152 + 128) + 2 * 6400 + 64);
  EXPECT_EQ(model.kv_bytes(), 2U * 2 * 2 * 16 * 2);
  EXPECT_EQ(test::input_error([] { read_model("llama-3-70"); }).detail().suggestion, "llama-3-70b");
  EXPECT_EQ(test::input_error([&] {
              Value rope = own;
              rope.set("rope", 64);
              read_model(rope);
            }).path(),
            "rope");
}

TEST(PrefillTimes, AreThoseOfTheClosedForms) {
  const ModelShape model = read_model("llama-3-70b");
  constexpr double kFlops = 8 * 312e12;
  EXPECT_NEAR(compute_seconds(model, 12'288, 0, kFlops), 0.7533, 5e-5);
  const std::map<double, std::pair<double, double>> table{
      {128e9, {0.2897, 0.2690}}, {25e9, {0.3761, 0.2701}}, {10e9, {0.5371, 0.2721}}, {2e9, {1.6109, 1.3455}}};
  for (const auto& [bytes, seconds] : table) {
    const PrefillRates rates{kFlops, bytes};
    EXPECT_NEAR(first_token_seconds(model, 12'288, 8192, rates, KvLoads::kFirst), seconds.first, 5e-5);
    EXPECT_NEAR(first_token_seconds(model, 12'288, 8192, rates, KvLoads::kLayers), seconds.second, 5e-5);
  }
}

TEST(PrefillTimes, SayFromWhichBandwidthOnLoadingPays) {
  // The paper's form: 5.86 GB/s for 8 x 312e12, and 18.6 for 8 x 989e12, of 8192 tokens.
  const ModelShape model = read_model("llama-3-70b");
  const double tokens = 8192;
  const double bytes = tokens * static_cast<double>(model.kv_bytes());
  const double operations = paper_prefill_flops(model, tokens, 4, 22);
  EXPECT_NEAR(bytes * 8 * 312e12 / operations / 1e9, 5.86, 0.01);
  EXPECT_NEAR(bytes * 8 * 989e12 / operations / 1e9, 18.6, 0.05);
  // Exactly: where loading a prefix first takes as long as computing it.
  const double bandwidth = worthwhile_bytes(model, tokens, 8 * 312e12);
  EXPECT_NEAR(bytes / bandwidth, compute_seconds(model, tokens, 0, 8 * 312e12), 1e-9);
}

}  // namespace
}  // namespace cxloom
