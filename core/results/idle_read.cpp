#include "results/idle_read.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "component/io_roles.hpp"
#include "protocol/request_observer.hpp"
#include "system/kinds/registry.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {

namespace {

constexpr std::size_t kMost = 64;
constexpr Time kRest{1'000'000};
// A refresh that kept one read waiting has ended for the next one: it takes some 300 ns of each 1.9, 3.9
// or 7.8 us.
constexpr Time kLater{1'300'000};
constexpr int kPasses = 4;

struct IdleRead {
  Time latency = Time::max();  // the longest time: none was answered with data
  bool waited = false;         // for its media
};

Spec without_work(Spec spec) {
  spec.workloads.clear();
  spec.tasks = {};
  spec.outputs = {};
  put_off_failures(spec.events);
  for (Spec::Link& link : spec.links) {
    LinkParams sound = *link.params;
    sound.errors = {};
    sound.outage = {};
    sound.degraded = {};
    link.params = std::make_shared<const LinkParams>(sound);
  }
  return spec;
}

IdleRead read_once(Simulation& simulation, const std::string& requester, Address address) {
  const Time issued = simulation.now();
  IdleRead read;
  bool answered = false;
  const auto remember = [&](const Request& request, Time now) {
    answered = true;
    if (request.failed) return;
    read = {.latency = now - issued, .waited = request.account.of(Segment::kMediaQueue) > Time{}};
  };
  simulation.inject(requester, {.address = address}, remember);
  while (!answered) {
    const Time next = simulation.next_event_time();
    ensure(next != Time::max(), "a read in an idle system that nothing answers");
    simulation.run_until(next);
  }
  return read;
}

// One read of each address, the first of them at an instant.
std::vector<IdleRead> pass(const Registry& registry, const Spec& spec, const std::string& requester,
                           Time start) {
  NullObserver nobody;
  Simulation simulation(registry, spec, {}, nobody);
  const System& system = simulation.system();
  for (const auto& [component, initiator] : system.roles().all<IoInitiator>()) initiator->cease();
  simulation.leave_past_out();  // the latency of a read is the same behind any of them
  simulation.drive(requester);
  simulation.run_until(start);
  const std::vector<Address> addresses =
      system.address_map_of(system.component(requester).id()).first_addresses();
  std::vector<IdleRead> reads(std::min(addresses.size(), kMost));
  for (std::size_t i = 0; i < reads.size(); ++i) {
    reads[i] = read_once(simulation, requester, addresses[i * addresses.size() / reads.size()]);
    simulation.run_until(simulation.now() + kRest);
  }
  return reads;
}

}  // namespace

Value idle_read_latency(const Registry& registry, const Spec& spec, const std::string& requester) {
  const Spec idle = without_work(spec);
  std::vector<IdleRead> reads = pass(registry, idle, requester, Time{});
  for (int again = 1; again < kPasses && std::ranges::any_of(reads, &IdleRead::waited); ++again) {
    const std::vector<IdleRead> later = pass(registry, idle, requester, kLater * again);
    for (std::size_t i = 0; i < reads.size(); ++i)
      if (reads[i].waited && later[i].latency < reads[i].latency) reads[i] = later[i];
  }
  std::erase_if(reads, [](const IdleRead& read) { return read.latency == Time::max(); });
  if (reads.empty()) return {};
  const auto [least, most] = std::ranges::minmax_element(reads, {}, &IdleRead::latency);
  Time sum;
  for (const IdleRead& read : reads) sum += read.latency;
  return Value::Map{{"least", least->latency.ns()},
                    {"mean", sum.ns() / static_cast<double>(reads.size())},
                    {"most", most->latency.ns()}};
}

}  // namespace cxloom
