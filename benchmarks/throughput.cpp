// Runs one of the stated systems: `cxloom_throughput NAME REQUESTS [THREADS]` (measured requests of each
// requester). A process of its own, so that CPU time and peak memory are those of the simulation;
// benchmarks/run.py takes them.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "dram_drive.hpp"
#include "interconnect/topology/generators.hpp"
#include "results/collector.hpp"
#include "system/run/run_kernels.hpp"
#include "system/run/simulation.hpp"

namespace {

using namespace cxloom;

Value workload(std::int64_t requests, const char* footprint) {
  return Value::Map{
      {"pattern", "random"}, {"reads", "67%"}, {"footprint", footprint}, {"requests", requests}};
}

const Value kMemory(Value::Map{{"kind", "memory"},
                               {"capacity", "16GiB"},
                               {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}});

Value dram(const char* preset, std::int64_t channels = 1) {
  return Value::Map{{"kind", "memory"},
                    {"capacity", "8GiB"},
                    {"media", Value::Map{{"kind", "dram"}, {"preset", preset}, {"channels", channels}}}};
}

// Pages of a DRAM before low-latency flash.
const Value kSsd(Value::Map{
    {"kind", "memory"},
    {"capacity", "16GiB"},
    {"media", Value::Map{{"kind", "cached"},
                         {"size", "64MiB"},
                         {"cache", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}},
                         {"backing", Value::Map{{"kind", "flash"}, {"preset", "z-nand"}}}}}});

// host + bus + 4 memories: the example of the README. With flits: its links are of PCIe 5.0 x16.
Value bus_system(bool flits, const Value& memory = kMemory) {
  Value::Map devices{{"host", Value::Map{{"kind", "host"}, {"queue", 64}}},
                     {"bus", Value::Map{{"kind", "bus"}, {"bandwidth", "64GB/s"}}}};
  Value::List links{Value::Map{{"between", Value::List{"host", "bus"}}, {"port_delay", "25ns"}}};
  const auto physical = [&] {
    if (flits) links.back().set("phy", "pcie5-x16");
  };
  physical();
  Value::List memories;
  for (int i = 0; i < 4; ++i) {
    const std::string name = "mem" + std::to_string(i);
    devices.emplace_back(name, memory);
    links.emplace_back(Value::Map{{"between", Value::List{"bus", name}}});
    physical();
    memories.emplace_back(name);
  }
  return Value::Map{{"devices", std::move(devices)},
                    {"links", std::move(links)},
                    {"address_map", Value::List{Value::Map{{"to", std::move(memories)}}}}};
}

// Out-of-order cores before DRAM of two channels: every access goes through window, registers and queue.
Value cores_system() {
  const Value::Map host{{"kind", "host"}, {"queue", 64}, {"core", Value::Map{}}};
  return Value::Map{{"devices", Value::Map{{"host", host}, {"mem", dram("DDR5-4800", 2)}}},
                    {"links", Value::List{Value::Map{{"between", Value::List{"host", "mem"}}}}},
                    {"address_map", Value::List{Value::Map{{"to", Value::List{"mem"}}}}}};
}

// Cores whose pages Linux moves between DRAM and a card, at the pace of the study char/tiering: a second is
// 50 us.
Value tiered_system() {
  Value near = dram("DDR5-4800", 2);
  near.set("capacity", "6MiB");
  const Value::Map host{{"kind", "host"}, {"queue", 64}, {"core", Value::Map{}}};
  return Value::Map{
      {"devices", Value::Map{{"host", host}, {"near", near}, {"card", dram("DDR5-4800")}}},
      {"links", Value::List{Value::Map{{"between", Value::List{"host", "near"}}},
                            Value::Map{{"between", Value::List{"host", "card"}}, {"port_delay", "25ns"}}}},
      {"address_map",
       Value::List{Value::Map{{"to", Value::List{"near"}}}, Value::Map{{"to", Value::List{"card"}}}}}};
}

Value tiering_of(const std::string& kind) {
  if (kind == "none") return Value();
  return Value::Map{
      {"kind", kind},          {"scan_size", "32KiB"},  {"period_min", "50us"},    {"period_max", "3ms"},
      {"period_floor", "5us"}, {"threshold", "50us"},   {"threshold_step", "6us"}, {"threshold_max", "100us"},
      {"adapt", "3ms"},        {"rate_window", "50us"}, {"enough_free", "128KiB"}, {"demotion_pause", "5us"}};
}

// A host with a cache of that size, and memory behind a switch; whoever keeps it coherent has a filter of a
// million entries. By CXL.cache that is another host, so that each request crosses the same links.
Value shared_system(const std::string& coherence, const char* cache, Value memory = kMemory) {
  const Value::Map agent{{"filter", Value::Map{{"entries", 1'000'000}}}};
  const Value::Map host{{"kind", "host"}, {"queue", 64}, {"cache", Value::Map{{"size", cache}}}};
  Value::Map devices{{"host", host}, {"sw", Value::Map{{"kind", "switch"}}}};
  Value::Map region{{"to", Value::List{"mem"}}, {"coherence", coherence}};
  if (coherence == "hdm-db") memory.set("dcoh", agent);
  if (coherence == "hdm-h") {
    devices.emplace_back("root", Value::Map{{"kind", "host"}, {"home_agent", agent}});
    region.emplace_back("home", "root");
  }
  devices.emplace_back("mem", memory);
  Value::List links;
  for (const auto& [name, params] : devices) {
    if (name != "sw")
      links.emplace_back(Value::Map{{"between", Value::List{name, "sw"}}, {"port_delay", "25ns"}});
  }
  return Value::Map{{"devices", devices}, {"links", links}, {"address_map", Value::List{region}}};
}

// A host that persists, and a switch that keeps lines of its persistent memory.
Value persist_system() {
  Value memory = kMemory;
  Value sw = Value::Map{{"kind", "switch"}, {"persist_buffer", Value::Map{{"policy", "forward"}}}};
  const Value::Map host{{"kind", "host"}, {"queue", 64}};
  return Value::Map{
      {"devices", Value::Map{{"host", host}, {"sw", sw}, {"mem", memory}}},
      {"links", Value::List{Value::Map{{"between", Value::List{"host", "sw"}}, {"port_delay", "25ns"}},
                            Value::Map{{"between", Value::List{"sw", "mem"}}, {"port_delay", "25ns"}}}},
      {"address_map", Value::List{Value::Map{{"to", Value::List{"mem"}}, {"persistence", "media"}}}}};
}

Value generated(const std::string& kind, Value::Map topology, const std::string& queueing, bool credits,
                const Registry& registry, const Value& memory = kMemory) {
  Value::Map link;
  if (credits) link.emplace_back("credits", 64);
  // The buffers of a ring are a circle, which a second channel opens.
  if (credits && kind == "torus") link.emplace_back("virtual_channels", 2);
  topology.emplace_back("requester", Value::Map{{"kind", "host"}, {"queue", 64}});
  topology.emplace_back("memory", memory);
  topology.emplace_back("switch",
                        Value::Map{{"kind", "switch"}, {"port_bandwidth", "64GB/s"}, {"queueing", queueing}});
  topology.emplace_back("link", link);
  topology.emplace_back("edge_link", link);
  TopologyContext context;
  const auto made = registry.topologies.make({kind, Value(std::move(topology))}, context);
  Value::List links;
  for (std::size_t i = 0; i < made->link_count(); ++i) links.push_back(made->link(i));
  return Value::Map{
      {"devices", made->devices()}, {"links", std::move(links)}, {"address_map", made->address_map()}};
}

// What the hosts of a system use. Of 128 MiB the filter has half the lines, of 32 MiB all.
const char* footprint_of(const std::string& name) {
  if (name.starts_with("tiering-")) return "16MiB";
  if (name == "persist-few") return "2KiB";  // twice what its buffer holds
  if (name == "cache-hits") return "64KiB";
  if (name == "ssd-hits") return "128MiB";  // half of what the four caches hold
  if (name.starts_with("filter-full")) return "128MiB";
  if (name == "ssd-misses") return "512MiB";  // twice what they hold
  return name.starts_with("filter") ? "32MiB" : "1GiB";
}

// NAME is bus, bus-flits, bus-dram, cores, tiering-none,
// tiering-memory-tiering, ssd-hits, ssd-misses, cache-hits, persist-few, persist-many,
// filter[-full]-hdm-db|hdm-h, filter-dram (hdm-db), spine-leaf-dram (with credits), or
// chain|torus|spine-leaf|spine-leaf16|spine-leaf1024|edge4096
// with -output, -voq or -credits, or, as with -voq, with a routing strategy: -random, -adaptive.
Value system_named(const std::string& name, const Registry& registry) {
  if (name == "bus") return bus_system(false);
  if (name == "bus-flits") return bus_system(true);
  if (name == "bus-dram") return bus_system(false, dram("test-D5"));
  if (name.starts_with("ssd")) return bus_system(false, kSsd);
  if (name == "cores") return cores_system();
  if (name.starts_with("tiering-")) return tiered_system();
  if (name.starts_with("persist")) return persist_system();
  if (name == "cache-hits") return shared_system("none", "1MiB");
  if (name == "filter-dram") return shared_system("hdm-db", "64KiB", dram("DDR4-3200"));
  if (name.starts_with("filter")) return shared_system(name.ends_with("hdm-h") ? "hdm-h" : "hdm-db", "64KiB");
  const std::size_t dash = name.rfind('-');
  const std::string topology = name.substr(0, dash);
  const std::string flow = name.substr(dash + 1);
  const std::string queueing = flow == "output" ? "output" : "voq";
  const bool credits = flow == "credits" || flow == "dram";
  // 64 switches in a row, a host and a memory on each.
  if (topology == "chain")
    return generated("chain", {{"switches", 64}, {"placement", "paired"}}, queueing, credits, registry);
  // 8 x 8 switches, a host and a memory on each.
  if (topology == "torus") {
    return generated("torus", {{"size", Value::List{8, 8}}, {"placement", "paired"}}, queueing, credits,
                     registry);
  }
  // 64 hosts and 64 memories, eight per leaf; eight uplinks per leaf.
  if (topology == "spine-leaf") {
    return generated("spine-leaf", {{"leaves", 16}, {"spines", 8}, {"devices_per_leaf", 8}}, queueing,
                     credits, registry, flow == "dram" ? dram("DDR4-3200") : kMemory);
  }
  // 8 hosts and 8 memories, which fit in the first levels of a cache.
  if (topology == "spine-leaf16") {
    return generated("spine-leaf", {{"leaves", 4}, {"spines", 2}, {"devices_per_leaf", 4}}, queueing, credits,
                     registry);
  }
  // 512 hosts and 512 memories: far more state than the second-level cache holds.
  if (topology == "spine-leaf1024") {
    return generated("spine-leaf", {{"leaves", 32}, {"spines", 16}, {"devices_per_leaf", 32}}, queueing,
                     credits, registry);
  }
  // All 4096 edge ports that 12-bit identities allow.
  if (topology == "edge4096") {
    return generated("spine-leaf", {{"leaves", 64}, {"spines", 32}, {"devices_per_leaf", 64}}, queueing,
                     credits, registry);
  }
  throw InputError({"unknown system '" + name + "'", {}, {}, {}});
}

// The peak of this process. What wait4 gives whoever started it is no less than that one's own peak.
unsigned long long peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(std::string_view("VmHWM:").size()));
  }
  return 0;
}

int tell(std::uint64_t requests, std::uint64_t events) {
  std::printf("{\"requests\": %llu, \"events\": %llu, \"peak_kib\": %llu}\n",
              static_cast<unsigned long long>(requests), static_cast<unsigned long long>(events), peak_kib());
  return 0;
}

// Media of DRAM by themselves: dram-saturated and dram-83ns.
int run_dram(const std::string& name, std::int64_t requests) {
  DramParams params;
  params.preset = "test-D5";
  DramDrive drive(params);
  const auto counts =
      drive.run(static_cast<std::uint64_t>(requests), name == "dram-83ns" ? Time{83'000} : Time{});
  return tell(counts.requests, counts.events);
}

int run(const std::string& name, std::int64_t requests, std::int64_t threads) {
  if (name == "dram-saturated" || name == "dram-83ns") return run_dram(name, requests);
  const Registry registry = builtin_registry();
  Value system = system_named(name, registry);
  Value::Map work;
  for (const auto& [device, params] : *system.find("devices")->as_map()) {
    if (*params.find("kind")->as_text() == "host" && device != "root")
      work.emplace_back(device, workload(requests, footprint_of(name)));
    if (name.starts_with("tiering-")) {
      work.back().second.set("pattern", "zipf");
      work.back().second.set("addresses", "first-touch");
      work.back().second.set("tiering", tiering_of(name.substr(name.find('-') + 1)));
    }
    if (name.starts_with("persist") && !work.empty()) work.back().second.set("persists", 1.0);
  }
  system.set("workload", std::move(work));
  Value::Map how{{"threads", threads}};
  for (const char* routing : {"random", "adaptive"}) {
    if (name.ends_with(std::string("-") + routing)) how.emplace_back("routing", routing);
  }
  system.set("run", std::move(how));
  Collector collector(false);
  Simulation simulation(registry, Spec::read(system, registry), {}, collector);
  while (requests > 1 && !simulation.advance(Time::max(), 1'000'000)) {
  }
  const auto progress = simulation.progress();
  if (const DividedRun* run = simulation.kernels().divided()) {
    std::fprintf(
        stderr,
        "%u parts, %llu of %llu windows side by side, %llu events in these, %llu of the busiest part\n",
        run->division().parts, static_cast<unsigned long long>(run->cost().side_by_side),
        static_cast<unsigned long long>(run->cost().windows),
        static_cast<unsigned long long>(run->cost().events_side_by_side),
        static_cast<unsigned long long>(run->cost().events_of_busiest));
  }
  return tell(progress.completed, progress.events);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: cxloom_throughput SYSTEM REQUESTS [THREADS]\n");
    return 2;
  }
  try {
    return run(argv[1], std::atoll(argv[2]), argc == 4 ? std::atoll(argv[3]) : 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
