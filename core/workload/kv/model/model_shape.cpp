#include "workload/kv/model/model_shape.hpp"

#include "base/error.hpp"
#include "base/schema.hpp"

namespace cxloom {

namespace {

double real(std::uint64_t count) { return static_cast<double>(count); }

/// Weights of the attention of a layer, biases aside.
double attention_weights(const ModelShape& shape) {
  const double heads = real(shape.heads * shape.width_of_head());
  const double kv = real(shape.kv_head_count() * shape.width_of_head());
  return 2 * real(shape.hidden) * heads + 2 * real(shape.hidden) * kv;
}

double ffn_weights(const ModelShape& shape) {
  const int matrices = shape.family == ModelFamily::kLlama ? 3 : 2;
  return matrices * real(shape.hidden) * real(shape.ffn_width());
}

/// Biases of attention and FFN, and the norms.
double small_weights(const ModelShape& shape) {
  if (shape.family == ModelFamily::kLlama) return 2 * real(shape.hidden);
  return 9 * real(shape.hidden) + real(shape.ffn_width());
}

/// Embeddings, and what stands behind the layers.
double outer_weights(const ModelShape& shape) {
  const double hidden = real(shape.hidden);
  const double words = real(shape.vocabulary);
  switch (shape.family) {
    case ModelFamily::kLlama: return 2 * words * hidden + hidden;
    case ModelFamily::kOpt: return (words + 2050 + 2) * hidden;
    case ModelFamily::kGpt2: return (words + 1024 + 2) * hidden;
    case ModelFamily::kBert: return (words + 512 + 2) * hidden + 2 * hidden + hidden * hidden + hidden;
  }
  return 0;
}

ModelShape llama(std::uint64_t layers, std::uint64_t hidden, std::uint64_t ffn, std::uint64_t heads,
                 std::uint64_t kv_heads, std::uint64_t vocabulary) {
  return {.layers = layers,
          .hidden = hidden,
          .ffn = ffn,
          .heads = heads,
          .kv_heads = kv_heads,
          .vocabulary = vocabulary};
}

ModelShape plain(ModelFamily family, std::uint64_t layers, std::uint64_t hidden, std::uint64_t heads,
                 std::uint64_t vocabulary) {
  return {.family = family, .layers = layers, .hidden = hidden, .heads = heads, .vocabulary = vocabulary};
}

}  // namespace

void ModelShape::describe(Schema<ModelShape>& schema) {
  schema.doc("The shape of a language model of one's own.");
  schema
      .choice("family", &ModelShape::family,
              {{"llama", ModelFamily::kLlama},
               {"opt", ModelFamily::kOpt},
               {"gpt2", ModelFamily::kGpt2},
               {"bert", ModelFamily::kBert}})
      .doc("Which matrices a layer has: llama three in its FFN, the others two, with biases.");
  schema.field("layers", &ModelShape::layers).required().min(1).max(10'000).doc("Layers.");
  schema.field("hidden", &ModelShape::hidden).required().min(1).max(1'000'000).doc("Width of a layer.");
  schema.field("ffn", &ModelShape::ffn)
      .min(1)
      .max(10'000'000)
      .doc("Width within the FFN.")
      .default_text("four times hidden");
  schema.field("heads", &ModelShape::heads).required().min(1).max(100'000).doc("Heads of attention.");
  schema.field("kv_heads", &ModelShape::kv_heads)
      .min(1)
      .max(100'000)
      .doc("Heads that keep keys and values: fewer than heads in grouped-query attention.")
      .default_text("as many as heads");
  schema.field("head_width", &ModelShape::head_width)
      .min(1)
      .max(100'000)
      .doc("Values of a head.")
      .default_text("hidden / heads");
  schema.field("vocabulary", &ModelShape::vocabulary).max(100'000'000).doc("Different tokens.");
  schema.field("latent", &ModelShape::latent)
      .max(1'000'000)
      .doc(
          "Values that a layer keeps of a token in multi-head latent attention; 0: keys and values are "
          "kept.");
  schema.field("rope", &ModelShape::rope)
      .max(1'000'000)
      .doc("Values of a key beside the latent that carry its position.");
  schema.field("parameters", &ModelShape::parameter_count)
      .where([](double count) { return count > 0 && count < 1e15; }, "a number above 0")
      .doc("All parameters, where they do not follow from the layers, as of a mixture of experts.")
      .default_text("those of the layers");
  schema.field("active", &ModelShape::active_count)
      .where([](double count) { return count > 0 && count < 1e15; }, "a number above 0")
      .doc("Parameters that a token uses.")
      .default_text("those of the layers");
  schema.field("value_bytes", &ModelShape::value_bytes)
      .min(1)
      .max(8)
      .doc("Bytes of a value of weights and of the KV cache.")
      .source("fp16: 2");
  schema.effective(
      "rope", [](const ModelShape& shape) { return shape.latent > 0; }, "unless there is a latent");
}

double ModelShape::parameters() const {
  if (parameter_count) return *parameter_count;
  return real(layers) * (attention_weights(*this) + ffn_weights(*this) + small_weights(*this)) +
         outer_weights(*this);
}

std::uint64_t ModelShape::kv_bytes() const {
  const std::uint64_t values = latent > 0 ? latent + rope : 2 * kv_head_count() * width_of_head();
  return layers * values * value_bytes;
}

double ModelShape::linear_flops() const {
  if (active_count) return 2 * *active_count;
  return 2 * real(layers) * (attention_weights(*this) + ffn_weights(*this));
}

double ModelShape::prefill_flops(double tokens) const {
  // A key of MLA carries `rope` values more than a value does.
  const double width = real(heads) * (real(width_of_head()) + real(rope) / 2);
  return linear_flops() * tokens + 2 * real(layers) * tokens * tokens * width;
}

const std::vector<NamedShape>& model_catalogue() {
  static const std::vector<NamedShape> catalogue = [] {
    constexpr auto kOpt = ModelFamily::kOpt;
    constexpr auto kGpt2 = ModelFamily::kGpt2;
    constexpr auto kBert = ModelFamily::kBert;
    const std::string opt = "Zhang et al., 2022 (arXiv 2205.01068)";
    const std::string gpt2 = "Radford et al., 2019";
    const std::string bert = "Devlin et al., 2019";
    const std::string llama1 = "Touvron et al., 2023 (arXiv 2302.13971)";
    const std::string llama2 = "Touvron et al., 2023 (arXiv 2307.09288)";
    const std::string llama3 = "Grattafiori et al., 2024 (arXiv 2407.21783)";
    ModelShape deepseek = llama(61, 7168, 18'432, 128, 128, 129'280);
    deepseek.head_width = 128;
    deepseek.latent = 512;
    deepseek.rope = 64;
    deepseek.parameter_count = 671e9;
    deepseek.active_count = 37e9;
    return std::vector<NamedShape>{
        {"opt-6.7b", opt, plain(kOpt, 32, 4096, 32, 50'272)},
        {"opt-13b", opt, plain(kOpt, 40, 5120, 40, 50'272)},
        {"opt-30b", opt, plain(kOpt, 48, 7168, 56, 50'272)},
        {"opt-66b", opt, plain(kOpt, 64, 9216, 72, 50'272)},
        {"opt-175b", opt, plain(kOpt, 96, 12'288, 96, 50'272)},
        {"llama-65b", llama1, llama(80, 8192, 22'016, 64, 64, 32'000)},
        {"llama-2-7b", llama2, llama(32, 4096, 11'008, 32, 32, 32'000)},
        {"llama-2-70b", llama2, llama(80, 8192, 28'672, 64, 8, 32'000)},
        {"llama-3-70b", llama3, llama(80, 8192, 28'672, 64, 8, 128'256)},
        {"llama-3-8b", llama3, llama(32, 4096, 14'336, 32, 8, 128'256)},
        {"gpt2", gpt2, plain(kGpt2, 12, 768, 12, 50'257)},
        {"gpt2-medium", gpt2, plain(kGpt2, 24, 1024, 16, 50'257)},
        {"gpt2-large", gpt2, plain(kGpt2, 36, 1280, 20, 50'257)},
        {"gpt2-xl", gpt2, plain(kGpt2, 48, 1600, 25, 50'257)},
        {"gpt2-10b", "DeepSpeed's tutorial of ZeRO-Offload", plain(kGpt2, 50, 4096, 32, 50'257)},
        {"bert-base", bert, plain(kBert, 12, 768, 12, 30'522)},
        {"bert-large", bert, plain(kBert, 24, 1024, 16, 30'522)},
        {"deepseek-v3", "DeepSeek-AI, 2024 (arXiv 2412.19437)", deepseek},
    };
  }();
  return catalogue;
}

ModelShape read_model(const Value& written) {
  const std::string* name = written.as_text();
  if (!name) return read_params<ModelShape>(written);
  std::vector<std::string> names;
  for (const NamedShape& each : model_catalogue()) {
    if (each.name == *name) return each.shape;
    names.push_back(each.name);
  }
  throw InputError({"unknown model '" + *name + "'",
                    {},
                    list_names(names) + ", or a map of its shape",
                    nearest_name(*name, names)});
}

double paper_prefill_flops(const ModelShape& shape, double tokens, double a, double b) {
  const double hidden = real(shape.hidden);
  return real(shape.layers) * (a * tokens * tokens * hidden + b * tokens * hidden * hidden);
}

}  // namespace cxloom
