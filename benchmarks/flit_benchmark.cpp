// Packing one flit of a saturated link: reads, writes, and all classes at once.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/flit/packer.hpp"

namespace {

using namespace cxloom;

void pack(benchmark::State& state, FlitMode mode, const std::vector<Channel>& classes) {
  FlitPacker packer({.mode = mode});
  Offer offer;
  for (const Channel channel : classes) offer.set(channel, Offer::kMost);
  Flit flit;
  std::int64_t messages = 0;
  for (auto _ : state) {
    packer.pack(offer, flit);
    messages += flit.message_count;
    benchmark::DoNotOptimize(flit);
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["messages/flit"] =
      benchmark::Counter(static_cast<double>(messages) / static_cast<double>(state.iterations()));
}

const auto kRegistered = [] {
  using enum Channel;
  const std::vector<std::pair<std::string, std::vector<Channel>>> kTraffic{
      {"reads", {kS2MDRS}},
      {"writes", {kM2SRwD}},
      {"requests", {kM2SReq}},
      {"mixed", {kS2MDRS, kS2MNDR}},
      {"all", {kM2SReq, kM2SRwD, kS2MNDR, kS2MDRS, kD2HReq, kD2HRsp, kD2HData, kH2DReq, kH2DRsp, kH2DData}}};
  for (std::size_t mode = 0; mode < kFlitModeCount; ++mode) {
    for (const auto& [name, classes] : kTraffic)
      benchmark::RegisterBenchmark(("pack/" + std::string(kFlitModeNames[mode]) + "/" + name).c_str(), pack,
                                   static_cast<FlitMode>(mode), classes);
  }
  return true;
}();

}  // namespace
