// Three agents that share 64 lines, and all measures of a run: what tests turn the parameters of caches and
// homes in.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/support/system.hpp"

namespace cxloom::test {

/// The home of the lines.
enum class HomeIs : std::uint8_t {
  kDcoh,   ///< of a memory, which two hosts share
  kAgent,  ///< of a host, which shares its memory with two devices
};

/// What is turned; the rest is as usual.
struct HomeKnobs {
  Value::Map cache;
  Value::Map home;
  Value::Map filter;
  const char* reads = "50%";
  Value::Map link;  ///< between the DCOH's memory and its bus
};

class SharedLines {
 public:
  static SpecBuilder spec_of(HomeIs home, const HomeKnobs& knobs) {
    Value::Map cache = knobs.cache;
    if (!Value(cache).find("size")) cache.emplace_back("size", "2KiB");
    cache.emplace_back("ways", 4);
    Value::Map filter = knobs.filter;
    if (!Value(filter).find("entries")) filter.emplace_back("entries", 64);
    Value::Map params = knobs.home;
    params.emplace_back("filter", filter);
    Value::Map memory{{"capacity", "1MiB"}, {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}}}};
    const Value::Map work{
        {"pattern", "random"}, {"reads", knobs.reads}, {"requests", 4000}, {"footprint", "4KiB"}};

    SpecBuilder spec;
    if (home == HomeIs::kDcoh) {
      memory.emplace_back("dcoh", params);
      spec.device("bus", "bus").device("mem", "memory", memory).link("bus", "mem", knobs.link);
      spec.region({"mem"}, {{"coherence", "hdm-db"}});
      for (const char* host : {"h0", "h1"}) {
        spec.device(host, "host", {{"queue", 16}, {"cache", cache}}).link(host, "bus");
        spec.work(host, work);
      }
    } else {
      spec.device("host", "host",
                  {{"queue", 16}, {"cache", cache}, {"memory", memory}, {"home_agent", params}});
      spec.device("sw", "switch").link("host", "sw");
      spec.region({"host"}, {{"coherence", "hdm-h"}});
      spec.work("host", work);
      for (const char* device : {"d0", "d1"}) {
        spec.device(device, "accelerator", {{"queue", 16}, {"cache", cache}}).link(device, "sw");
        spec.work(device, work);
      }
    }
    return spec.run_with({{"warmup", 500}});
  }

  SharedLines(HomeIs home, const HomeKnobs& knobs) : home_(home), run_(spec_of(home, knobs)) {
    run_.to_end();
  }

  double operator()(const std::vector<std::string_view>& keys) const { return run_.number(keys); }
  double time() const { return run_.number({"simulated_time_ns"}); }
  double latency() const { return run_.number({"latency_ns", "mean"}); }
  double segment(const char* name) const { return run_.number({"breakdown_ns", name}); }
  double of_home(const char* name) const {
    return home_ == HomeIs::kDcoh ? run_.number({"coherence", name})
                                  : run_.number({"per_home", "host", name});
  }
  /// One of those that share the lines.
  double of_sharer(const char* name) const {
    return run_.number({"per_requester", home_ == HomeIs::kDcoh ? "h0" : "d0", name});
  }

 private:
  HomeIs home_;
  mutable Running run_;
};

}  // namespace cxloom::test
