// The core's errors in Python.
#include <nanobind/nanobind.h>

#include <exception>
#include <new>
#include <string>

#include "base/error.hpp"
#include "core_bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cxloom {

namespace {

void raise(const char* name, const nb::object& argument) {
  const nb::object type = nb::module_::import_("cxloom.base.errors").attr(name);
  const nb::object exception = type(argument);
  PyErr_SetObject(type.ptr(), exception.ptr());
}

// Text for Python. What a message repeats of a foreign file need not be UTF-8.
nb::object decoded(const std::string& bytes) {
  return nb::steal(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace"));
}

// Makes the core's exceptions exceptions of cxloom.base.errors.
void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const InputError& error) {
    const nb::list errors = to_python_errors(error.all());
    if (errors.size() == 1) PyErr_SetObject(errors[0].type().ptr(), nb::object(errors[0]).ptr());
    else raise("InputErrors", errors);
  } catch (const SimulationError& error) {
    raise("SimulationError", nb::str(error.what()));
  } catch (const std::bad_alloc&) {
    raise("SimulationError", nb::str("the machine has no more memory"));
  }
}

}  // namespace

nb::list to_python_errors(const std::vector<InputError>& errors) {
  const nb::object type = nb::module_::import_("cxloom.base.errors").attr("InputError");
  nb::list result;
  for (const InputError& error : errors) {
    const InputError::Detail& detail = error.detail();
    const nb::object made = type(
        decoded(detail.problem), "found"_a = decoded(detail.found), "allowed"_a = decoded(detail.allowed),
        "suggestion"_a = decoded(detail.suggestion), "path"_a = decoded(error.path()));
    made.attr("is_between") = detail.kind != InputError::Kind::kAlone;
    made.attr("is_idle") = detail.kind == InputError::Kind::kNoEffect;
    result.append(made);
  }
  return result;
}

void translate_errors() { nb::register_exception_translator(translate); }

}  // namespace cxloom
