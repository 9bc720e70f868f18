// A whole system in a few lines: devices, links, memory and work, run to its end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/collector.hpp"
#include "system/run/simulation.hpp"

namespace cxloom::test {

inline Value map(Value::Map entries) { return Value(std::move(entries)); }

/// Writes a spec as a person would, piece by piece.
class SpecBuilder {
 public:
  SpecBuilder& device(const std::string& name, const std::string& kind, Value::Map params = {}) {
    params.insert(params.begin(), {"kind", kind});
    devices_.emplace_back(name, std::move(params));
    return *this;
  }
  SpecBuilder& link(const std::string& a, const std::string& b, Value::Map params = {}) {
    params.emplace_back("between", Value::List{a, b});
    links_.emplace_back(std::move(params));
    return *this;
  }
  SpecBuilder& region(const std::vector<std::string>& to, Value::Map params = {}) {
    params.emplace_back("to", Value::List(to.begin(), to.end()));
    regions_.emplace_back(std::move(params));
    return *this;
  }
  SpecBuilder& work(const std::string& device, Value::Map params) {
    work_.emplace_back(device, std::move(params));
    return *this;
  }
  /// The device replays these accesses.
  SpecBuilder& replay(const std::string& device, std::vector<Access> accesses, Value::Map params = {}) {
    params.emplace_back("trace", "in memory");
    traces_[device] = std::move(accesses);
    return work(device, std::move(params));
  }
  /// Something that happens during the run.
  SpecBuilder& event(Value::Map params) {
    events_.emplace_back(std::move(params));
    return *this;
  }
  SpecBuilder& run_with(Value::Map params) { return run_ = std::move(params), *this; }
  SpecBuilder& outputs(Value::Map params) { return outputs_ = std::move(params), *this; }

  Value value() const {
    return Value::Map{{"devices", devices_}, {"links", links_},   {"address_map", regions_},
                      {"workload", work_},   {"events", events_}, {"run", run_},
                      {"outputs", outputs_}};
  }
  TraceOpener traces() const {
    return [traces = traces_](const std::string& device) {
      const std::vector<Access>& accesses = traces.at(device);
      return TraceFeed{[accesses, given = false](std::vector<Access>& batch) mutable {
                         if (std::exchange(given, true)) return false;
                         batch = accesses;
                         return true;
                       },
                       accesses.size()};
    };
  }

 private:
  Value::Map devices_;
  Value::List links_;
  Value::List regions_;
  Value::Map work_;
  Value::List events_;
  Value::Map run_;
  Value::Map outputs_;
  std::map<std::string, std::vector<Access>> traces_;
};

/// A simulation of a system with everything it needs.
class Running {
 public:
  /// The kinds outlive it.
  explicit Running(const SpecBuilder& system, const Registry& kinds = registry());
  Running(const SpecBuilder& system, Registry&& kinds);
  static const Registry& registry();

  Running& to_end();
  Simulation& simulation() { return *simulation_; }
  Collector& collector() { return *collector_; }
  /// The device of that name.
  NodeId node(const std::string& name) const;
  /// The measured requests, once it ran to its end.
  const RequestTable& table() const { return table_; }
  Time latency(std::size_t row) const { return Time{table_.completed_ps[row] - table_.created_ps[row]}; }
  Time created(std::size_t row) const { return Time{table_.created_ps[row]}; }
  Time completed(std::size_t row) const { return Time{table_.completed_ps[row]}; }
  Time segment(std::size_t row, Segment which) const {
    return Time{table_.segments_ps[static_cast<std::size_t>(which)][row]};
  }
  Value summary() const;
  /// A number of the summary by its keys: number({"per_memory", "mem", "reads"}).
  double number(const std::vector<std::string_view>& keys) const;

 private:
  std::shared_ptr<const Registry> own_kinds_;  // where it was given them
  std::unique_ptr<Collector> collector_;
  std::unique_ptr<Simulation> simulation_;
  RequestTable table_;
};

/// What a person is told whose spec cannot be run; empty: it can.
std::string refusal_of(const SpecBuilder& system);

/// Accesses for `SpecBuilder::replay`.
inline Access access_to(std::uint64_t address, AccessKind kind = AccessKind::kRead) {
  Access access;
  access.address = Address{address};
  access.kind = kind;
  return access;
}

}  // namespace cxloom::test
