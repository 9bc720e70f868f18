// Where every picosecond went, told twice: by the requests themselves, and from outside. All events are
// logged; from the arrival times of a request's messages and the parameters alone its segments are worked out
// anew, and compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "component/component.hpp"
#include "core/support/system.hpp"
#include "kernel/kernel.hpp"

namespace cxloom::test {
namespace {

using namespace literals;

/// The parameters that matter, the same for all devices of a kind and all links, in ps.
struct Parameters {
  std::int64_t process = 10'000;
  std::int64_t cache = 0;
  std::int64_t link_byte = 0;  ///< 0: unlimited
  std::int64_t ports = 50'000;
  std::int64_t flight = 0;
  std::int64_t switching = 20'000;
  bool cut_through = true;
  std::int64_t bus_byte = 0;
  std::int64_t bus_time = 1'000;
  std::int64_t controller = 40'000;
  std::int64_t latency = 45'000;
  std::int64_t media_byte = 0;
  std::optional<std::uint32_t> credits;
  bool output_queues = false;  ///< switches take messages out of their receive buffers as they come
};

using Key = std::pair<std::uint32_t, std::uint64_t>;  // requester and id
using Segments = std::array<std::int64_t, kSegmentCount>;

struct Arrival {
  std::int64_t time;
  std::uint32_t node;
  Opcode opcode;
  std::int64_t media_start = 0;
};

/// Logs the arrivals of every request's messages.
class Log final : public EventWatcher {
 public:
  void before(const Event& event) override {
    if (event.kind() != Event::kArrival) return;
    const auto& message = *reinterpret_cast<const Message*>(event.payload);
    const auto& node = dynamic_cast<const Component&>(*event.handler);
    all.push_back({{event.time.ps(), node.id().index(), message.opcode, 0}, std::nullopt});
    const std::uint64_t line = LineAddress::of(message.address).number();
    if (!message.account) {
      if (message.opcode == Opcode::kCmp) written_back[{node.id().index(), line}].push_back(event.time.ps());
      return;
    }
    // The account of what a requester waits for lies in its request.
    const auto* request = reinterpret_cast<const Request*>(reinterpret_cast<const char*>(message.account) -
                                                           offsetof(Request, account));
    all.back().second = Key{request->requester().index(), request->id};
    created.emplace(*all.back().second, request->created().ps());
    lines.emplace(*all.back().second, line);
  }
  std::vector<std::pair<Arrival, std::optional<Key>>> all;
  std::map<Key, std::int64_t> created;
  std::map<Key, std::uint64_t> lines;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::int64_t>>
      written_back;  // by node and line: when that was known
};

class Rebuilt {
 public:
  Rebuilt(const Parameters& parameters, const Spec& spec, Log log) : p_(parameters) {
    for (const auto& device : spec.devices) kinds_.push_back(device.kinded.kind);
    std::map<std::uint32_t, std::int64_t> media_free;
    for (auto& [arrival, key] : log.all) {
      if (kinds_[arrival.node] == "memory") {
        std::int64_t& free = media_free[arrival.node];
        arrival.media_start = std::max(arrival.time + p_.controller, free);
        free = arrival.media_start + 64 * p_.media_byte;
      }
      if (key) journeys_[*key].push_back(arrival);
    }
    for (const auto& [key, arrivals] : journeys_) {
      const std::int64_t looked_up = log.created.at(key) + p_.process + p_.cache;
      const auto& written_back = log.written_back[{key.first, log.lines.at(key)}];
      follow(key, behind_write_back(looked_up, arrivals.front().time, written_back) - looked_up, looked_up,
             arrivals);
    }
    split_credits();
  }

  bool travelled(const Key& key) const { return segments_.contains(key); }
  const Segments& segments(const Key& key) const { return segments_.at(key); }
  std::int64_t completed(const Key& key) const { return journeys_.at(key).back().time; }

 private:
  struct Hop {
    Key key;
    Segment queue;
    std::int64_t join;
    std::int64_t start;
    std::int64_t credit_back = 0;  // when the buffer it takes is known to be free again
  };
  using ClassVc = std::tuple<std::uint32_t, std::uint32_t, Channel>;  // from, to, class

  static std::int64_t bytes(Opcode opcode) { return carries_data(opcode) ? 80 : 16; }
  std::int64_t& part(const Key& key, Segment segment) {
    return segments_[key][static_cast<std::size_t>(segment)];
  }

  // A line is asked for when it has been written back, if that was under way: until then its data are not in
  // memory.
  static std::int64_t behind_write_back(std::int64_t looked_up, std::int64_t arrived,
                                        const std::vector<std::int64_t>& written_back) {
    for (const std::int64_t known : written_back) {
      if (known > looked_up && known < arrived) return known;
    }
    return looked_up;
  }

  void follow(const Key& key, std::int64_t waited, std::int64_t looked_up,
              const std::vector<Arrival>& arrivals) {
    part(key, Segment::kProcess) = p_.process;
    part(key, Segment::kCache) = p_.cache;
    part(key, Segment::kMshr) = waited;
    std::uint32_t from = key.first;
    std::int64_t ready = looked_up + waited;
    Hop* last = nullptr;
    for (const Arrival& arrival : arrivals) {
      const std::string& kind = kinds_[arrival.node];
      const bool to_switch = kind == "switch";
      const bool heads = kind == "bus" || (to_switch && p_.cut_through);
      const std::int64_t pipeline = to_switch ? p_.switching : 0;
      const std::int64_t on_wire = bytes(arrival.opcode) * p_.link_byte;
      const std::int64_t on_bus = kinds_[from] == "bus" ? bytes(arrival.opcode) * p_.bus_byte : 0;
      const std::int64_t tail = std::max(on_wire, on_bus);
      const std::int64_t start = arrival.time - pipeline - p_.ports - p_.flight - (heads ? 0 : tail);
      part(key, Segment::kPortDelay) += p_.ports;
      part(key, Segment::kPropagation) += p_.flight;
      part(key, Segment::kSerialization) += heads ? 0 : tail;
      part(key, Segment::kSwitching) += pipeline;
      if (kinds_[from] == "bus") {  // its links are unlimited here, so all the waiting is for the medium
        part(key, Segment::kBus) += p_.bus_time;
        part(key, Segment::kBusQueue) += start - p_.bus_time - ready;
      } else {
        const std::int64_t switched = ready + (p_.cut_through ? on_wire : 0);  // its last byte
        if (last && kinds_[from] == "switch")
          last->credit_back += p_.output_queues ? switched : start + on_wire;
        const Segment queue = kinds_[from] == "switch" ? Segment::kSwitchQueue : Segment::kLinkQueue;
        part(key, queue) += start - ready;
        auto& vc = vcs_[{from, arrival.node, channel_of(arrival.opcode)}];
        vc.push_back(std::make_unique<Hop>(Hop{key, queue, ready, start, p_.ports + p_.flight}));
        last = vc.back().get();
        if (!to_switch) last->credit_back += arrival.time;
      }
      ready = arrival.time;
      if (kind == "memory") {
        part(key, Segment::kController) += p_.controller;
        part(key, Segment::kMediaQueue) += arrival.media_start - arrival.time - p_.controller;
        part(key, Segment::kMedia) += p_.latency;
        ready = arrival.media_start + p_.latency;
      }
      from = arrival.node;
    }
  }

  // Splits each wait for a link: its class had no credit left in a part of it.
  void split_credits() {
    if (!p_.credits) return;
    for (const auto& [vc, hops] : vcs_) {
      std::map<std::int64_t, std::int64_t> changes;
      for (const auto& hop : hops) {
        --changes[hop->start];
        ++changes[hop->credit_back];
      }
      std::vector<std::pair<std::int64_t, std::int64_t>> without;  // from, to
      std::int64_t credits = *p_.credits;
      std::int64_t since = -1;
      for (const auto& [time, change] : changes) {
        credits += change;
        EXPECT_GE(credits, 0) << "more messages under way than buffers";
        if (credits == 0 && since < 0) since = time;
        if (credits > 0 && since >= 0) without.emplace_back(std::exchange(since, -1), time);
      }
      EXPECT_EQ(credits, static_cast<std::int64_t>(*p_.credits));
      for (const auto& hop : hops) {
        std::int64_t blocked = 0;
        for (const auto& [begin, end] : without) {
          blocked += std::max<std::int64_t>(0, std::min(end, hop->start) - std::max(begin, hop->join));
        }
        part(hop->key, hop->queue) -= blocked;
        part(hop->key, Segment::kCredit) += blocked;
      }
    }
  }

  Parameters p_;
  std::vector<std::string> kinds_;
  std::map<Key, std::vector<Arrival>> journeys_;
  std::map<Key, Segments> segments_;
  std::map<ClassVc, std::vector<std::unique_ptr<Hop>>> vcs_;
};

/// Runs a system and compares all its requests. Gives the sums of what was charged, for tests to see that the
/// case at hand has come up.
Segments compare(const SpecBuilder& system, const Parameters& parameters) {
  Running run(system);
  Log log;
  run.simulation().watch(&log);
  run.to_end();
  const Rebuilt rebuilt(parameters, run.simulation().spec(), std::move(log));
  const RequestTable& table = run.table();
  EXPECT_GT(table.rows(), 500U);
  Segments sums{};
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const Key key{table.requester[row], table.id[row]};
    Segments reported{};
    std::int64_t total = 0;
    for (std::size_t i = 0; i < kSegmentCount; ++i) {
      reported[i] = table.segments_ps[i][row];
      sums[i] += reported[i];
      total += reported[i];
    }
    EXPECT_EQ(total, run.latency(row).ps());
    if (rebuilt.travelled(key)) {
      EXPECT_EQ(rebuilt.completed(key), table.completed_ps[row]);
      for (std::size_t i = 0; i < kSegmentCount; ++i) {
        EXPECT_EQ(reported[i], rebuilt.segments(key)[i]) << kSegments[i].name << " of request " << key.second;
      }
    } else {  // a hit, or a miss that joined an earlier one
      Segments wanted{};
      wanted[static_cast<std::size_t>(Segment::kProcess)] = parameters.process;
      wanted[static_cast<std::size_t>(Segment::kCache)] = parameters.cache;
      wanted[static_cast<std::size_t>(Segment::kMshr)] =
          run.latency(row).ps() - parameters.process - parameters.cache;
      EXPECT_EQ(reported, wanted) << "request " << key.second;
    }
    if (testing::Test::HasFailure()) break;
  }
  return sums;
}

std::int64_t sum_of(const Segments& sums, Segment segment) { return sums[static_cast<std::size_t>(segment)]; }

Value::Map random_work(int requests, const char* footprint = "1MiB") {
  return {{"pattern", "random"}, {"reads", "60%"}, {"requests", requests}, {"footprint", footprint}};
}

TEST(Accounting, BusFullAndHalfDuplex) {
  for (const bool half : {false, true}) {
    SpecBuilder system;
    Value::Map bus{{"bandwidth", "62.5GB/s"}};  // 16 ps per byte
    if (half) bus.emplace_back("duplex", "half"), bus.emplace_back("turnaround", "3ns");
    system.device("host", "host", {{"queue", 64}}).device("bus", "bus", std::move(bus));
    system.link("host", "bus", {{"port_delay", "25ns"}, {"delay", "2ns"}});
    std::vector<std::string> memories;
    for (int i = 0; i < 4; ++i) {
      memories.push_back("mem" + std::to_string(i));
      system.device(memories.back(), "memory",
                    {{"media", Value::Map{{"kind", "fixed"}, {"bandwidth", "10GB/s"}}}});
      system.link("bus", memories.back(), {{"port_delay", "25ns"}, {"delay", "2ns"}});
    }
    system.region(memories).work("host", random_work(3000));
    Parameters parameters;
    parameters.flight = 2'000;
    parameters.bus_byte = 16;
    parameters.media_byte = 100;
    const Segments sums = compare(system, parameters);
    EXPECT_GT(sum_of(sums, Segment::kBusQueue), 0);
    EXPECT_GT(sum_of(sums, Segment::kMediaQueue), 0);
    EXPECT_EQ(sum_of(sums, Segment::kLinkQueue), 0);
  }
}

/// Hosts on the first switches, memories on the last ones.
SpecBuilder chain_of_switches(Value::Map switches, Value::Map link, Value::Map host = {}) {
  SpecBuilder system;
  std::vector<std::string> memories;
  for (int i = 0; i < 4; ++i) {
    const std::string own = std::to_string(i);
    system.device("sw" + own, "switch", switches);
    if (i > 0) system.link("sw" + std::to_string(i - 1), "sw" + own, link);
    if (i < 2) {
      system.device("host" + own, "host", host).work("host" + own, random_work(1500, "32KiB"));
      system.link("host" + own, "sw" + own, link);
    } else {
      memories.push_back("mem" + own);
      system.device(memories.back(), "memory").link("sw" + own, memories.back(), link);
    }
  }
  return system.region(memories);
}

TEST(Accounting, ChainOfSwitchesWithCutThroughAndStoreAndForward) {
  for (const bool cut_through : {true, false}) {
    Parameters parameters;
    parameters.flight = 3'000;
    parameters.link_byte = 40;
    parameters.cut_through = cut_through;
    const Segments sums =
        compare(chain_of_switches({{"forwarding", cut_through ? "cut-through" : "store-and-forward"}},
                                  {{"bandwidth", "25GB/s"}, {"port_delay", "25ns"}, {"delay", "3ns"}}),
                parameters);
    EXPECT_GT(sum_of(sums, Segment::kSwitchQueue), 0);
    EXPECT_GT(sum_of(sums, Segment::kLinkQueue), 0);
    EXPECT_EQ(sum_of(sums, Segment::kCredit), 0);
  }
}

TEST(Accounting, VirtualOutputQueuesWithCredits) {
  for (const char* arbitration : {"round-robin", "age"}) {
    for (const std::uint32_t credits : {1U, 4U, 16U}) {
      Parameters parameters;
      parameters.flight = 3'000;
      parameters.link_byte = 40;
      parameters.credits = credits;
      const Segments sums = compare(chain_of_switches({{"queueing", "voq"}, {"arbitration", arbitration}},
                                                      {{"bandwidth", "25GB/s"},
                                                       {"port_delay", "25ns"},
                                                       {"delay", "3ns"},
                                                       {"credits", static_cast<std::int64_t>(credits)}}),
                                    parameters);
      EXPECT_GT(sum_of(sums, Segment::kCredit), 0);
    }
  }
}

TEST(Accounting, VirtualOutputQueuesWithoutCredits) {
  Parameters parameters;
  parameters.flight = 3'000;
  parameters.link_byte = 40;
  const Segments sums =
      compare(chain_of_switches({{"queueing", "voq"}},
                                {{"bandwidth", "25GB/s"}, {"port_delay", "25ns"}, {"delay", "3ns"}}),
              parameters);
  EXPECT_GT(sum_of(sums, Segment::kSwitchQueue), 0);
  EXPECT_EQ(sum_of(sums, Segment::kCredit), 0);
}

TEST(Accounting, OutputQueuesBehindLinksWithCredits) {
  // The switch drains its buffers as messages come, so credits are away for their bytes, the switching and
  // the flights alone, but two are too few for that.
  Parameters parameters;
  parameters.flight = 3'000;
  parameters.link_byte = 40;
  parameters.credits = 2;
  parameters.output_queues = true;
  const Segments sums =
      compare(chain_of_switches(
                  {}, {{"bandwidth", "25GB/s"}, {"port_delay", "25ns"}, {"delay", "3ns"}, {"credits", 2}}),
              parameters);
  EXPECT_GT(sum_of(sums, Segment::kCredit), 0);
}

TEST(Accounting, CacheHitsMissesAndMerges) {
  Parameters parameters;
  parameters.flight = 3'000;
  parameters.link_byte = 40;
  parameters.cache = 12'000;
  const Segments sums =
      compare(chain_of_switches({}, {{"bandwidth", "25GB/s"}, {"port_delay", "25ns"}, {"delay", "3ns"}},
                                {{"cache", Value::Map{{"size", "8KiB"}, {"ways", 4}}}}),
              parameters);
  EXPECT_GT(sum_of(sums, Segment::kMshr), 0);
}

}  // namespace
}  // namespace cxloom::test
