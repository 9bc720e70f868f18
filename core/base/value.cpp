#include "base/value.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace cxloom {

Value::Value() = default;
Value::Value(bool value) : data_(value) {}
Value::Value(std::int64_t value) : data_(value) {}
Value::Value(int value) : data_(std::int64_t{value}) {}
Value::Value(double value) : data_(value) {}
Value::Value(std::string value) : data_(std::move(value)) {}
Value::Value(const char* value) : data_(std::string(value)) {}
Value::Value(List value) : data_(std::move(value)) {}
Value::Value(Map value) : data_(std::move(value)) {}
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;
bool Value::operator==(const Value& other) const = default;

bool Value::is_null() const { return std::holds_alternative<std::monostate>(data_); }
const bool* Value::as_bool() const { return std::get_if<bool>(&data_); }
const std::int64_t* Value::as_integer() const { return std::get_if<std::int64_t>(&data_); }
const double* Value::as_real() const { return std::get_if<double>(&data_); }
const std::string* Value::as_text() const { return std::get_if<std::string>(&data_); }
const Value::List* Value::as_list() const { return std::get_if<List>(&data_); }
const Value::Map* Value::as_map() const { return std::get_if<Map>(&data_); }

const Value* Value::find(std::string_view key) const {
  const Map* map = as_map();
  if (!map) return nullptr;
  for (const auto& [name, value] : *map) {
    if (name == key) return &value;
  }
  return nullptr;
}

Value& Value::set(std::string key, Value value) {
  if (is_null()) data_ = Map{};
  Map& map = std::get<Map>(data_);
  for (auto& [name, old] : map) {
    if (name == key) {
      old = std::move(value);
      return *this;
    }
  }
  map.emplace_back(std::move(key), std::move(value));
  return *this;
}

std::string Value::described() const {
  if (const bool* value = as_bool()) return *value ? "true" : "false";
  if (const std::int64_t* value = as_integer()) return std::to_string(*value);
  if (const double* value = as_real()) {
    if (std::isnan(*value)) return ".nan";  // as YAML has it
    if (std::isinf(*value)) return *value > 0 ? ".inf" : "-.inf";
    std::array<char, 32> buffer{};
    return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), *value).ptr};
  }
  if (const std::string* value = as_text()) return "'" + *value + "'";
  if (as_list()) return "a list";
  if (as_map()) return "a map";
  return "nothing";
}

}  // namespace cxloom
