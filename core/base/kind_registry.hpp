// A list of the kinds of one sort of thing (devices, media, access patterns, ...): name, declared parameters,
// factory.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/kind_list.hpp"
#include "base/parameters.hpp"

namespace cxloom {

// What schema.hpp defines.
template <class Params>
Params read_params(const Value& value);
template <class Params>
const SchemaInfo& schema_info();

/// A list of kinds. To add one, include schema.hpp. Product is what a factory makes; Context what it needs
/// besides the parameters.
template <class Product, class Context>
class KindRegistry : public KindList {
 public:
  using KindList::KindList;

  /// Registers a kind made as `Kind(params, context)`, where `Kind::Params` declares the parameters. A kind
  /// may have besides: `Kind::measures()`, what it reports; `Kind::traits()`, words that tools go by;
  /// `Kind::Params::estimate(params, memory)`, what the parameters take of the machine's memory; and
  /// `Kind::Params::check(params)`, which throws InputError for what only the kind finds wrong with them.
  template <class Kind>
  void add(const std::string& kind) {
    using Params = typename Kind::Params;
    Entry& entry = declare_with<Params>(kind);
    entry.make = [](const void* /*factory*/, const Value& value, void* context) -> void* {
      Product* const made = new Kind(read_params<Params>(value), *static_cast<Context*>(context));
      return made;
    };
    if constexpr (requires { Kind::measures(); }) entry.measures = Kind::measures();
    if constexpr (requires { Kind::traits(); }) entry.traits = Kind::traits();
    entry.estimate = [](const Value& value, MemoryEstimate& memory) {
      estimate_itself(memory, sizeof(Kind));
      if constexpr (requires(const Params& params) { Params::estimate(params, memory); })
        Params::estimate(read_params<Params>(value), memory);
    };
  }

  template <class Params, class Make>
  Entry& add_factory(const std::string& kind, Make factory) {
    Entry& entry = declare_with<Params>(kind);
    entry.factory = std::make_shared<Make>(std::move(factory));
    entry.make = [](const void* own, const Value& value, void* context) -> void* {
      const Make& make = *static_cast<const Make*>(own);
      std::unique_ptr<Product> made = make(read_params<Params>(value), *static_cast<Context*>(context));
      return made.release();
    };
    return entry;
  }

  std::unique_ptr<Product> make(const KindSpec& kinded, Context& context) const {
    const Entry& entry = at(kinded.kind);
    return std::unique_ptr<Product>(
        static_cast<Product*>(entry.make(entry.factory.get(), kinded.params, &context)));
  }

 private:
  template <class Params>
  Entry& declare_with(const std::string& kind) {
    Entry& entry = declare(kind, schema_info<Params>());
    entry.check = [](const Value& value) {
      const auto params = read_params<Params>(value);
      if constexpr (requires { Params::check(params); }) Params::check(params);
    };
    return entry;
  }
};

}  // namespace cxloom
