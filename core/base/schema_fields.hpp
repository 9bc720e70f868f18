// The parameters of a set, by their place in it: what schema.hpp declares, without the type of the set. So
// the compiler makes the code of a parameter once for its own type, and not again for each set that has one
// of this type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
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
  /// A condition on a member. `bound` is what it is compared with, of its own type; null: nothing.
  struct Check {
    bool (*holds)(const void* member, const void* bound);
    std::shared_ptr<const void> bound;
    std::string allowed;
  };
  struct Entry {
    FieldInfo info;
    std::size_t place = 0;  ///< bytes from the beginning of the set
    void (*read)(const Value& value, void* member) = nullptr;
    bool (*differs)(const void* member, const void* other) = nullptr;
    std::string (*text)(const void* member) = nullptr;  ///< as a person would write it
    std::vector<Check> checks;
    std::vector<std::uint64_t> numbers;  ///< of the choices; `set` writes one, in place of `read`
    void (*set)(std::uint64_t number, void* member) = nullptr;
  };
  /// A condition between the parameters that begin at `place` in the set.
  struct Condition {
    bool (*holds)(const void* params);
    std::size_t place;
  };

  /// The fields that `describe` declares of a set whose defaults `initial` has, which stays.
  SchemaFields(const void* initial, void (*describe)(SchemaFields& fields));
  SchemaFields(const SchemaFields&) = delete;
  SchemaFields& operator=(const SchemaFields&) = delete;
  ~SchemaFields();

  void doc(std::string_view text);
  void short_for(std::string_view key);
  /// Stays where it is while more are added.
  Entry& add(std::string_view name, std::size_t place);
  /// One that takes one of these values, which `set` writes.
  Entry& add_choice(std::string_view name, std::size_t place, const NamedValues& choices,
                    std::uint64_t initial, void (*set)(std::uint64_t number, void* member));
  void rule(std::string_view problem, Condition condition, std::string_view key);
  void effective(std::string_view key, Condition condition, std::string_view unless);

  const SchemaInfo& info() const { return info_; }
  /// As read_params and check_params; `params` is a set with its defaults.
  void read(const Value& value, const Value& written, void* params) const;
  void check(const void* params) const;

 private:
  struct Rule {
    std::string problem;
    Condition condition;
    std::string key;
  };
  struct Effect {
    std::size_t entry;
    Condition condition;
    std::string unless;
  };

  void check_bounds(const void* params, const std::vector<bool>& unread,
                    const std::vector<const Value*>& written, ErrorList& errors) const;
  void check_rules(const void* params, ErrorList& errors) const;
  void check_effects(const void* params, const std::vector<bool>& written, ErrorList& errors) const;

  const void* initial_;
  SchemaInfo info_;
  std::deque<Entry> entries_;
  std::vector<Rule> rules_;
  std::vector<Effect> effects_;
};

/// Adds a check of a member, and says what is `allowed`.
void add_check(SchemaFields::Entry& entry, bool (*holds)(const void* member, const void* bound),
               std::shared_ptr<const void> bound, std::string_view allowed);

}  // namespace cxloom
