#include "embed/embedded_system.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"
#include "component/component.hpp"
#include "embed/idle_twin.hpp"
#include "embed/measure_path.hpp"
#include "embed/memory_offsets.hpp"
#include "kernel/kernel.hpp"
#include "memory/external/media.hpp"
#include "results/collector.hpp"
#include "results/summary.hpp"
#include "system/kinds/registry.hpp"
#include "system/plugin/plugin.hpp"
#include "system/run/simulation.hpp"
#include "system/run/time_left.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

namespace {

// A spec in YAML gets an error that says what is wanted.
Value resolved_spec(std::string_view json) {
  try {
    return parse_json(json);
  } catch (const InputError& error) {
    throw InputError({error.detail().problem, {}, "a resolved spec, as `cxloom resolve SPEC` prints it", {}});
  }
}

TraceFeed no_trace(const std::string& /*device*/) {
  throw InputError(
      {"traces are read by Python: a program drives its devices itself", {}, "drive(), inject()", {}});
}

}  // namespace

struct EmbeddedSystem::Parts {
  /// Throws InputError if there is no device of that number.
  std::string name_of(NodeId device) const;
  [[noreturn]] void refuse_access(NodeId device) const;
  [[noreturn]] void refuse_cache(NodeId device) const;
  const Value& ended() {
    if (final.is_null()) final = summarize(*simulation, collector);
    return final;
  }

  Registry registry = builtin_registry();
  Collector collector{false};
  std::unique_ptr<Simulation> simulation;
  std::unique_ptr<MemoryOffsets> offsets;
  bool has_plugins = false;
  std::unique_ptr<TimeLeft> left;  // none: nobody has asked
  std::unique_ptr<IdleTwin> twin;  // none: nobody has asked
  Value measured;                  // in the window that has ended last while the simulation went on
  Value final;                     // in its last window, once it is over and somebody has asked
};

std::string EmbeddedSystem::Parts::name_of(NodeId device) const {
  const auto& components = simulation->system().components();
  if (device.index() < components.size()) return components[device.index()]->name();
  throw InputError({"there is no device of that number",
                    std::to_string(static_cast<std::int32_t>(device.index())),
                    "0 to " + std::to_string(components.size() - 1),
                    {}});
}

void EmbeddedSystem::Parts::refuse_access(NodeId device) const {
  simulation->check_running();
  throw InputError({"'" + name_of(device) + "' is not driven from outside", {}, "answers() first", {}});
}

void EmbeddedSystem::Parts::refuse_cache(NodeId device) const {
  throw InputError({"'" + name_of(device) + "' has no cache outside that wants something of a line",
                    {},
                    "a device with external_cache: true",
                    {}});
}

EmbeddedSystem::EmbeddedSystem(std::string_view json, const std::vector<std::string>& plugins)
    : parts_(std::make_unique<Parts>()) {
  Registry& registry = parts_->registry;
  parts_->has_plugins = !plugins.empty();
  for (const std::string& plugin : plugins) with_path(plugin, [&] { load_plugin(plugin, registry); });
  Spec spec = Spec::read(resolved_spec(json), registry);
  spec.run.threads = {};  // accesses come at times that nobody knows beforehand
  parts_->simulation = std::make_unique<Simulation>(registry, std::move(spec), no_trace, parts_->collector);
  parts_->offsets = std::make_unique<MemoryOffsets>(parts_->simulation->system().address_map());
}

EmbeddedSystem::~EmbeddedSystem() = default;

void EmbeddedSystem::drive(const std::string& device) { parts_->simulation->drive(device); }

void EmbeddedSystem::inject(const std::string& device, const Access& access, Answered answered) {
  parts_->simulation->inject(device, access, std::move(answered));
}

void EmbeddedSystem::transfer(const std::string& device, const BlockOrder& order, Moved moved) {
  parts_->simulation->transfer(device, order, std::move(moved));
}

NodeId EmbeddedSystem::device(const std::string& name) const {
  return parts_->simulation->system().component(name).id();
}

void EmbeddedSystem::tell_answers(NodeId device, TaggedAnswers& answers) {
  Simulation& simulation = *parts_->simulation;
  simulation.check_running();
  if (!simulation.driven(device)) simulation.drive(parts_->name_of(device));
  simulation.driven(device)->tell_answers(answers);
}

void EmbeddedSystem::give(NodeId device, const Given& given) {
  const Simulation& simulation = *parts_->simulation;
  DrivenRequester* const driven = simulation.driven(device);
  if (!driven || simulation.state() != Simulation::State::kRunning) [[unlikely]]
    parts_->refuse_access(device);
  if (given.of_cache && !driven->has_external_cache()) [[unlikely]]
    parts_->refuse_cache(device);
  if (given.memory == NodeId{}) {
    driven->give(given.access, given.tag, given.ready);
    return;
  }
  Access access = given.access;
  access.address = parts_->offsets->address_of(given.memory, access.address.value(), access.size);
  driven->give(access, given.tag, given.ready);
}

void EmbeddedSystem::close_feeds() { parts_->simulation->close_feeds(); }

void EmbeddedSystem::put_medium_outside(NodeId memory, OutsideMedium& outside) {
  Simulation& simulation = *parts_->simulation;
  simulation.check_running();
  const std::string name = parts_->name_of(memory);
  if (simulation.kernel().events() > 0)
    throw InputError({"the system has run: its media stay where they are", name, {}, {}});
  simulation.outside().put_medium(memory, outside);
}

void EmbeddedSystem::medium_done(NodeId memory, std::uint64_t number, Time at) {
  parts_->simulation->outside().medium(memory).done(number, at);
}

const ExternalCache& EmbeddedSystem::put_cache_outside(NodeId device, OutsideCache& outside) {
  Simulation& simulation = *parts_->simulation;
  simulation.check_running();
  const std::string name = parts_->name_of(device);
  if (simulation.kernel().events() > 0)
    throw InputError({"the system has run: its caches stay where they are", name, {}, {}});
  return simulation.outside().put_cache(device, outside);
}

LineState EmbeddedSystem::snoop_answered(NodeId device, std::uint64_t number, LineState held) {
  return parts_->simulation->outside().cache(device).snoop_answered(number, held);
}

EmbeddedSystem::Cause EmbeddedSystem::cause_of(const Message& message) const {
  const DrivenRequester* const driven = parts_->simulation->driven(message.requester);
  return {message.requester, driven ? driven->tag_of(message) : std::nullopt};
}

void EmbeddedSystem::finish() {
  Simulation& simulation = *parts_->simulation;
  if (simulation.advancing())
    throw InputError({"an answer cannot finish the simulation that it is part of", {}, {}, {}});
  simulation.close_feeds();
  if (simulation.run_until(Time::max())) return;
  throw InputError(
      {"the simulation cannot end before media outside have done, and caches outside have answered, "
       "what they were given",
       std::to_string(simulation.outside().owed()),
       "the end of each, and then finish() again",
       {}});
}

bool EmbeddedSystem::run_until(Time limit) { return parts_->simulation->run_until(limit); }

Time EmbeddedSystem::next_event_time() const { return parts_->simulation->next_event_time(); }

Time EmbeddedSystem::now() const { return parts_->simulation->now(); }

bool EmbeddedSystem::advancing() const { return parts_->simulation->advancing(); }

void EmbeddedSystem::read(Address address, std::span<std::byte> bytes) const {
  parts_->simulation->bytes().read(address, bytes);
}

void EmbeddedSystem::write(Address address, std::span<const std::byte> bytes) {
  parts_->simulation->bytes().write(address, bytes);
}

Time EmbeddedSystem::next_call() {
  Simulation& simulation = *parts_->simulation;
  // What is told of an answer is told within an event, which goes on behind it.
  const Time next = simulation.advancing() ? simulation.now() : simulation.next_event_time();
  // Answers outside of the ways that it knows, and what media outside are called for.
  if (parts_->has_plugins || next == Time::max() || simulation.outside().has_media()) return next;
  if (!parts_->left) parts_->left = std::make_unique<TimeLeft>(simulation.system());
  if (parts_->left->unknown()) return next;
  return std::max(next, simulation.driven().earliest_answer(*parts_->left));
}

Time EmbeddedSystem::estimate(NodeId device, const Given& given) {
  parts_->name_of(device);
  Requester* const requester = parts_->simulation->system().roles().of<Requester>(device);
  if (given.of_cache && !(requester && requester->external_cache())) parts_->refuse_cache(device);
  Access access = given.access;
  if (given.memory != NodeId{})
    access.address = parts_->offsets->address_of(given.memory, access.address.value(), access.size);
  if (!parts_->twin) parts_->twin = std::make_unique<IdleTwin>(parts_->registry, parts_->simulation->spec());
  try {
    return parts_->twin->latency(device, access);
  } catch (const SimulationError&) {  // something of the access may go on in it
    parts_->twin.reset();
    throw;
  }
}

void EmbeddedSystem::new_window() {
  Simulation& simulation = *parts_->simulation;
  simulation.begin_window([this, &simulation] {
    parts_->measured = summarize(simulation, parts_->collector);
    parts_->collector = Collector{false};
  });
}

// Nobody has the length of a window that is still open.
Value EmbeddedSystem::summary() const {
  const bool at_work = parts_->simulation->state() == Simulation::State::kRunning;
  if (at_work && !parts_->measured.is_null()) return parts_->measured;
  return summarize(*parts_->simulation, parts_->collector);
}

double EmbeddedSystem::measure(std::string_view path) const {
  const bool at_work = parts_->simulation->state() == Simulation::State::kRunning;
  if (at_work && parts_->measured.is_null())
    throw InputError({"nothing is measured yet: no window has ended", {}, "new_window() first", {}});
  return measure_at(at_work ? parts_->measured : parts_->ended(), path);
}

}  // namespace cxloom
