// A list of the kinds of one sort of thing (devices, media, access patterns, ...): name, declared parameters, factory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/measure.hpp"
#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "base/schema_info.hpp"

namespace cxloom {

template <class Params>
Params read_params(const Value& value);  // of schema.hpp

/// Who adds kinds to it includes schema.hpp. Product is what a factory makes; Context what it needs besides the parameters.
template <class Product, class Context>
class KindRegistry {
 public:
  using Factory = std::function<std::unique_ptr<Product>(const Value& params, Context& context)>;

  struct Entry {
    std::string kind;
    SchemaInfo info;
    std::vector<MeasureInfo> measures;  ///< what it reports
    Factory make;
    /// What one with these parameters takes of the machine's memory; may be empty.
    std::function<void(const Value& params, MemoryEstimate& memory)> estimate;
    std::function<void(const Value& params)> check;  ///< throws InputError for all that is wrong with them
    std::string plugin = {};                         ///< the library that registered it; empty if none did
    std::vector<std::string> traits = {};            ///< words that tools go by (docs/explain.md)
  };

  explicit KindRegistry(std::string noun) : noun_(std::move(noun)) {}

  /// Registers a kind made as `Kind(params, context)`, where `Kind::Params` declares the parameters,
  /// `Kind::measures()`, if there is one, what it reports, `Kind::traits()` words that tools go by, and `Kind::Params::estimate(params, memory)`, if there is one,
  /// what the parameters take of the machine's memory, and `Kind::Params::check(params)`, if there is one, throws
  /// InputError for what only the kind finds wrong with them.
  template <class Kind>
  void add(const std::string& kind) {
    add_factory<typename Kind::Params>(kind, [](const typename Kind::Params& params, Context& context) {
      return std::make_unique<Kind>(params, context);
    });
    if constexpr (requires { Kind::measures(); }) entries_.back().measures = Kind::measures();
    if constexpr (requires { Kind::traits(); }) entries_.back().traits = Kind::traits();
    entries_.back().estimate = [](const Value& value, MemoryEstimate& memory) {
      using Params = typename Kind::Params;
      memory.add({}, "a device", 1, sizeof(Kind));
      if constexpr (requires(const Params& params) { Params::estimate(params, memory); })
        Params::estimate(read_params<Params>(value), memory);
    };
  }

  template <class Params, class Make>
  void add_factory(const std::string& kind, Make factory) {
    if (find(kind)) throw InputError({"the " + noun_ + " kind '" + kind + "' exists already", {}, {}, {}});
    entries_.push_back({kind,
                        Schema<Params>().info(),
                        {},
                        [factory](const Value& value, Context& context) -> std::unique_ptr<Product> {
                          return factory(read_params<Params>(value), context);
                        },
                        {},
                        [](const Value& value) {
                          const auto params = read_params<Params>(value);
                          if constexpr (requires { Params::check(params); }) Params::check(params);
                        },
                        library_});
  }

  const Entry* find(const std::string& kind) const {
    for (const Entry& entry : entries_) {
      if (entry.kind == kind) return &entry;
    }
    return nullptr;
  }

  /// The entry of `kind`; throws InputError with the nearest name if there is none.
  const Entry& at(const std::string& kind) const {
    if (const Entry* entry = find(kind)) return *entry;
    throw unknown(kind, "kind");
  }

  /// The error for a kind that there is not; `path` is where it was named.
  InputError unknown(const std::string& kind, const std::string& path) const {
    const std::vector<std::string> known = names();
    const std::string nearest = nearest_name(kind, known);
    std::string allowed = list_names(known);
    if (nearest.empty() && !extended_) allowed += "; for a kind of a plug-in: --plugin LIB";
    return InputError({"unknown " + noun_ + " kind '" + kind + "'", {}, allowed, nearest}, path);
  }

  std::unique_ptr<Product> make(const KindSpec& kinded, Context& context) const {
    return at(kinded.kind).make(kinded.params, context);
  }

  /// A plug-in is being loaded: what is added from now on is of this library.
  void extend_by(const std::string& library) {
    extended_ = true;
    library_ = library;
  }
  /// What one of its kinds is, as in "unknown media kind".
  const std::string& noun() const { return noun_; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) names.push_back(entry.kind);
    return names;
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::string noun_;
  std::vector<Entry> entries_;  // in order of registration
  bool extended_ = false;       // by a plug-in
  std::string library_;         // whose entries are being added
};

}  // namespace cxloom
