// Declared parameters: name, type and unit, default, bounds, meaning and source of each, said once beside the
// component that uses it. Validation, messages, the JSON Schema, the reference and the Python models derive from it.
//
//   struct BusParams {
//     Bandwidth bandwidth;
//     Time bus_time = 1_ns;
//     static void describe(Schema<BusParams>& schema) {
//       schema.doc("A shared medium between ...");
//       schema.field("bandwidth", &BusParams::bandwidth).doc("Bytes a second in each direction.");
//       schema.field("bus_time", &BusParams::bus_time).doc("Time to cross the bus.").source("ESF, Table III");
//     }
//   };
//   BusParams params = read_params<BusParams>(value);   // throws InputError with the path of the key
//
// The default of a parameter is its member initialiser.
#pragma once

#include <algorithm>
#include <concepts>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "base/schema_info.hpp"
#include "base/units.hpp"
#include "base/value.hpp"

namespace cxloom {

/// No parameter is a longer time: an hour, which leaves room for sums of them in 64 bits of picoseconds.
inline constexpr Time kLongestTime{3'600'000'000'000'000};

/// The error for a key that others leave without effect; `unless` says what would give it one.
InputError without_effect(const std::string& key, const std::string& unless);

// One reader a type: turns what was written into the type, or throws InputError.
void read_value(const Value& value, Time& out);
void read_value(const Value& value, Bytes& out);
void read_value(const Value& value, Bandwidth& out);
void read_value(const Value& value, Frequency& out);
void read_value(const Value& value, Address& out);
void read_value(const Value& value, double& out);  // a real number, or a fraction such as 67%
void read_value(const Value& value, std::uint32_t& out);
void read_value(const Value& value, std::uint64_t& out);
void read_value(const Value& value, bool& out);
void read_value(const Value& value, std::string& out);
void read_value(const Value& value, Kinded& out);
inline void read_value(const Value& value, Value& out) { out = value; }  // read by somebody else

template <class T>
void read_value(const Value& value, std::vector<T>& out) {
  const Value::List* list = value.as_list();
  if (!list) throw InputError({"not a list", value.described(), "a list such as [a, b]", {}});
  out.clear();
  for (std::size_t i = 0; i < list->size(); ++i) {
    try {
      read_value((*list)[i], out.emplace_back());
    } catch (const InputError& error) {
      throw error.below("[" + std::to_string(i) + "]");
    }
  }
}

template <class Params>
  requires requires(Schema<Params>& schema) { Params::describe(schema); }
void read_value(const Value& value, Params& out);

template <class T>
void read_value(const Value& value, std::optional<T>& out) {
  if (value.is_null()) {
    out.reset();
    return;
  }
  T inner{};
  read_value(value, inner);
  out = std::move(inner);
}

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// The name of a type in FieldInfo::type.
template <class T>
std::string type_name() {
  if constexpr (std::is_same_v<T, Time>) return "time";
  else if constexpr (std::is_same_v<T, Bytes>) return "bytes";
  else if constexpr (std::is_same_v<T, Bandwidth>) return "bandwidth";
  else if constexpr (std::is_same_v<T, Frequency>) return "frequency";
  else if constexpr (std::is_same_v<T, Address>) return "address";
  else if constexpr (std::is_same_v<T, double>) return "real";
  else if constexpr (std::is_same_v<T, bool>) return "boolean";
  else if constexpr (std::is_integral_v<T>) return "integer";
  else if constexpr (std::is_same_v<T, std::string>) return "text";
  else if constexpr (std::is_same_v<T, Kinded>) return "kind";
  else if constexpr (std::is_same_v<T, Value>) return "any";
  else if constexpr (requires { T::kSchemaType; }) return std::string(T::kSchemaType);
  else if constexpr (IsVector<T>::value) return "list";
  else if constexpr (IsOptional<T>::value) return type_name<typename T::value_type>();
  else return "map";
}

/// A value as a person would write it.
template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (std::is_integral_v<T>) return std::to_string(value);
  else if constexpr (std::is_same_v<T, double>) {
    std::string text = Value(value).described();
    return text;
  } else if constexpr (std::is_same_v<T, std::string>) return value;
  else if constexpr (std::is_same_v<T, Kinded>) return value.kind;
  else if constexpr (IsOptional<T>::value) return value ? value_text(*value) : std::string();
  else if constexpr (requires { to_text(value); }) return to_text(value);
  else return {};
}

/// Refuses a value that is no map. Gives each declared key to `read`, by the index of its field, and adds to `errors`
/// what that throws, the keys that are not declared (with the nearest name), and the required ones that are missing.
void read_map(const Value& value, const std::vector<FieldInfo>& fields,
              const std::function<void(std::size_t field, const Value& value)>& read, ErrorList& errors);

/// The error for a value outside its bounds; `written` is null where it was set from C++.
InputError out_of_bounds(const FieldInfo& field, const Value* written, const std::string& found,
                         const std::string& allowed);

/// The parameters of one component as `Params::describe` declares them: reads, checks and tells about them.
template <class Params>
class Schema {
  struct Check {
    std::function<bool(const Params&)> holds;
    std::string allowed;
    std::function<std::string(const Params&)> found;
  };
  struct Entry {
    FieldInfo info;
    std::function<void(const Value&, Params&)> read;
    std::vector<Check> checks;
    std::function<bool(const Params&)> changed;  // from its default
  };
  struct Rule {
    std::string problem;
    std::function<bool(const Params&)> holds;
    std::string key;
  };
  struct Effect {
    std::size_t entry;
    std::function<bool(const Params&)> holds;
    std::string unless;
  };

 public:
  /// Says the rest about a parameter just declared. T is its type, or what an optional one holds.
  template <class Member, class T>
  class Field {
   public:
    Field(Entry& entry, Member Params::* member) : entry_(entry), member_(member) {}

    Field& doc(std::string text) { return entry_.info.doc = std::move(text), *this; }
    Field& source(std::string text) { return entry_.info.source = std::move(text), *this; }
    Field& required() { return entry_.info.required = true, entry_.info.default_text.clear(), *this; }
    /// Shows `text` where the default depends on something else ("that of the port").
    Field& default_text(std::string text) { return entry_.info.default_text = std::move(text), *this; }
    /// Of a Kinded parameter: the registry that lists the kinds.
    Field& category(std::string name) { return entry_.info.category = std::move(name), *this; }
    /// Of a text: the path of a file, which the front end finds relative to the spec's folder and makes absolute.
    Field& file() { return entry_.info.type = "file", *this; }
    /// Of a real number: it lies in [0, 1] and may be written as a percentage.
    Field& fraction() {
      entry_.info.type = "fraction";
      return min(T{0}).max(T{1});
    }
    /// Of a real number: a share that has other bounds within [0, 1].
    Field& fraction(std::function<bool(const T&)> holds, std::string allowed) {
      entry_.info.type = "fraction";
      entry_.info.minimum = value_text(T{0});
      entry_.info.maximum = value_text(T{1});
      return where(std::move(holds), std::move(allowed));
    }
    Field& min(T bound) {
      entry_.info.minimum = value_text(bound);
      return where([bound](const T& value) { return !(value < bound); }, "at least " + value_text(bound));
    }
    Field& max(T bound) {
      entry_.info.maximum = value_text(bound);
      return where([bound](const T& value) { return !(bound < value); }, "at most " + value_text(bound));
    }
    /// Any other condition; `allowed` says what is.
    Field& where(std::function<bool(const T&)> holds, std::string allowed) {
      entry_.checks.push_back(
          {[holds = std::move(holds), member = member_](const Params& params) {
             const Member& value = params.*member;
             if constexpr (IsOptional<Member>::value) return !value || holds(*value);
             else return holds(value);
           },
           std::move(allowed),
           [member = member_](const Params& params) { return value_text(params.*member); }});
      return *this;
    }

   private:
    Entry& entry_;
    Member Params::* member_;
  };

  template <class Member>
  struct Held {
    using Type = Member;
  };
  template <class T>
  struct Held<std::optional<T>> {
    using Type = T;
  };

  Schema() {
    Params::describe(*this);
    for (const Entry& entry : entries_) info_.fields.push_back(entry.info);
  }

  void doc(std::string text) { info_.doc = std::move(text); }

  /// `Base` is Params or what it derives from.
  template <class Member, class Base>
    requires std::is_base_of_v<Base, Params>
  auto field(std::string name, Member Base::* base_member) {
    Member Params::* const member = base_member;
    using T = typename Held<Member>::Type;
    const Params initial{};
    Entry& entry = entries_.emplace_back();
    entry.info.name = std::move(name);
    entry.info.type = type_name<Member>();
    entry.info.default_text = value_text(initial.*member);
    if constexpr (IsVector<T>::value) {
      entry.info.item = type_name<typename T::value_type>();
      entry.info.fields = nested_info<typename T::value_type>();
    } else {
      entry.info.fields = nested_info<T>();
    }
    entry.read = [member](const Value& value, Params& params) { read_value(value, params.*member); };
    entry.changed = change_of(member);
    Field<Member, T> field(entry, member);
    if constexpr (std::is_same_v<T, Time>) field.max(kLongestTime);
    return field;
  }

  /// A parameter that takes one of the named values.
  template <class Enum, class Base>
    requires std::is_base_of_v<Base, Params>
  auto choice(std::string name, Enum Base::* base_member,
              std::vector<std::pair<std::string, std::type_identity_t<Enum>>> choices) {
    Enum Params::* const member = base_member;
    const Params initial{};
    Entry& entry = entries_.emplace_back();
    entry.info.name = std::move(name);
    entry.info.type = "choice";
    for (const auto& [text, value] : choices) {
      entry.info.choices.push_back(text);
      if (value == initial.*member) entry.info.default_text = text;
    }
    entry.read = [member, choices = std::move(choices), names = entry.info.choices](const Value& value,
                                                                                    Params& params) {
      const std::string* text = value.as_text();
      for (const auto& [known, meaning] : choices) {
        if (text && known == *text) {
          params.*member = meaning;
          return;
        }
      }
      throw InputError(
          {"unknown choice", value.described(), list_names(names), text ? nearest_name(*text, names) : ""});
    };
    entry.changed = change_of(member);
    return Field<Enum, Enum>(entry, member);
  }

  /// A condition between several parameters; `problem` says what is wrong when it does not hold, and `key` with which
  /// of them, if one is to blame.
  void rule(std::string problem, std::function<bool(const Params&)> holds, std::string key = {}) {
    rules_.push_back({std::move(problem), std::move(holds), std::move(key)});
  }

  /// When a parameter that was declared has an effect beside the others; `unless` goes on behind "has no effect": "unless
  /// there are banks: set banks". Where it has none it is refused if somebody wrote it, whatever its value: also that of
  /// its default. Of parameters that were set from C++ those count as written that are not as they are by default.
  void effective(const std::string& key, std::function<bool(const Params&)> holds, std::string unless) {
    const auto entry = std::ranges::find(entries_, key, [](const Entry& each) { return each.info.name; });
    ensure(entry != entries_.end(), "an effect of a parameter that is not declared");
    effects_.push_back(
        {static_cast<std::size_t>(entry - entries_.begin()), std::move(holds), std::move(unless)});
  }

  const SchemaInfo& info() const { return info_; }

  /// Throws InputError for all that is wrong: keys, values and bounds, or else the rules between them.
  Params read(const Value& value) const { return read(value, value); }

  /// As `read`, where a person wrote no more than the keys of `written`; others have their values from elsewhere, such as a
  /// preset among the parameters.
  Params read(const Value& value, const Value& written) const {
    Params params{};
    ErrorList errors;
    std::vector<const Value*> items(entries_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      items[i] = written.find(entries_[i].info.name);
      if (items[i] && items[i]->is_null()) items[i] = nullptr;
    }
    std::vector<bool> unread(entries_.size());  // what is there instead need not be within bounds
    for (std::size_t i = 0; i < entries_.size(); ++i) unread[i] = entries_[i].info.required;
    const auto read_one = [&](std::size_t i, const Value& item) {
      unread[i] = true;
      entries_[i].read(item, params);
      unread[i] = false;
    };
    read_map(value, info_.fields, read_one, errors);
    check_bounds(params, unread, items, errors);
    errors.raise();
    check_rules(params, errors);
    check_effects(params, [&](std::size_t i) { return items[i] != nullptr; }, errors);
    errors.raise();
    return params;
  }

  /// Throws InputError if a bound or rule is broken: for parameters that were set from C++ as well.
  void check(const Params& params) const {
    ErrorList errors;
    check_bounds(params, std::vector<bool>(entries_.size()), std::vector<const Value*>(entries_.size()),
                 errors);
    check_rules(params, errors);
    check_effects(params, [&](std::size_t i) { return entries_[i].changed(params); }, errors);
    errors.raise();
  }

 private:
  template <class T>
  static std::shared_ptr<const SchemaInfo> nested_info() {
    if constexpr (requires(Schema<T>& schema) { T::describe(schema); }) {
      return std::make_shared<const SchemaInfo>(Schema<T>().info());
    } else {
      return nullptr;
    }
  }

  /// Whether a member is not as it is by default.
  template <class Member>
  static std::function<bool(const Params&)> change_of(Member Params::* member) {
    if constexpr (IsVector<Member>::value) {
      return [member](const Params& params) { return (params.*member).size() != (Params{}.*member).size(); };
    } else if constexpr (std::equality_comparable<Member>) {
      return [member](const Params& params) { return !(params.*member == Params{}.*member); };
    } else {
      return [](const Params&) { return false; };
    }
  }

  void check_bounds(const Params& params, const std::vector<bool>& unread,
                    const std::vector<const Value*>& written, ErrorList& errors) const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::vector<Check>& checks = entries_[i].checks;
      const auto broken = unread[i] ? checks.end()
                                    : std::find_if(checks.begin(), checks.end(),
                                                   [&](const Check& check) { return !check.holds(params); });
      if (broken != checks.end())
        errors.add(out_of_bounds(entries_[i].info, written[i], broken->found(params), broken->allowed));
    }
  }

  void check_rules(const Params& params, ErrorList& errors) const {
    for (const Rule& rule : rules_) {
      if (!rule.holds(params))
        errors.add(InputError({rule.problem, {}, {}, {}, InputError::Kind::kBetween}, rule.key));
    }
  }

  template <class IsWritten>
  void check_effects(const Params& params, IsWritten is_written, ErrorList& errors) const {
    for (const Effect& effect : effects_) {
      if (is_written(effect.entry) && !effect.holds(params))
        errors.add(without_effect(entries_[effect.entry].info.name, effect.unless));
    }
  }

  SchemaInfo info_;
  std::deque<Entry> entries_;  // a Field keeps a reference while more are declared
  std::vector<Rule> rules_;
  std::vector<Effect> effects_;
};

template <class Params>
  requires requires(Schema<Params>& schema) { Params::describe(schema); }
void read_value(const Value& value, Params& out) {
  static const Schema<Params> schema;
  out = schema.read(value);
}

/// Parameters from what a person wrote; throws InputError with the path of the offending key.
template <class Params>
Params read_params(const Value& value) {
  Params params{};
  read_value(value, params);
  return params;
}

}  // namespace cxloom
