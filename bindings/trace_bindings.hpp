// Traces in Python: parsers, formatter, footprint and capture.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

#include "trace_columns.hpp"

namespace cxloom {

void bind_trace(nanobind::module_& m);
void bind_capture(nanobind::module_& m);

inline std::string_view view_of(const nanobind::bytes& block) {
  return {static_cast<const char*>(block.data()), block.size()};
}

/// Runs `parse(accesses)` without the GIL and gives its accesses.
template <class Parse>
AccessBatch parsed(Parse&& parse) {
  AccessBatch batch;
  const nanobind::gil_scoped_release release;
  parse(batch.accesses);
  return batch;
}

}  // namespace cxloom
