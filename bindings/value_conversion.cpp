#include "value_conversion.hpp"

#include <nanobind/stl/string.h>

#include <limits>
#include <string>

#include "base/error.hpp"
#include "generated_links.hpp"

namespace nb = nanobind;

namespace cxloom {

Value to_value(nb::handle object) {
  if (object.is_none()) return {};
  if (nb::isinstance<nb::bool_>(object)) return nb::cast<bool>(object);
  if (nb::isinstance<nb::int_>(object)) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    std::int64_t number = 0;
    if (!nb::try_cast(object, number)) {
      throw InputError({"the number is too large",
                        nb::cast<std::string>(nb::str(object)),
                        "at most " + std::to_string(kMost),
                        {}});
    }
    return number;
  }
  if (nb::isinstance<nb::float_>(object)) return nb::cast<double>(object);
  if (nb::isinstance<nb::str>(object)) return nb::cast<std::string>(object);
  if (nb::isinstance<nb::dict>(object)) {
    Value::Map map;
    for (const auto& [key, item] : nb::cast<nb::dict>(object)) {
      const auto name = nb::cast<std::string>(nb::str(key));
      try {
        map.emplace_back(name, to_value(item));
      } catch (const InputError& error) {
        throw error.with_path(name);
      }
    }
    return map;
  }
  if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object)) {
    Value::List list;
    for (const nb::handle item : object) {
      try {
        list.push_back(to_value(item));
      } catch (const InputError& error) {
        throw error.with_path("[" + std::to_string(list.size()) + "]");
      }
    }
    return list;
  }
  if (nb::isinstance<GeneratedLinks>(object)) return nb::cast<const GeneratedLinks&>(object).value();
  throw InputError(
      {"not plain data", nb::cast<std::string>(nb::repr(object)), "text, numbers, lists and maps", {}});
}

nb::object PythonMaker::text(const std::string& value) {
  nb::object& known = texts_[value];
  if (!known.is_valid()) known = nb::str(value.c_str(), value.size());
  return known;
}

nb::object PythonMaker::make(const Value& value) {
  if (const bool* flag = value.as_bool()) return nb::bool_(*flag);
  if (const std::int64_t* number = value.as_integer()) return nb::int_(*number);
  if (const double* number = value.as_real()) return nb::float_(*number);
  if (const std::string* text = value.as_text()) return this->text(*text);
  if (const Value::List* list = value.as_list()) {
    nb::list result;
    for (const Value& item : *list) result.append(make(item));
    return result;
  }
  if (const Value::Map* map = value.as_map()) {
    nb::dict result;
    for (const auto& [key, item] : *map) result[text(key)] = make(item);
    return result;
  }
  return nb::none();
}

nb::object to_python(const Value& value) { return PythonMaker().make(value); }

}  // namespace cxloom
