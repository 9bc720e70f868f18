// KV caches of language models, for Python.
#include "kv_bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <string>
#include <utility>

#include "base/schema.hpp"
#include "core_bindings.hpp"
#include "system/serving/hit_study.hpp"
#include "system/serving/serving.hpp"
#include "value_conversion.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cxloom {

namespace {

/// Requests, which several studies may use.
struct SharedRequests {
  std::shared_ptr<const KvRequests> requests;
};

KvTraceForm form_of(const std::string& format) {
  return format == "qwen-bailian" ? KvTraceForm::kBailian : KvTraceForm::kMooncake;
}

class RequestReader {
 public:
  RequestReader(const std::string& format, std::uint32_t block) : reader_(form_of(format), block) {}
  void feed(const nb::bytes& block) { reader_.feed({block.c_str(), block.size()}); }
  SharedRequests finish() { return {std::make_shared<const KvRequests>(reader_.finish())}; }

 private:
  KvTraceReader reader_;
};

class RunningServing {
 public:
  RunningServing(nb::handle params, const SharedRequests& requests)
      : serving_(registry(), read_params<ServingParams>(to_value(params)), *requests.requests) {}
  bool advance(std::uint64_t steps) {
    const nb::gil_scoped_release released;
    return serving_.advance(steps);
  }
  double now_s() const { return serving_.now().ns() * 1e-9; }
  std::uint64_t done() const { return serving_.done(); }
  std::uint64_t requests() const { return serving_.requests(); }
  nb::object result() const { return to_python(serving_.result()); }

 private:
  Serving serving_;
};

nb::object hits(nb::handle params, const SharedRequests& requests) {
  HitStudy study(registry(), read_params<HitStudyParams>(to_value(params)), *requests.requests);
  {
    const nb::gil_scoped_release released;
    while (!study.advance(10'000)) {
    }
  }
  return to_python(study.result());
}

SharedRequests generated(nb::handle params, std::uint32_t block, std::uint64_t seed) {
  const auto read = read_params<KvGeneratorParams>(to_value(params));
  return {std::make_shared<const KvRequests>(generate_requests(read, block, seed))};
}

/// What a file says of its requests; all of it is checked.
nb::object requests_of(nb::handle params) {
  const auto read = read_params<ServingParams>(to_value(params));
  const KvRequestsParams& requests = read.requests;
  if (!requests.trace && !requests.generate)
    throw InputError({"no requests", {}, "requests: {trace: FILE} or {generate: {...}}", {}}, "requests");
  return to_python(Value::Map{
      {"trace", requests.trace ? Value(*requests.trace) : Value()},
      {"format", requests.format == KvTraceForm::kBailian ? "qwen-bailian" : "mooncake"},
      {"block", number(requests.block_tokens())},
      {"seed", number(read.seed)},
  });
}

nb::object model(nb::handle written) {
  const ModelShape shape = read_model(to_value(written));
  return to_python(Value::Map{{"layers", number(shape.layers)},
                              {"hidden", number(shape.hidden)},
                              {"parameters", shape.parameters()},
                              {"weight_bytes", shape.weight_bytes()},
                              {"kv_bytes", number(shape.kv_bytes())}});
}

const char* family_name(ModelFamily family) {
  switch (family) {
    case ModelFamily::kLlama: return "llama";
    case ModelFamily::kOpt: return "opt";
    case ModelFamily::kGpt2: return "gpt2";
    case ModelFamily::kBert: return "bert";
  }
  return "";
}

/// The shape itself; `latent` with the positions of keys.
nb::object shape(nb::handle written) {
  const ModelShape shape = read_model(to_value(written));
  return to_python(Value::Map{{"family", family_name(shape.family)},
                              {"layers", number(shape.layers)},
                              {"hidden", number(shape.hidden)},
                              {"ffn", number(shape.ffn_width())},
                              {"heads", number(shape.heads)},
                              {"kv_heads", number(shape.kv_head_count())},
                              {"vocabulary", number(shape.vocabulary)},
                              {"latent", number(shape.latent > 0 ? shape.latent + shape.rope : 0)},
                              {"parameters", shape.parameters()}});
}

nb::object model_names() {
  Value names(Value::Map{});
  for (const NamedShape& each : model_catalogue()) names.set(each.name, each.source);
  return to_python(names);
}

double first_token(nb::handle written, double tokens, double cached, double flops, double bandwidth,
                   bool by_layers) {
  return first_token_seconds(read_model(to_value(written)), tokens, cached, {flops, bandwidth},
                             by_layers ? KvLoads::kLayers : KvLoads::kFirst);
}

}  // namespace

void bind_kv(nb::module_& m) {
  nb::class_<SharedRequests>(m, "KvRequests", "Requests to a language model.")
      .def("__len__", [](const SharedRequests& shared) { return shared.requests->size(); })
      .def_prop_ro("block_tokens", [](const SharedRequests& shared) { return shared.requests->block_tokens; })
      .def_prop_ro("blocks", [](const SharedRequests& shared) { return shared.requests->blocks.size(); })
      .def_prop_ro("distinct", [](const SharedRequests& shared) { return shared.requests->distinct(); })
      .def("request", [](const SharedRequests& shared, std::size_t at) {
        if (at >= shared.requests->size()) throw nb::index_error();
        const KvRequest& each = shared.requests->requests[at];
        Value::List blocks;
        for (const KvBlock block : shared.requests->blocks_of(at)) blocks.push_back(number(block));
        return to_python(Value::Map{{"arrival_s", each.arrival.ns() * 1e-9},
                                    {"input", number(each.input)},
                                    {"output", number(each.output)},
                                    {"chat", number(each.chat)},
                                    {"blocks", blocks}});
      });
  nb::class_<RequestReader>(m, "KvTraceReader", "Reads a trace of requests.")
      .def(nb::init<const std::string&, std::uint32_t>(), "format"_a, "block"_a)
      .def("feed", &RequestReader::feed, "block"_a)
      .def("finish", &RequestReader::finish);
  nb::class_<RunningServing>(m, "KvServing", "Servers of a language model with a KV cache in tiers.")
      .def(nb::init<nb::handle, const SharedRequests&>(), "params"_a, "requests"_a)
      .def("advance", &RunningServing::advance, "steps"_a)
      .def_prop_ro("now_s", &RunningServing::now_s)
      .def_prop_ro("done", &RunningServing::done)
      .def_prop_ro("requests", &RunningServing::requests)
      .def("result", &RunningServing::result);
  m.def("kv_hits", &hits, "params"_a, "requests"_a);
  m.def("kv_generate", &generated, "params"_a, "block"_a, "seed"_a);
  m.def("kv_requests_of", &requests_of, "params"_a);
  m.def("kv_model", &model, "model"_a);
  m.def("kv_model_names", &model_names);
  m.def("kv_model_shape", &shape, "model"_a);
  m.def("kv_first_token", &first_token, "model"_a, "tokens"_a, "cached"_a, "flops"_a, "bandwidth"_a,
        "by_layers"_a);
}

}  // namespace cxloom
