// Declared parameters: name, type and unit, default, bounds, meaning and source of each, said once beside the
// component that uses it. Validation, messages, the JSON Schema, the reference and the Python models derive
// from it.
//
//   struct BusParams {
//     Bandwidth bandwidth;
//     Time bus_time = 1_ns;
//     static void describe(Schema<BusParams>& schema) {
//       schema.doc("A shared medium between ...");
//       schema.field("bandwidth", &BusParams::bandwidth).doc("Bytes per second in each direction.");
//       schema.field("bus_time", &BusParams::bus_time)
//           .doc("Time to cross the bus.")
//           .source("ESF, Table III");
//     }
//   };
//   BusParams params = read_params<BusParams>(value);   // throws InputError with the path of the key
//
// The default of a parameter is its member initialiser.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "base/schema_fields.hpp"
#include "base/schema_info.hpp"
#include "base/units.hpp"
#include "base/value.hpp"

namespace cxloom {

/// No parameter is a longer time: an hour, which leaves room for sums of them in 64 bits of picoseconds.
inline constexpr Time kLongestTime{3'600'000'000'000'000};

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
void read_value(const Value& value, KindSpec& out);
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
      throw error.with_path("[" + std::to_string(i) + "]");
    }
  }
}

/// `out` has the defaults of its type, or those that its set gives it.
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
  else if constexpr (std::is_same_v<T, KindSpec>) return "kind";
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
  else if constexpr (std::is_same_v<T, KindSpec>) return value.kind;
  else if constexpr (IsOptional<T>::value) return value ? value_text(*value) : std::string();
  else if constexpr (requires { to_text(value); }) return to_text(value);
  else return {};
}

template <class T>
concept Ordered = requires(const T& a, const T& b) {
  { a < b } -> std::convertible_to<bool>;
};

template <class T>
struct WithoutOptional {
  using Type = T;
};
template <class T>
struct WithoutOptional<std::optional<T>> {
  using Type = T;
};

/// The value of a parameter; null: an optional one that has none.
template <class Member>
auto value_in(const void* member) {
  const Member& value = *static_cast<const Member*>(member);
  if constexpr (IsOptional<Member>::value) return value ? &*value : nullptr;
  else return &value;
}

/// What a T has to be. It is known by its type alone: a lambda that captures nothing.
template <class Holds, class T>
concept ConditionOn = std::predicate<Holds, const T&> && std::is_empty_v<Holds>;

/// Says the rest about a parameter just declared. T is its type, or what an optional one holds. The members
/// that do something are below, outside: the library has them for the types that parameters mostly are.
template <class Member, class T = typename WithoutOptional<Member>::Type>
class SchemaField {
 public:
  explicit SchemaField(SchemaFields::Entry& entry) : entry_(entry) {}

  SchemaField& doc(std::string_view text) { return set_text(entry_.info.doc, text), *this; }
  SchemaField& source(std::string_view text) { return set_text(entry_.info.source, text), *this; }
  SchemaField& required() { return require(entry_.info), *this; }
  /// Shows `text` where the default depends on something else ("that of the port").
  SchemaField& default_text(std::string_view text) { return set_text(entry_.info.default_text, text), *this; }
  /// The registry that lists the kinds of a KindSpec parameter.
  SchemaField& category(std::string_view name) { return set_text(entry_.info.category, name), *this; }
  /// A text is the path of a file, which the front end finds from the spec's folder and makes absolute.
  SchemaField& file() { return set_text(entry_.info.type, "file"), *this; }
  /// A real number lies in [0, 1] and may be written as a percentage.
  SchemaField& fraction()
    requires std::floating_point<T>;
  /// A real number is a share that has other bounds within [0, 1].
  template <ConditionOn<T> Holds>
    requires std::floating_point<T>
  SchemaField& fraction(Holds holds, std::string_view allowed) {
    set_text(entry_.info.type, "fraction");
    set_text(entry_.info.minimum, "0");
    set_text(entry_.info.maximum, "1");
    return where(holds, allowed);
  }
  SchemaField& min(const T& bound)
    requires Ordered<T>;
  SchemaField& max(const T& bound)
    requires Ordered<T>;
  /// Any other condition; `allowed` says what is.
  template <ConditionOn<T> Holds>
  SchemaField& where(Holds /*holds*/, std::string_view allowed) {
    const auto check = [](const void* member, const void* /*bound*/) {
      const T* const value = value_in<Member>(member);
      return !value || Holds{}(*value);
    };
    return add_check(entry_, check, nullptr, allowed), *this;
  }

 private:
  SchemaFields::Entry& entry_;
};

template <class Member, class T>
SchemaField<Member, T>& SchemaField<Member, T>::fraction()
  requires std::floating_point<T>
{
  set_text(entry_.info.type, "fraction");
  return min(T{0}).max(T{1});
}

template <class Member, class T>
SchemaField<Member, T>& SchemaField<Member, T>::min(const T& bound)
  requires Ordered<T>
{
  const auto check = [](const void* member, const void* least) {
    const T* const value = value_in<Member>(member);
    return !value || !(*value < *static_cast<const T*>(least));
  };
  entry_.info.minimum = value_text(bound);
  return add_check(entry_, check, std::make_shared<T>(bound), "at least " + entry_.info.minimum), *this;
}

template <class Member, class T>
SchemaField<Member, T>& SchemaField<Member, T>::max(const T& bound)
  requires Ordered<T>
{
  const auto check = [](const void* member, const void* most) {
    const T* const value = value_in<Member>(member);
    return !value || !(*static_cast<const T*>(most) < *value);
  };
  entry_.info.maximum = value_text(bound);
  return add_check(entry_, check, std::make_shared<T>(bound), "at most " + entry_.info.maximum), *this;
}

template <class Params>
const SchemaInfo& schema_info();

/// What is declared of a parameter that is a set itself; null: it is none.
template <class T>
std::shared_ptr<const SchemaInfo> nested_info() {
  if constexpr (requires(Schema<T>& schema) { T::describe(schema); }) {
    return shared_info(schema_info<T>());
  } else {
    return nullptr;
  }
}

/// Whether a member of two sets differs, as far as it can be compared.
template <class Member>
bool members_differ(const void* member, const void* other) {
  const auto& a = *static_cast<const Member*>(member);
  const auto& b = *static_cast<const Member*>(other);
  if constexpr (IsVector<Member>::value) return a.size() != b.size();
  else if constexpr (std::equality_comparable<Member>) return !(a == b);
  else return false;
}

template <class Member>
std::string member_text(const void* member) {
  return value_text(*static_cast<const Member*>(member));
}

/// Declares a parameter that is `place` bytes from the beginning of its set.
template <class Member>
SchemaField<Member> add_field(SchemaFields& fields, std::string_view name, std::size_t place,
                              const Member& initial) {
  using T = typename WithoutOptional<Member>::Type;
  SchemaFields::Entry& entry = fields.add(name, place);
  entry.info.type = type_name<Member>();
  entry.info.default_text = value_text(initial);
  if constexpr (IsVector<T>::value) {
    entry.info.item = type_name<typename T::value_type>();
    entry.info.fields = nested_info<typename T::value_type>();
  } else {
    entry.info.fields = nested_info<T>();
  }
  if (entry.info.fields) entry.info.short_for = entry.info.fields->short_for;
  entry.read = [](const Value& value, void* member) { read_value(value, *static_cast<Member*>(member)); };
  entry.differs = members_differ<Member>;
  entry.text = member_text<Member>;
  SchemaField<Member> field(entry);
  if constexpr (std::is_same_v<T, Time>) field.max(kLongestTime);
  return field;
}

/// A value of a choice as a whole number, and back. An optional one may have none.
inline constexpr std::uint64_t kNoChoice = ~std::uint64_t{0};
template <class T>
std::uint64_t number_of_choice(const T& value) {
  if constexpr (IsOptional<T>::value) return value ? number_of_choice(*value) : kNoChoice;
  else return static_cast<std::uint64_t>(value);
}
template <class T>
T choice_of_number(std::uint64_t number) {
  if constexpr (IsOptional<T>::value) {
    return number == kNoChoice ? T() : T(choice_of_number<typename T::value_type>(number));
  } else {
    return static_cast<T>(number);
  }
}

/// Declares a parameter that takes one of the named values.
template <class Enum>
SchemaField<Enum> add_choice(SchemaFields& fields, std::string_view name, std::size_t place,
                             const Enum& initial, const NamedValues& choices) {
  const auto set = [](std::uint64_t number, void* member) {
    *static_cast<Enum*>(member) = choice_of_number<Enum>(number);
  };
  SchemaFields::Entry& entry = fields.add_choice(name, place, choices, number_of_choice(initial), set);
  entry.differs = members_differ<Enum>;
  entry.text = member_text<Enum>;
  return SchemaField<Enum>(entry);
}

// What a parameter of one of these types takes of the compiler is in the library (schema.cpp), and not in
// each file that declares one.
#define CXLOOM_EACH_PARAMETER_TYPE(apply)                                                              \
  apply(Time) apply(Bytes) apply(Bandwidth) apply(double) apply(bool) apply(std::uint32_t)             \
      apply(std::uint64_t) apply(std::string) apply(KindSpec) apply(std::optional<Time>)               \
          apply(std::optional<Bytes>) apply(std::optional<double>) apply(std::optional<std::uint32_t>) \
              apply(std::optional<std::uint64_t>) apply(std::optional<KindSpec>)
#define CXLOOM_PARAMETER_IS_IN_THE_LIBRARY(...)                                                    \
  extern template class SchemaField<__VA_ARGS__>;                                                  \
  extern template SchemaField<__VA_ARGS__> add_field(SchemaFields&, std::string_view, std::size_t, \
                                                     const __VA_ARGS__&);
CXLOOM_EACH_PARAMETER_TYPE(CXLOOM_PARAMETER_IS_IN_THE_LIBRARY)
#undef CXLOOM_PARAMETER_IS_IN_THE_LIBRARY

/// Where `Params::describe` declares the parameters of a component.
template <class Params>
class Schema {
 public:
  /// `initial` has the defaults.
  Schema(SchemaFields& fields, const Params& initial) : fields_(fields), initial_(initial) {}
  /// The part of the set `whole` from which that derives.
  template <class Whole>
    requires(std::is_base_of_v<Params, Whole> && !std::is_same_v<Params, Whole>)
  Schema(Schema<Whole>& whole)  // NOLINT(google-explicit-constructor)
      : fields_(whole.fields_),
        initial_(whole.initial_),
        place_(whole.place_of(&static_cast<const Params&>(whole.initial_))) {}

  void doc(std::string_view text) { fields_.doc(text); }
  /// A text in place of the map is the value of that key: `bind: [mem0]` for `bind: [{to: mem0}]`.
  void short_for(std::string_view key) { fields_.short_for(key); }

  /// `Base` is Params or what it derives from.
  template <class Member, class Base>
    requires std::is_base_of_v<Base, Params>
  SchemaField<Member> field(std::string_view name, Member Base::* member) {
    const Member& initial = initial_.*member;
    return add_field(fields_, name, place_of(&initial), initial);
  }

  /// A parameter that takes one of the named values.
  template <class Enum, class Base>
    requires std::is_base_of_v<Base, Params>
  SchemaField<Enum> choice(
      std::string_view name, Enum Base::* member,
      std::initializer_list<std::pair<std::string_view, std::type_identity_t<Enum>>> choices) {
    NamedValues named;
    for (const auto& [text, value] : choices) named.emplace_back(text, number_of_choice(value));
    const Enum& initial = initial_.*member;
    return add_choice(fields_, name, place_of(&initial), initial, named);
  }

  /// A condition between several parameters; `problem` says what is wrong when it does not hold, and `key`
  /// with which of them, if one is to blame.
  template <ConditionOn<Params> Holds>
  void rule(std::string_view problem, Holds /*holds*/, std::string_view key = {}) {
    fields_.rule(problem, condition<Holds>(), key);
  }

  /// When a parameter that was declared has an effect beside the others; `unless` goes on behind "has no
  /// effect": "unless there are banks: set banks". Where it has none it is refused if somebody wrote it,
  /// whatever its value: also that of its default. Of parameters that were set from C++ those count as
  /// written that are not as they are by default.
  template <ConditionOn<Params> Holds>
  void effective(std::string_view key, Holds /*holds*/, std::string_view unless) {
    fields_.effective(key, condition<Holds>(), unless);
  }

 private:
  template <class Part>
  friend class Schema;

  std::size_t place_of(const void* member) const {
    return place_ + static_cast<std::size_t>(static_cast<const std::byte*>(member) -
                                             reinterpret_cast<const std::byte*>(&initial_));
  }
  template <class Holds>
  SchemaFields::Condition condition() const {
    return {[](const void* params) { return Holds{}(*static_cast<const Params*>(params)); }, place_};
  }

  SchemaFields& fields_;
  const Params& initial_;
  std::size_t place_ = 0;  ///< bytes from the beginning of the whole
};

/// What `Params::describe` declares.
template <class Params>
const SchemaFields& declared() {
  static const Params initial{};
  static const SchemaFields fields(&initial, [](SchemaFields& to) {
    Schema<Params> schema(to, initial);
    Params::describe(schema);
  });
  return fields;
}

template <class Params>
const SchemaInfo& schema_info() {
  return declared<Params>().info();
}

template <class Params>
  requires requires(Schema<Params>& schema) { Params::describe(schema); }
void read_value(const Value& value, Params& out) {
  declared<Params>().read(value, value, &out);
}

/// Parameters from what a person wrote. Throws InputError, with the path of the offending key, for all that
/// is wrong: keys, values and bounds, or else the rules between them.
template <class Params>
Params read_params(const Value& value) {
  Params params{};
  read_value(value, params);
  return params;
}

/// As `read_params`, where a person wrote no more than the keys of `written`; others have their values from
/// elsewhere, such as a preset among the parameters.
template <class Params>
Params read_params(const Value& value, const Value& written) {
  Params params{};
  declared<Params>().read(value, written, &params);
  return params;
}

/// Throws InputError if a bound or rule is broken: for parameters that were set from C++ as well.
template <class Params>
void check_params(const Params& params) {
  declared<Params>().check(&params);
}

}  // namespace cxloom
