// The shape of a language model, and what follows from it: parameters, bytes and operations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

/// What stands in a layer beside attention, and around the layers.
enum class ModelFamily : std::uint8_t {
  kLlama,  ///< gated FFN of three matrices, RMS norms, no biases, an output matrix of its own
  kOpt,    ///< FFN of two matrices, biases, two layer norms, 2050 learned positions
  kGpt2,   ///< as kOpt, with 1024 positions
  kBert,   ///< as kOpt, with 512 positions, two segments and a pooler
};

/// All counts are of the published model; `describe` declares them.
struct ModelShape {
  ModelFamily family = ModelFamily::kLlama;
  std::uint64_t layers = 0;
  std::uint64_t hidden = 0;
  std::optional<std::uint64_t> ffn;       ///< width; 4 x hidden by default
  std::uint64_t heads = 0;                ///< of attention
  std::optional<std::uint64_t> kv_heads;  ///< as many as heads by default
  std::optional<std::uint64_t> head_width;
  std::uint64_t vocabulary = 0;
  std::uint64_t latent = 0;  ///< values of a token and layer in multi-head latent attention (MLA); 0: none
  std::uint64_t rope = 0;    ///< beside the latent: values of the key that carry positions
  std::optional<double> parameter_count;  ///< where the layers do not give it
  std::optional<double> active_count;     ///< parameters that a token uses, of a mixture of experts
  std::uint64_t value_bytes = 2;

  static void describe(Schema<ModelShape>& schema);

  std::uint64_t ffn_width() const { return ffn.value_or(4 * hidden); }
  std::uint64_t kv_head_count() const { return kv_heads.value_or(heads); }
  std::uint64_t width_of_head() const { return head_width.value_or(hidden / heads); }

  /// All parameters: matrices, biases, norms, embeddings.
  double parameters() const;
  /// Bytes of them.
  double weight_bytes() const { return parameters() * static_cast<double>(value_bytes); }
  /// What a token takes in the KV cache of all layers: 2 x layers x KV heads x width x value bytes; with MLA
  /// layers x (latent + rope) x value bytes.
  std::uint64_t kv_bytes() const;
  /// Operations (a multiplication and an addition are two) of the matrices of all layers for a token.
  double linear_flops() const;
  /// Operations of a prefill of `tokens` behind none: F(n) = linear n + 2 l n^2 w, where attention is causal
  /// and w is the width of all heads.
  double prefill_flops(double tokens) const;
  /// Operations of the token behind `before` others.
  double token_flops(double before) const { return prefill_flops(before + 1) - prefill_flops(before); }
};

/// The published shapes by name, in the order of the catalogue.
struct NamedShape {
  std::string name;
  std::string source;
  ModelShape shape;
};
const std::vector<NamedShape>& model_catalogue();

/// A shape from what a person wrote: a name of the catalogue, or a map of the parameters. Throws InputError.
ModelShape read_model(const Value& written);

/// The approximation of the Mooncake paper (FAST '25): l (a n^2 d + b n d^2), a = 4 and b = 22 for
/// LLaMA-3-70B. It counts attention as if it were not causal, and matrices 14 % low.
double paper_prefill_flops(const ModelShape& shape, double tokens, double a, double b);

}  // namespace cxloom
