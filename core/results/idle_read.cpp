#include "results/idle_read.hpp"

#include <algorithm>
#include <map>
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
  double bytes = 0;            // that lead to the memory
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
    read = {
        .latency = now - issued, .waited = request.account.of(Segment::kMediaQueue) > Time{}, .bytes = {}};
  };
  simulation.inject(requester, {.address = address}, remember);
  while (!answered) {
    const Time next = simulation.next_event_time();
    ensure(next != Time::max(), "a read in an idle system that nothing answers");
    simulation.run_until(next);
  }
  return read;
}

using Memory = std::pair<NodeId, std::uint8_t>;  // or a logical device of it

Memory memory_at(const AddressMap& map, Address address) {
  const AddressMap::DecodedAddress place = *map.find(address);
  return {place.target, place.ld};
}

// How many addresses lead to each: in one round of the interleave each memory has its chunks in a row.
std::map<Memory, double> bytes_by_memory(const AddressMap& map) {
  std::map<Memory, double> bytes;
  for (const AddressMap::Part& part : map.parts()) {
    const std::uint64_t end = part.memories.size() > 1 ? part.extent.base.value() + part.extent.bytes
                                                       : part.extent.base.value() + 1;
    const Memory first = memory_at(map, part.extent.base);
    std::map<Memory, double> in_round;
    double round = 0;
    for (std::uint64_t at = part.extent.base.value(); at < end;) {
      const Memory memory = memory_at(map, Address{at});
      if (memory == first && in_round.size() > 1) break;
      const std::uint64_t chunk = AddressMap::together(*map.region_of(Address{at}), Address{at});
      in_round[memory] += static_cast<double>(chunk);
      round += static_cast<double>(chunk);
      at += chunk;
    }
    for (const auto& [memory, part_of_it] : in_round)
      bytes[memory] += part_of_it / round * static_cast<double>(part.extent.bytes);
  }
  return bytes;
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
  const AddressMap& map = system.address_map_of(system.component(requester).id());
  const std::vector<Address> addresses = map.first_addresses();
  const std::map<Memory, double> bytes = bytes_by_memory(map);
  std::vector<IdleRead> reads(std::min(addresses.size(), kMost));
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const Address address = addresses[i * addresses.size() / reads.size()];
    reads[i] = read_once(simulation, requester, address);
    reads[i].bytes = bytes.at(memory_at(map, address));
    simulation.run_until(simulation.now() + kRest);
  }
  return reads;
}

// That of an address as likely as any other. Reads that are alike give just what each of them took.
double mean_ns(const std::vector<IdleRead>& reads, Time least) {
  double bytes = 0;
  double more = 0;  // ps of all bytes
  for (const IdleRead& read : reads) {
    bytes += read.bytes;
    more += read.bytes * static_cast<double>((read.latency - least).ps());
  }
  return (static_cast<double>(least.ps()) + more / bytes) / 1e3;
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
  return Value::Map{
      {"least", least->latency.ns()}, {"mean", mean_ns(reads, least->latency)}, {"most", most->latency.ns()}};
}

}  // namespace cxloom
