// The native half of the package: cxloom._core.
#include <nanobind/nanobind.h>

#include "core_bindings.hpp"
#include "crash_bindings.hpp"
#include "cxloom_version.hpp"
#include "kv_bindings.hpp"
#include "trace_bindings.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The simulator's core; use it through the package cxloom.";
  // Before all others: translators that know more about an error come later and are tried first.
  cxloom::translate_errors();
  m.attr("__version__") = cxloom::kVersion;
  cxloom::bind_trace(m);
  cxloom::bind_declarations(m);
  cxloom::bind_simulation(m);
  cxloom::bind_crash(m);
  cxloom::bind_epochs(m);
  cxloom::bind_kv(m);
}
