// The native half of the package: cxloom._core.
#include <nanobind/nanobind.h>

#include <exception>
#include <new>

#include "base/error.hpp"
#include "core_bindings.hpp"
#include "cxloom_version.hpp"
#include "trace_bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// The core's exceptions as those of cxloom.errors.
void translate_errors(const std::exception_ptr& pointer, void*) {
  const auto raise = [](const char* name, const auto&... fields) {
    const nb::object type = nb::module_::import_("cxloom.errors").attr(name);
    const nb::object exception = type(fields...);
    PyErr_SetObject(type.ptr(), exception.ptr());
  };
  try {
    std::rethrow_exception(pointer);
  } catch (const cxloom::InputError& error) {
    const cxloom::InputError::Detail& detail = error.detail();
    raise("InputError", detail.problem.c_str(), "found"_a = detail.found.c_str(),
          "allowed"_a = detail.allowed.c_str(), "suggestion"_a = detail.suggestion.c_str(),
          "path"_a = error.path().c_str());
  } catch (const cxloom::SimulationError& error) {
    raise("SimulationError", error.what());
  } catch (const std::bad_alloc&) {
    raise("SimulationError", "the machine has no more memory");
  }
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The simulator's core; use it through the package cxloom.";
  // Before all others: translators that know more about an error come later and are tried first.
  nb::register_exception_translator(translate_errors);
  m.attr("__version__") = cxloom::kVersion;
  cxloom::bind_trace(m);
  cxloom::bind_declarations(m);
  cxloom::bind_simulation(m);
}
