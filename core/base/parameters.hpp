// The types that name parameters, for headers. Sources that declare or read parameters include schema.hpp.
#pragma once

#include <string>

#include "base/value.hpp"

namespace cxloom {

template <class Params>
class Schema;

/// A parameter that names one of several kinds, each with parameters of its own: `{kind: fixed, latency:
/// 45ns}`.
struct KindSpec {
  std::string kind;
  Value params;  // the map without `kind`

  bool operator==(const KindSpec&) const = default;
};

}  // namespace cxloom
