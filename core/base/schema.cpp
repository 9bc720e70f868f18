#include "base/schema.hpp"

#include <algorithm>
#include <cmath>

namespace cxloom {

#define CXLOOM_PARAMETER_TYPE(...)                                                          \
  template class SchemaField<__VA_ARGS__>;                                                  \
  template SchemaField<__VA_ARGS__> add_field(SchemaFields&, std::string_view, std::size_t, \
                                              const __VA_ARGS__&);
CXLOOM_EACH_PARAMETER_TYPE(CXLOOM_PARAMETER_TYPE)
#undef CXLOOM_PARAMETER_TYPE

namespace {

[[noreturn]] void wrong_type(const Value& value, const std::string& problem, const std::string& allowed) {
  throw InputError({problem, value.described(), allowed, {}});
}

// A quantity is text with its unit; a bare number lacks it.
template <class T>
void read_quantity(const Value& value, T& out, T (*parse)(std::string_view), const std::string& example) {
  if (const std::string* text = value.as_text()) {
    out = parse(*text);
  } else if (value.as_integer() || value.as_real()) {
    wrong_type(value, "the unit is missing", "a quantity with its unit, such as " + example);
  } else {
    wrong_type(value, "not a quantity", "a quantity with its unit, such as " + example);
  }
}

std::uint64_t read_natural(const Value& value, std::uint64_t maximum) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: up to here a real number holds any whole one
  const double* real = value.as_real();
  const bool whole = real && std::trunc(*real) == *real && std::abs(*real) <= kExact;
  const std::int64_t from_real =
      whole ? static_cast<std::int64_t>(*real) : 0;  // YAML reads 1e9 as a real number
  const std::int64_t* number = whole ? &from_real : value.as_integer();
  if (!number) wrong_type(value, "not a whole number", "a whole number without unit");
  if (*number < 0) wrong_type(value, "a negative number", "zero or more");
  if (static_cast<std::uint64_t>(*number) > maximum)
    wrong_type(value, "the number is too large", "at most " + std::to_string(maximum));
  return static_cast<std::uint64_t>(*number);
}

}  // namespace

void read_value(const Value& value, Time& out) { read_quantity(value, out, parse_time, "10ns"); }
void read_value(const Value& value, Bytes& out) { read_quantity(value, out, parse_bytes, "16GiB"); }
void read_value(const Value& value, Bandwidth& out) { read_quantity(value, out, parse_bandwidth, "64GB/s"); }
void read_value(const Value& value, Frequency& out) { read_quantity(value, out, parse_frequency, "50M/s"); }

void read_value(const Value& value, Address& out) {
  if (const std::string* text = value.as_text()) {
    out = parse_address(*text);
  } else if (const std::int64_t* number = value.as_integer(); number && *number >= 0) {
    out = Address{static_cast<std::uint64_t>(*number)};  // YAML reads 0x1000 as a number
  } else {
    wrong_type(value, "not an address", "a hexadecimal address such as 0x1000, or a size such as 64GiB");
  }
}

void read_value(const Value& value, double& out) {
  if (const double* number = value.as_real()) {
    out = *number;
  } else if (const std::int64_t* whole = value.as_integer()) {
    out = static_cast<double>(*whole);
  } else if (const std::string* text = value.as_text()) {
    out = parse_fraction(*text);
  } else {
    wrong_type(value, "not a number", "a number, or a percentage such as 67%");
  }
  if (!std::isfinite(out)) wrong_type(value, "not a finite number", "a finite number");
}

void read_value(const Value& value, std::uint32_t& out) {
  out = static_cast<std::uint32_t>(read_natural(value, std::numeric_limits<std::uint32_t>::max()));
}

void read_value(const Value& value, std::uint64_t& out) {
  out = read_natural(value, std::numeric_limits<std::int64_t>::max());
}

void read_value(const Value& value, bool& out) {
  const bool* flag = value.as_bool();
  if (!flag) wrong_type(value, "not true or false", "true or false");
  out = *flag;
}

void read_value(const Value& value, std::string& out) {
  const std::string* text = value.as_text();
  if (!text) wrong_type(value, "not a text", "a text");
  out = *text;
}

void read_value(const Value& value, KindSpec& out) {
  if (const std::string* kind = value.as_text()) {  // `topology: ring` is short for `{kind: ring}`
    out = {*kind, Value(Value::Map{})};
    return;
  }
  const Value::Map* map = value.as_map();
  const Value* kind = value.find("kind");
  if (!map || !kind || !kind->as_text()) wrong_type(value, "the kind is missing", "a map with a key 'kind'");
  Value::Map params;
  for (const auto& [key, item] : *map) {
    if (key != "kind") params.emplace_back(key, item);
  }
  out = {*kind->as_text(), Value(std::move(params))};
}

}  // namespace cxloom
