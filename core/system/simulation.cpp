#include "system/simulation.hpp"

#include <algorithm>
#include <utility>

#include "device/host.hpp"
#include "device/io_engine.hpp"
#include "device/memory_owner.hpp"
#include "interconnect/batched_flit_link_end.hpp"
#include "interconnect/message_link_end.hpp"
#include "kernel/wait_list.hpp"
#include "memory/dram_media.hpp"
#include "workload/phases.hpp"

namespace cxloom {

namespace {

// Simulated time ends here (53 days): what a parameter adds still fits into 64 bits of picoseconds.
constexpr Time kLatest{Time::max().ps() / 2};

std::string indexed(const std::string& key, std::size_t index) {
  return key + "[" + std::to_string(index) + "]";
}

Bandwidth slower(Bandwidth a, Bandwidth b) { return b.rate.slower_than(a.rate) ? b : a; }

}  // namespace

Simulation::Simulation(const Registry& registry, const Spec& spec, const TraceOpener& open_trace,
                       RequestObserver& observer)
    : registry_(registry), spec_(spec), observer_(observer) {
  make_components();
  aim_io_engines();
  make_address_map();
  make_links();
  give_work(open_trace);
  check_reachability();
  for (const auto& each : components_) each->start();
  if (spec_.outputs.series) {
    std::vector<LinkEnd*> ends;
    for (const auto& end : link_ends_) ends.push_back(end.get());
    sampler_ = std::make_unique<Sampler>(kernel_, std::move(ends), *spec_.outputs.series);
  }
  if (spec_.outputs.commands) record_commands();
}

Simulation::~Simulation() = default;

void Simulation::record_commands() {
  commands_ = std::make_unique<CommandRecorder>();
  for (const auto& each : components_) {
    auto* owner = dynamic_cast<MemoryOwner*>(each.get());
    if (auto* dram = owner ? dynamic_cast<DramMedia*>(owner->media()) : nullptr)
      commands_->add(each->id(), *dram);
  }
  if (commands_->empty()) {
    throw InputError({"there are no commands to record: no memory of this system has media of kind dram",
                      {},
                      "a memory with media: {kind: dram, preset: ...}; other media have no commands",
                      {}},
                     "outputs.commands");
  }
}

void Simulation::make_components() {
  for (const Spec::Device& device : spec_.devices) {
    const NodeId id{static_cast<std::uint32_t>(components_.size())};
    DeviceContext context{{kernel_, device.name, id, spec_.run.seed}, fabric_, registry_.media};
    below("devices", [&] {
      below(device.name, [&] { components_.push_back(registry_.devices.make(device.kinded, context)); });
    });
    Component& made = *components_.back();
    topology_.add_node({device.name, made.forwards(), made.is_switch(), made.transit_time()});
    ids_.emplace(device.name, id);
    if (auto* requester = dynamic_cast<Requester*>(&made)) requesters_.push_back(requester);
    auto* engine = dynamic_cast<IoEngine*>(&made);
    if (engine) io_engines_.push_back(engine);
    fabric_.io_sources.push_back(engine);
    fabric_.io_upstream.push_back(dynamic_cast<Host*>(&made) || (engine && engine->is_root()));
  }
}

void Simulation::aim_io_engines() {
  for (IoEngine* engine : io_engines_) {
    below("devices", [&] {
      below(engine->name(), [&] { below("target", [&] { engine->aim(component(engine->target())); }); });
    });
  }
}

NodeId Simulation::find_device(const std::string& name) const {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, id] : ids_) names.push_back(known);
  constexpr std::size_t kMaxListed = 20;
  const std::string nearest = nearest_name(name, names);
  if (names.size() > kMaxListed) names.resize(kMaxListed), names.emplace_back("...");
  throw InputError({"unknown device", "'" + name + "'", list_names(names), nearest});
}

Component& Simulation::component(const std::string& name) const {
  return *components_[find_device(name).index()];
}

void Simulation::make_address_map() {
  for (std::size_t i = 0; i < spec_.regions.size(); ++i) {
    below(indexed("address_map", i), [&] {
      const RegionParams& region = spec_.regions[i];
      std::vector<MemoryTargetInfo> targets;
      for (std::size_t t = 0; t < region.to.size(); ++t) {
        below(indexed("to", t), [&] {
          Component& target = component(region.to[t]);
          const auto* owner = dynamic_cast<const MemoryOwner*>(&target);
          if (!owner || owner->memory_capacity() == Bytes{}) {
            throw InputError({"a device without memory",
                              "'" + target.name() + "'",
                              "memories, and accelerators with memory",
                              {}});
          }
          targets.push_back({target.name(), target.id(), owner->memory_capacity()});
        });
      }
      fabric_.map.add_region(region, targets);
    });
  }
}

void Simulation::make_links() {
  std::vector<std::size_t> ports(components_.size(), 0);
  for (std::size_t i = 0; i < spec_.links.size(); ++i) {
    below(indexed("links", i), [&] {
      const Spec::Link& link = spec_.links[i];
      const NodeId a = below("between[0]", [&] { return find_device(link.a); });
      const NodeId b = below("between[1]", [&] { return find_device(link.b); });
      if (a == b)
        throw InputError({"a device linked to itself", "'" + link.a + "'", "two devices", {}}, "between");
      for (const NodeId end : {a, b}) {
        const Component& device = *components_[end.index()];
        if (device.max_ports() != 0 && ++ports[end.index()] > device.max_ports()) {
          throw InputError({"'" + device.name() + "' has more links than ports",
                            std::to_string(ports[end.index()]),
                            std::to_string(device.max_ports()) + "; put a bus or a switch between",
                            {}},
                           "between");
        }
      }
      make_link(i);
    });
  }
  pbr_ids_ = topology_.edge_port_count();
  if (pbr_ids_ > PbrId::kCount) {
    throw InputError({"too many edge ports for 12-bit PBR identities",
                      std::to_string(pbr_ids_),
                      "at most " + std::to_string(PbrId::kCount) + " ports of switches that lead to devices",
                      {}},
                     "links");
  }
  std::vector<std::uint32_t> ranks;
  std::map<std::string, std::uint32_t> counts;
  for (const Spec::Device& device : spec_.devices) ranks.push_back(counts[device.kinded.kind]++);
  fabric_.router =
      std::make_unique<Router>(topology_, spec_.run.route_by,
                               make_routing_strategy(spec_.run.routing, spec_.run.seed, std::move(ranks)));
}

std::unique_ptr<LinkEnd> Simulation::make_flit_end(const LinkParams& params, const LinkEndSetup& link,
                                                   Time credit_delay) {
  FlitLinkEnd::Setup setup{{link, params.credits, link.owner.arbitration(), credit_delay}};
  setup.packing.mode = params.flit_mode();
  if (params.ide.mode != IdeMode::kOff) {
    const std::uint32_t usual = setup.packing.mode == FlitMode::k68B ? 5 : 2;
    setup.packing.mac_every = static_cast<std::uint8_t>(params.ide.aggregation.value_or(usual));
  }
  setup.containment = params.ide.mode == IdeMode::kContainment;
  setup.errors = params.errors;
  setup.outage = params.outage;
  setup.degraded_at = params.degraded.at;
  if (params.degraded.phy) setup.degraded_rate = params.degraded.phy->rate();
  setup.seed = spec_.run.seed;
  return make_flit_link_end(kernel_, setup);
}

void Simulation::make_link(std::size_t index) {
  const Spec::Link& link = spec_.links[index];
  const LinkParams& params = link.params;
  Component& a = component(link.a);
  Component& b = component(link.b);
  const bool shared = params.duplex == Duplex::kHalf;
  const Bandwidth ports = slower(a.port_bandwidth(), b.port_bandwidth());
  const Bandwidth own = params.phy ? Bandwidth{params.phy->rate()} : params.bandwidth;
  const Bandwidth forward = slower(own, ports);
  const Bandwidth backward = slower(params.reverse.bandwidth.value_or(own), ports);

  const Time port_delays = params.port_delay ? *params.port_delay * 2 : a.port_delay() + b.port_delay();
  const Time delay_ab = params.delay;
  const Time delay_ba = params.reverse.delay.value_or(params.delay);
  const auto port_a = static_cast<std::uint16_t>(topology_.hops(a.id().index()).size());
  const auto port_b = static_cast<std::uint16_t>(topology_.hops(b.id().index()).size());
  topology_.connect(a.id(), b.id(), port_delays + delay_ab, port_delays + delay_ba);

  const auto segment = [](const Component& owner) {
    return owner.is_switch() ? Segment::kSwitchQueue : Segment::kLinkQueue;
  };
  const LinkEndSetup setup_ab{a, b,           port_b,   port_a,        Wire(forward.rate, params.turnaround),
                              0, port_delays, delay_ab, params.cost(), segment(a)};
  LinkEndSetup setup_ba{b, a,           port_a,   port_b,        Wire(backward.rate),
                        1, port_delays, delay_ba, params.cost(), segment(b)};
  // Credits, and turns on a wire that both directions share, need a queue at both ends.
  const bool both = params.phy || params.credits.any() || (shared && !forward.rate.unlimited());
  const bool queued_ab = both || a.arbitrates();
  const bool queued_ba = both || b.arbitrates();
  const auto make_end = [&](bool queued, const LinkEndSetup& setup, Time back) -> LinkEnd& {
    if (params.phy) {
      link_ends_.push_back(make_flit_end(params, setup, port_delays + back));
    } else if (queued) {
      link_ends_.push_back(std::make_unique<MessageLinkEnd>(
          kernel_,
          QueuedLinkEnd::Setup{setup, params.credits, setup.owner.arbitration(), port_delays + back}));
    } else {
      link_ends_.push_back(std::make_unique<FifoLinkEnd>(kernel_, setup));
    }
    setup.owner.attach(*link_ends_.back());
    return *link_ends_.back();
  };
  LinkEnd& end_ab = make_end(queued_ab, setup_ab, delay_ba);
  if (shared) setup_ba.shares_wire = &end_ab;
  LinkEnd& end_ba = make_end(queued_ba, setup_ba, delay_ab);
  if (queued_ab && queued_ba) {
    static_cast<QueuedLinkEnd&>(end_ab).set_opposite(static_cast<QueuedLinkEnd&>(end_ba));
    static_cast<QueuedLinkEnd&>(end_ba).set_opposite(static_cast<QueuedLinkEnd&>(end_ab));
  }
  std::string name = link.a + "-" + link.b;
  if (const int uses = ++link_names_[name]; uses > 1) name += "#" + std::to_string(uses);
  links_.push_back({std::move(name), &end_ab, &end_ba, shared});
}

void Simulation::check_reachability() const {
  std::vector<bool> reached(components_.size(), false);
  std::vector<std::uint32_t> frontier{0};
  reached[0] = true;
  while (!frontier.empty()) {
    const std::uint32_t node = frontier.back();
    frontier.pop_back();
    for (const Topology::Hop& hop : topology_.hops(node)) {
      if (!reached[hop.to]) frontier.push_back(hop.to);
      reached[hop.to] = true;
    }
  }
  for (std::size_t i = 0; i < components_.size(); ++i) {
    if (!reached[i]) {
      throw InputError({"no links lead from '" + components_[0]->name() + "' to this device",
                        {},
                        "one connected system",
                        {}},
                       "devices." + components_[i]->name());
    }
  }
  const auto check = [this](const Component& from, NodeId to) {
    if (routes().distance(from.id().index(), to.index()) != RouteTable::kUnreachable) return;
    throw InputError({"'" + from.name() + "' cannot reach '" + components_[to.index()]->name() +
                          "': only buses and switches pass messages on",
                      {},
                      {},
                      {}},
                     "links");
  };
  const std::vector<NodeId> targets = fabric_.map.targets();
  for (const Requester* requester : requesters_) {
    if (!requester->has_work()) continue;
    for (const NodeId target : targets) check(*requester, target);
  }
  for (const IoEngine* engine : io_engines_) check(*engine, find_device(engine->target()));
}

std::unique_ptr<AccessStream> Simulation::make_pattern(const std::string& device, const std::string& kind,
                                                       const Value& params) const {
  PatternContext context{spec_.run.seed, device};
  auto stream = registry_.patterns.make({kind, params}, context);
  if (const auto* pattern = dynamic_cast<const Pattern*>(stream.get())) {
    const std::uint64_t start = pattern->base().value() - fabric_.map.base().value();
    const std::uint64_t mapped = fabric_.map.contiguous_bytes();
    if (pattern->base() < fabric_.map.base() || start > mapped || pattern->footprint() > mapped - start) {
      const bool misplaced = pattern->base() < fabric_.map.base();
      throw InputError({"the footprint runs out of the address map",
                        to_text(pattern->base()) + " + " + to_text(Bytes{pattern->footprint()}),
                        "addresses in " + fabric_.map.described() +
                            (misplaced ? "; set base: " + to_text(fabric_.map.base()) : std::string()),
                        {}},
                       misplaced ? "base" : "footprint");
    }
  }
  return stream;
}

std::unique_ptr<AccessStream> Simulation::make_stream(const Spec::Workload& workload,
                                                      const TraceOpener& open_trace, Work& work) {
  const WorkloadParams& params = workload.params;
  if (params.pattern) return make_pattern(workload.device, *params.pattern, workload.pattern);
  if (params.trace) {
    TraceFeed feed = below("trace", [&] { return open_trace(workload.device); });
    return std::make_unique<TraceStream>(std::move(feed.refill), feed.length);
  }
  std::vector<PhasedStream::Phase> phases;
  std::uint64_t round = 0;
  for (std::size_t i = 0; i < params.phases.size(); ++i) {
    below(indexed("phases", i), [&] {
      const Spec::Workload phase = read_workload(workload.device, params.phases[i], registry_);
      if (!phase.params.pattern) throw InputError({"a phase needs a pattern", {}, {}, {}});
      phases.push_back(
          {make_pattern(workload.device + "/" + std::to_string(i), *phase.params.pattern, phase.pattern),
           *phase.params.requests});
      round += *phase.params.requests;
    });
  }
  if (!work.requests) work.requests = round;
  return std::make_unique<PhasedStream>(std::move(phases));
}

void Simulation::give_work(const TraceOpener& open_trace) {
  std::uint32_t program = 0;
  for (const Spec::Workload& workload : spec_.workloads) {
    below("workload", [&] {
      Component* device = nullptr;
      try {
        device = &component(workload.device);
      } catch (const InputError& error) {
        throw error.below(workload.device);
      }
      below(workload.device, [&] {
        auto* requester = dynamic_cast<Requester*>(device);
        if (!requester)
          throw InputError(
              {"'" + workload.device + "' makes no requests", {}, "a host or an accelerator", {}});
        if (fabric_.map.empty())
          throw InputError({"there is no memory to access", {}, "address_map: a region or more", {}});
        Work work;
        work.warmup = spec_.run.warmup;
        work.requests = workload.params.requests;
        work.arrivals = workload.params.arrivals;
        work.timestamps = workload.params.replay == Replay::kTimestamps;
        if (workload.params.rate) work.rate = workload.params.rate->rate;
        work.name = "workload." + workload.device;
        work.stream = make_stream(workload, open_trace, work);
        if (workload.params.addresses == Addresses::kFirstTouch) {
          work.stream = std::make_unique<FirstTouchStream>(std::move(work.stream), pages_, program++,
                                                           fabric_.map.base());
        }
        requester->assign(std::move(work), *this);
      });
    });
  }
}

ExternalFeed& Simulation::drive(const std::string& device) {
  auto* requester = dynamic_cast<Requester*>(&component(device));
  if (!requester)
    throw InputError({"'" + device + "' makes no requests", {}, "a host or an accelerator", {}});
  if (requester->has_work()) throw InputError({"'" + device + "' has a workload already", {}, {}, {}});
  auto feed = std::make_unique<ExternalFeed>();
  ExternalFeed& driven = *feed;
  Work work;
  work.name = "driven." + device;
  work.stream = std::move(feed);
  requester->assign(std::move(work), *this);
  driven_[device] = {requester, &driven};
  check_reachability();
  return driven;
}

void Simulation::inject(const std::string& device, const Access& access, ExternalFeed::Answered answered) {
  const auto found = driven_.find(device);
  if (found == driven_.end())
    throw InputError({"'" + device + "' is not driven from outside", {}, "drive() first", {}});
  const auto [requester, feed] = found->second;
  feed->push(access, std::move(answered));
  requester->resume();
}

void Simulation::close_feeds() {
  for (const auto& [name, driven] : driven_) {
    driven.second->close();
    driven.first->resume();
  }
  end_io_with_work();
}

bool Simulation::advance(Time limit, std::uint64_t max_events) {
  if (state_ != State::kRunning) return true;
  if (std::none_of(requesters_.begin(), requesters_.end(),
                   [](const Requester* each) { return each->has_work(); })) {
    throw InputError({"nobody makes requests", {}, "an entry for a host or an accelerator", {}}, "workload");
  }
  do {
    // Never past the event with which a livelock is certain: whether there is one does not depend on the slices.
    const std::uint64_t allowed = events_at_progress_ + spec_.run.livelock_events - kernel_.events();
    const std::uint64_t slice = std::min(max_events, allowed);
    const std::uint64_t ran = kernel_.run(limit, slice);
    max_events -= ran;
    if (kernel_.now() > kLatest) throw SimulationError(diagnosis("simulated time runs out of its 64 bits"));
    if (kernel_.events() - events_at_progress_ >= spec_.run.livelock_events) look_for_livelock();
    if (!kernel_.idle() && (ran < slice || max_events == 0)) return false;
  } while (!kernel_.idle());
  if (std::any_of(requesters_.begin(), requesters_.end(),
                  [](const Requester* each) { return each->waits_for_outside(); })) {
    return false;
  }
  finish();
  return true;
}

// As many events as a livelock takes have happened since the last answer.
void Simulation::look_for_livelock() {
  const bool waiting = std::any_of(requesters_.begin(), requesters_.end(),
                                   [](const Requester* each) { return each->outstanding() > 0; });
  events_at_progress_ = kernel_.events();
  if (!waiting || kernel_.idle()) return;  // nobody asks for anything, or all is over
  const std::string problem =
      "no request has completed in " + std::to_string(spec_.run.livelock_events) + " events";
  if (!io_engines_.empty()) {
    // Behind CXL.io, which goes on whatever happens, a deadlock looks alike: without it nothing is left to happen.
    cease_io();
    kernel_.run(Time::max(), spec_.run.livelock_events);
    if (kernel_.idle()) throw SimulationError(diagnosis("deadlock: " + problem + ", those of CXL.io aside"));
  }
  throw SimulationError(diagnosis("livelock: " + problem));
}

void Simulation::finish() {
  for (const Requester* requester : requesters_) {
    if (requester->has_work() && !requester->finished()) {
      throw SimulationError(
          diagnosis("deadlock: nothing is left to happen, and requests wait for an answer"));
    }
  }
  ensure(fabric_.messages.live() == 0, "a message was lost");
  for (const IoEngine* engine : io_engines_) ensure(engine->outstanding() == 0, "a packet was lost");
  if (window_ == Window::kOpen) close_window(kernel_.now());
  if (commands_) commands_->finish(kernel_.now());
  state_ = State::kFinished;
  stop_reason_ = "finished: every request was answered";
  for (const Requester* requester : requesters_) {
    const auto wanted = requester->expected();
    if (!wanted || requester->issued() >= *wanted || !requester->has_work()) continue;
    notes_.push_back("workload." + requester->name() + " ended after " + std::to_string(requester->issued()) +
                     " of " + std::to_string(*wanted) + " requests, warm-up included: its trace has no more");
  }
}

void Simulation::stop(const std::string& reason) {
  if (state_ != State::kRunning) return;
  if (window_ == Window::kBefore) open_window(kernel_.now());  // an empty one: nothing was measured
  if (window_ == Window::kOpen) close_window(kernel_.now());
  if (commands_) commands_->stop(kernel_.now());
  state_ = State::kStopped;
  stop_reason_ = "stopped: " + reason;
}

Simulation::Progress Simulation::progress() const {
  Progress progress{completed_, 0, kernel_.now(), kernel_.events()};
  for (const Requester* requester : requesters_) {
    const auto expected = requester->expected();
    if (!expected) progress.expected.reset();
    if (progress.expected) *progress.expected += *expected;
  }
  return progress;
}

std::string Simulation::diagnosis(const std::string& problem) const {
  constexpr std::size_t kMaxLines = 40;
  std::uint64_t outstanding = 0;
  for (const Requester* requester : requesters_) outstanding += requester->outstanding();
  std::string text = problem + " (at " + to_text(kernel_.now()) + ", after " +
                     std::to_string(kernel_.events()) + " events, " + std::to_string(outstanding) +
                     " requests and write-backs under way)\n";
  std::size_t lines = 0;
  for (const auto& each : components_) {
    const std::string activity = each->activity();
    if (activity.empty()) continue;
    if (++lines <= kMaxLines) text += "  " + each->name() + ": " + activity + "\n";
  }
  if (lines > kMaxLines) text += "  ... and " + std::to_string(lines - kMaxLines) + " more\n";
  return text + describe_waits(kernel_);
}

void Simulation::measuring_begins(Time now) {
  if (window_ == Window::kBefore) open_window(now);
}

void Simulation::work_ends(Time now) {
  if (window_ == Window::kOpen) close_window(now);
}

void Simulation::completed(const Request& request, Time now) {
  ++completed_;
  events_at_progress_ = kernel_.events();
  if (window_ == Window::kOpen) observer_.completed(request, now);
  end_io_with_work();
}

void Simulation::written_back(NodeId requester, NodeId target, std::uint64_t bytes) {
  if (window_ == Window::kOpen) observer_.written_back(requester, target, bytes);
  end_io_with_work();
}

// CXL.io is the background of the work: it ends with the last answer, and what is under way then is let through.
void Simulation::end_io_with_work() {
  if (io_engines_.empty()) [[likely]]
    return;
  if (std::all_of(requesters_.begin(), requesters_.end(),
                  [](const Requester* each) { return !each->has_work() || each->finished(); })) {
    cease_io();
  }
}

void Simulation::cease_io() {
  for (IoEngine* engine : io_engines_) engine->cease();
}

void Simulation::open_window(Time now) {
  window_ = Window::kOpen;
  window_start_ = now;
  for (const auto& each : components_) each->open_window(now);
  for (const auto& end : link_ends_) end->open_window(now);
  if (sampler_) sampler_->open_window(now);
  if (commands_) commands_->open_window(now);
  observer_.measuring_begins(now);
}

void Simulation::close_window(Time now) {
  window_ = Window::kAfter;
  window_end_ = now;
  for (const auto& each : components_) each->close_window(now);
  for (const auto& end : link_ends_) end->close_window(now);
  if (sampler_) sampler_->close_window();
  if (commands_) commands_->close_window(now);
  observer_.work_ends(now);
}

}  // namespace cxloom
