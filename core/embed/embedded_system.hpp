// A simulation as a program that embeds it sees it: from a resolved spec, driven from outside, summed up at its end.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "results/collector.hpp"
#include "system/kinds/registry.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {

class EmbeddedSystem {
 public:
  /// `json` is a resolved spec, as `cxloom resolve` prints it; `plugins` are libraries with kinds that it names. Throws
  /// InputError with the path of what is wrong.
  explicit EmbeddedSystem(std::string_view json, const std::vector<std::string>& plugins = {});
  EmbeddedSystem(const EmbeddedSystem&) = delete;
  EmbeddedSystem& operator=(const EmbeddedSystem&) = delete;

  Simulation& simulation() { return *simulation_; }
  const Simulation& simulation() const { return *simulation_; }
  /// As `summary.json` has it, without `cost`.
  Value summary() const;

 private:
  Registry registry_;
  Collector collector_{false};
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace cxloom
