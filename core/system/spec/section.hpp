// The sections of a spec: its top-level keys. Each is declared once, in spec_section.cpp: what it is for, how
// it is written, what its entries take. Reading, messages, the JSON Schema, the reference and the Python
// front end derive from that.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/schema.hpp"
#include "system/kinds/kind_check.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

/// The form of a top-level entry.
enum class SectionForm : std::uint8_t {
  kText,    ///< `name: dragonfly`
  kKind,    ///< `topology: {kind: ring, ...}`
  kOne,     ///< `run: {seed: 3}`: parameters
  kEach,    ///< `links: [{...}, ...]`: a list of entries
  kByName,  ///< `workload: {host: {...}}`: entries by name
};

/// "text", "kind", "one", "each" or "by_name".
std::string_view form_name(SectionForm form);

struct SpecSection {
  /// Takes an entry, or the whole of `kOne`, whose name is empty. Throws InputError with the path below the
  /// entry.
  using Take = std::function<void(const std::string& name, const Value& written)>;

  std::string name;
  std::string doc;
  SectionForm form = SectionForm::kText;
  std::string entry =
      {};  ///< what the parameters of an entry are known by: `link`; empty: it has none of its own
  SchemaInfo params = {};     ///< these parameters
  std::string besides = {};   ///< a key that an entry has besides them
  std::string category = {};  ///< what an entry, or the section, is a kind of
  std::string required = {};  ///< what to write where a spec has no entry; empty: it needs none
  bool replaced = false;      ///< by others, by the front end: the core does not see it
  /// What reads entries into a spec.
  std::function<Take(const Registry& registry, Spec& spec)> reader = {};
  /// What looks at an entry by itself, for all that is wrong with it.
  std::function<Take(const Registry& registry)> checker = {};
};

/// A section whose entries are parameters, known by the name of an entry. Each that was read goes to
/// `store(spec, params)`.
template <class Params, class Store>
SpecSection params_section(const std::string& name, SectionForm form, const std::string& entry, Store store,
                           const std::string& doc) {
  const SchemaInfo& info = schema_info<Params>();
  return {.name = name,
          .doc = doc,
          .form = form,
          .entry = entry,
          .params = info,
          .reader =
              [store, info](const Registry& registry, Spec& spec) {
                return [store, info, &registry, &spec](const std::string&, const Value& written) {
                  store(spec, read_params<Params>(written));
                  require_kinds(info, written, registry);
                };
              },
          .checker =
              [info](const Registry& registry) {
                return [info, &registry](const std::string&, const Value& written) {
                  ErrorList errors;
                  errors.attempt([&] { static_cast<void>(read_params<Params>(written)); });
                  errors.attempt([&] { check_named(info, written, registry); });
                  errors.raise();
                };
              }};
}

/// A section that is written once: parameters.
template <class Params>
SpecSection one_section(const std::string& name, Params Spec::* member, const std::string& doc) {
  return params_section<Params>(
      name, SectionForm::kOne, name,
      [member](Spec& spec, Params params) { spec.*member = std::move(params); }, doc);
}

/// A section that is a list of parameters.
template <class Params>
SpecSection each_section(const std::string& name, const std::string& entry,
                         std::vector<Params> Spec::* member, const std::string& doc) {
  return params_section<Params>(
      name, SectionForm::kEach, entry,
      [member](Spec& spec, Params params) { (spec.*member).push_back(std::move(params)); }, doc);
}

/// All sections, in the order in which they are read.
const std::vector<SpecSection>& spec_sections();

struct SpecEntry {
  std::string path;
  std::string name;  ///< by which it is written, if it has one
  const Value* written;
};

/// The entries of a section that are written in a spec; throws InputError if they have another form.
std::vector<SpecEntry> entries_of(const SpecSection& section, const Value& spec);

/// Reads a resolved spec of these sections; throws InputError with the path of the offending key.
Spec read_spec(const Value& value, const Registry& registry, const std::vector<SpecSection>& sections);

/// The errors in each entry of a spec by itself.
ErrorList entry_errors(const Value& value, const Registry& registry,
                       const std::vector<SpecSection>& sections);

}  // namespace cxloom
