// What a plug-in and the program that loads it must have in common, written into the plug-in as plain data, so that it can
// be compared before any code of the plug-in runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "base/measure.hpp"
#include "base/schema.hpp"
#include "base/value.hpp"
#include "component/component.hpp"
#include "component/endpoint.hpp"
#include "cxloom_version.hpp"
#include "device/context/context.hpp"
#include "device/memory/controller.hpp"
#include "device/requester/params.hpp"
#include "device/requester/sequencer.hpp"
#include "device/switch/params.hpp"
#include "device/switch/switching_endpoint.hpp"
#include "interconnect/arbitration/arbitration.hpp"
#include "interconnect/routing/strategy.hpp"
#include "interconnect/wire/virtual_channel.hpp"
#include "kernel/kernel.hpp"
#include "kernel/wait_list.hpp"
#include "memory/dram/device/device.hpp"
#include "memory/dram/device/timers.hpp"
#include "memory/dram/queue/queue.hpp"
#include "memory/dram/refresh/policy.hpp"
#include "memory/dram/row_policy/row_policy.hpp"
#include "memory/dram/scheduler/scheduler.hpp"
#include "memory/media/media.hpp"
#include "protocol/request.hpp"
#include "system/kinds/registry.hpp"
#include "system/run/simulation.hpp"
#include "tags/tag_array.hpp"
#include "tags/victim_policy.hpp"
#include "workload/pattern/pattern.hpp"

namespace cxloom {

/// A type that both sides use, and what it takes in memory.
struct TypeLayout {
  std::array<char, 24> name{};
  std::uint32_t size = 0;
  std::uint32_t alignment = 0;

  bool operator==(const TypeLayout&) const = default;
};

/// The stamp. Its first four members keep their places in all versions to come, so that any version reads any other's.
struct PluginStamp {
  std::array<char, 16> magic{};
  std::uint32_t bytes = 0;             ///< of the stamp
  std::array<char, 28> version{};      ///< of cxloom
  std::array<char, 48> cxx_library{};  ///< the C++ library, and what changes its types
  std::array<TypeLayout, 64> types{};
};

namespace stamp_detail {

template <std::size_t kSize>
constexpr std::array<char, kSize> text(std::string_view from) {
  std::array<char, kSize> to{};
  for (std::size_t i = 0; i < from.size(); ++i) to.at(i) = from[i];  // a text too long does not compile
  return to;
}

template <class T>
constexpr TypeLayout layout(std::string_view name) {
  return {text<24>(name), sizeof(T), alignof(T)};
}

constexpr std::string_view cxx_library() {
#if defined(_LIBCPP_VERSION)
  return "libc++";
#elif defined(_GLIBCXX_DEBUG)
  return "libstdc++ in debug mode";
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI == 0
  return "libstdc++ with the strings of C++98";
#else
  return "libstdc++";
#endif
}

}  // namespace stamp_detail

inline constexpr std::string_view kStampMagic = "cxloom plug-in";
inline constexpr const char* kStampSymbol = "cxloom_plugin_stamp";
inline constexpr const char* kEntrySymbol = "cxloom_register";

/// The stamp of whoever compiles this.
constexpr PluginStamp make_plugin_stamp() {
  using namespace stamp_detail;
  return {text<16>(kStampMagic),
          sizeof(PluginStamp),
          text<28>(kVersion),
          text<48>(cxx_library()),
          {layout<AccessStream>("AccessStream"),
           layout<Account>("Account"),
           {text<24>("Account::mark"), Account::kMarkOffset, alignof(Time)},  // its place, for the size
           layout<Agent>("Agent"),
           layout<Arbiter>("Arbiter"),
           layout<ArbitrationContext>("ArbitrationContext"),
           layout<Component>("Component"),
           layout<Contenders>("Contenders"),
           layout<DeviceContext>("DeviceContext"),
           layout<DramDevice>("DramDevice"),
           layout<DramQueue>("DramQueue"),
           layout<DramQueue::Entry>("DramQueue::Entry"),
           layout<DramRefreshContext>("DramRefreshContext"),
           layout<DramRefreshPolicy>("DramRefreshPolicy"),
           layout<DramRowContext>("DramRowContext"),
           layout<DramRowPolicy>("DramRowPolicy"),
           layout<DramScheduler>("DramScheduler"),
           layout<DramSchedulerContext>("DramSchedulerContext"),
           layout<DramTimers>("DramTimers"),
           layout<Endpoint>("Endpoint"),
           layout<SystemContext>("Fabric"),
           layout<Feeder>("Feeder"),
           layout<FieldInfo>("FieldInfo"),
           layout<InputError>("InputError"),
           layout<Junction>("Junction"),
           layout<Kernel>("Kernel"),
           layout<MeasureInfo>("MeasureInfo"),
           layout<Media>("Media"),
           layout<MediaContext>("MediaContext"),
           layout<MemoryController>("MemoryController"),
           layout<MemoryControllerParams>("MemoryControllerParams"),
           layout<Message>("Message"),
           layout<Pattern>("Pattern"),
           layout<PatternContext>("PatternContext"),
           layout<PatternParams>("PatternParams"),
           layout<Port>("Port"),
           layout<Prefetcher>("Prefetcher"),
           layout<PrefetcherParams>("PrefetcherParams"),
           layout<Registry>("Registry"),
           layout<Request>("Request"),
           layout<RequesterParams>("RequesterParams"),
           layout<RoutingContext>("RoutingContext"),
           layout<RoutingStrategy>("RoutingStrategy"),
           layout<Sequencer>("Sequencer"),
           layout<Simulation>("Simulation"),
           layout<SlotOrder>("SlotOrder"),
           layout<SlotPins>("SlotPins"),
           layout<SwitchCore>("SwitchCore"),
           layout<SwitchParams>("SwitchParams"),
           layout<SwitchingDevice>("SwitchingDevice"),
           layout<SwitchingEndpoint>("SwitchingEndpoint"),
           layout<TagArray>("TagArray"),
           layout<Trigger>("Trigger"),
           layout<Value>("Value"),
           layout<VictimContext>("VictimContext"),
           layout<VictimPolicy>("VictimPolicy"),
           layout<VirtualChannel>("VirtualChannel"),
           layout<Waiter>("Waiter")}};
}

}  // namespace cxloom

/// The entry of a plug-in, with its stamp: `CXLOOM_PLUGIN(registry) { registry.devices.add<MyDevice>("my-device"); }`.
#define CXLOOM_PLUGIN(registry)                                                                    \
  extern "C" __attribute__((visibility("default"))) const cxloom::PluginStamp cxloom_plugin_stamp; \
  constinit const cxloom::PluginStamp cxloom_plugin_stamp = cxloom::make_plugin_stamp();           \
  extern "C" __attribute__((visibility("default"))) void cxloom_register(cxloom::Registry&(registry))
