// Catching the errors that a person's mistakes raise.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace cxloom::test {

/// The InputError that `action` throws; a test failure, and an empty error, if it throws none.
template <class Action>
InputError input_error(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error;
  }
  ADD_FAILURE() << "no InputError";
  return InputError({"nothing was thrown", {}, {}, {}});
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace cxloom::test
