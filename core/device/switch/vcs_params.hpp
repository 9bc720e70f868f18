// The parameters of a virtual CXL switch (VCS).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"

namespace cxloom {

/// What is bound to a vPPB: a device, or one logical device of it.
struct BoundParams {
  std::string to;
  std::optional<std::uint32_t> ld;

  /// "mem0", "mld0 ld 2".
  std::string described() const;

  static void describe(Schema<BoundParams>& schema);
};

struct VcsParams {
  std::string upstream;
  std::uint32_t vppbs = 16;
  std::vector<BoundParams> bind;

  static void describe(Schema<VcsParams>& schema);
};

}  // namespace cxloom
