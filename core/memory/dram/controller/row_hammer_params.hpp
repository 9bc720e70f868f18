// What a DRAM does against rows that are opened too often.
#pragma once

#include <cstdint>
#include <optional>

#include "base/parameters.hpp"
#include "memory/dram/device/config.hpp"

namespace cxloom {

struct DramRowHammerParams {
  bool prac = false;
  std::optional<std::uint32_t> alert_at;
  std::optional<std::uint32_t> alert_commands;
  std::optional<std::uint32_t> raaimt;
  std::optional<std::uint32_t> raammt;

  static void describe(Schema<DramRowHammerParams>& schema);
};

/// Gives a preset the times of devices that count the activates of each row (PRAC). Throws InputError if its
/// standard has none.
void count_activates(DramDevice& preset);
/// Throws InputError for what the standard of the device lacks, and for what changes nothing.
DramManagement management_of(const DramRowHammerParams& params, const DramDevice& device);

}  // namespace cxloom
