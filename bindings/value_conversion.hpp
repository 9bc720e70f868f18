// Plain Python data (dict, list, str, int, float, bool, None) as Value, and back.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <unordered_map>

#include "base/value.hpp"

namespace cxloom {

/// Generated links count as plain, too. Throws InputError for anything else, and for whole numbers beyond 64
/// bits.
Value to_value(nanobind::handle object);
nanobind::object to_python(const Value& value);

/// Does so for many values: texts that come again and again, keys above all, are one object each.
class PythonMaker {
 public:
  nanobind::object make(const Value& value);

 private:
  nanobind::object text(const std::string& value);

  std::unordered_map<std::string, nanobind::object> texts_;
};

}  // namespace cxloom
