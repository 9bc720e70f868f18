// The parameters of a set, by their place in it: what schema.hpp declares, without the type of the set. So
// the compiler makes the code of a parameter once for its own type, and not again for each set that has one
// of this type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/schema_info.hpp"
#include "base/value.hpp"

namespace cxloom {

/// The error for a key that others leave without effect; `unless` says what would give it one.
InputError without_effect(const std::string& key, const std::string& unless);

/// Out of line: what describes parameters has hundreds of texts.
void set_text(std::string& text, std::string_view to);
void require(FieldInfo& info);
std::shared_ptr<const SchemaInfo> shared_info(const SchemaInfo& info);

/// The values of an enumeration that a parameter may take, as whole numbers.
using NamedValues = std::vector<std::pair<std::string, std::uint64_t>>;

/// Which of the names a value is; throws InputError with the nearest if it is none.
std::size_t choice_of(const Value& value, const std::vector<std::string>& names);

class SchemaFields {
 public:
  /// A condition on a member.
  struct Check {
    std::function<bool(const void* member)> holds;
    std::string allowed;
    std::function<std::string(const void* member)> found;
  };
  struct Entry {
    FieldInfo info;
    std::size_t place = 0;  ///< bytes from the beginning of the set
    std::function<void(const Value& value, void* member)> read;
    std::function<bool(const void* member)> changed;  ///< from its default
    std::vector<Check> checks;
  };
  using Holds = std::function<bool(const void* params)>;

  /// The fields that `describe` declares.
  explicit SchemaFields(void (*describe)(SchemaFields& fields));
  SchemaFields(const SchemaFields&) = delete;
  SchemaFields& operator=(const SchemaFields&) = delete;
  ~SchemaFields();

  void doc(std::string_view text);
  void short_for(std::string_view key);
  /// Stays where it is while more are added.
  Entry& add(std::string_view name, std::size_t place);
  /// One that takes one of these values, which `set` writes.
  Entry& add_choice(std::string_view name, std::size_t place, const NamedValues& choices,
                    std::uint64_t initial, void (*set)(std::uint64_t value, void* member));
  void rule(std::string_view problem, Holds holds, std::string_view key);
  void effective(std::string_view key, Holds holds, std::string_view unless);

  const SchemaInfo& info() const { return info_; }
  /// As read_params and check_params; `params` is a set with its defaults.
  void read(const Value& value, const Value& written, void* params) const;
  void check(const void* params) const;

 private:
  struct Rule {
    std::string problem;
    Holds holds;
    std::string key;
  };
  struct Effect {
    std::size_t entry;
    Holds holds;
    std::string unless;
  };

  void check_bounds(const void* params, const std::vector<bool>& unread,
                    const std::vector<const Value*>& written, ErrorList& errors) const;
  void check_rules(const void* params, ErrorList& errors) const;
  void check_effects(const void* params, const std::function<bool(std::size_t entry)>& is_written,
                     ErrorList& errors) const;

  SchemaInfo info_;
  std::deque<Entry> entries_;
  std::vector<Rule> rules_;
  std::vector<Effect> effects_;
};

/// A condition on the parameter; `allowed` says what is, and `found` what there is.
void add_check(SchemaFields::Entry& entry, std::function<bool(const void* member)> holds,
               std::string_view allowed, std::function<std::string(const void* member)> found);

}  // namespace cxloom
