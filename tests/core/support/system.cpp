#include "core/support/system.hpp"

#include "component/component.hpp"

#include "results/summary.hpp"
#include "system/kinds/registry.hpp"

namespace cxloom::test {

Running::Running(const SpecBuilder& system, const Registry& kinds)
    : collector_(std::make_unique<Collector>(true)),
      simulation_(std::make_unique<Simulation>(kinds, Spec::read(system.value(), kinds), system.traces(),
                                               *collector_)) {}

Running::Running(const SpecBuilder& system, Registry&& kinds)
    : own_kinds_(std::make_shared<const Registry>(std::move(kinds))),
      collector_(std::make_unique<Collector>(true)),
      simulation_(std::make_unique<Simulation>(*own_kinds_, Spec::read(system.value(), *own_kinds_),
                                               system.traces(), *collector_)) {}

const Registry& Running::registry() {
  static const Registry kinds = builtin_registry();
  return kinds;
}

Running& Running::to_end() {
  simulation_->run_until(Time::max());
  if (table_.completed_ps.empty()) table_ = collector_->take_requests();  // they are given once
  return *this;
}

Value Running::summary() const { return summarize(*simulation_, *collector_); }

double Running::number(const std::vector<std::string_view>& keys) const {
  const Value whole = summary();
  const Value* at = &whole;
  for (const std::string_view key : keys) {
    at = at->find(key);
    if (!at) throw InternalError("the summary has no such key");
  }
  return at->as_real() ? *at->as_real() : static_cast<double>(*at->as_integer());
}

NodeId Running::node(const std::string& name) const { return simulation_->system().component(name).id(); }

std::string refusal_of(const SpecBuilder& system) {
  try {
    Running run(system);
    run.to_end();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace cxloom::test
