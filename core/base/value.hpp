// A value as a person writes it (a YAML scalar, list or map), before it has a type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cxloom {

class Value {
 public:
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<std::string, Value>>;  // in the order written

  // Out of line: nearly every source copies and destroys values, and few look into them.
  Value();
  Value(bool value);          // NOLINT(google-explicit-constructor)
  Value(std::int64_t value);  // NOLINT(google-explicit-constructor)
  Value(int value);           // NOLINT(google-explicit-constructor)
  Value(double value);        // NOLINT(google-explicit-constructor)
  Value(std::string value);   // NOLINT(google-explicit-constructor)
  Value(const char* value);   // NOLINT(google-explicit-constructor)
  Value(List value);          // NOLINT(google-explicit-constructor)
  Value(Map value);           // NOLINT(google-explicit-constructor)
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();

  bool operator==(const Value& other) const;

  bool is_null() const;
  const bool* as_bool() const;
  const std::int64_t* as_integer() const;
  const double* as_real() const;
  const std::string* as_text() const;
  const List* as_list() const;
  const Map* as_map() const;

  /// The entry of a map, or null if this is no map or has no such key.
  const Value* find(std::string_view key) const;
  /// Sets (or adds) the entry of a map; a null value becomes a map.
  Value& set(std::string key, Value value);
  /// The value in an error message: `'text'`, `12`, `a list`, `a map`, `nothing`.
  std::string described() const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> data_;
};

/// A count, which has no sign.
inline Value number(std::uint64_t count) { return {static_cast<std::int64_t>(count)}; }

/// The mean of so many samples, or a share of so many; null if there were none, for that is no zero.
inline Value mean_value(double sum, double count) { return count > 0 ? Value(sum / count) : Value(); }

}  // namespace cxloom
