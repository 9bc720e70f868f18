// Requesters before one memory, of each kind of coherence, for tests of atomic operations.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/support/coherence_flows.hpp"
#include "core/support/far_apart.hpp"

namespace cxloom::test {

struct AtomicOptions {
  std::string coherence = "hdm-db";
  Value::Map requester;  ///< further parameters of those that make accesses
  Value::Map cache;      ///< ... of their caches,
  Value::Map memory;     ///< ... of the memory,
  Value::Map agent;      ///< ... of its home
  bool cached = true;
};

/// `hosts` requesters h0, h1, ... and a memory, whose home is a DCOH, a host, an accelerator with bias, or
/// nobody. With bias the device makes accesses, too: it is h1.
class AtomicRun {
 public:
  AtomicRun(int hosts, const std::vector<TimedStep>& steps, const AtomicOptions& options = {}) {
    SpecBuilder system;
    const auto with = [](Value::Map base, const Value::Map& more) {
      for (const auto& each : more) base.emplace_back(each);
      return base;
    };
    Value::Map cache = with({{"access_time", "12ns"}, {"ways", 0}}, options.cache);
    if (!Value(cache).find("size")) cache.emplace_back("size", "1KiB");
    Value::Map requester = with({{"process_time", "10ns"}}, options.requester);
    if (options.cached) requester.emplace_back("cache", cache);
    const Value::Map agent = with({{"lookup_time", "7ns"}}, options.agent);
    Value::Map memory =
        with({{"capacity", "1MiB"},
              {"controller_time", "40ns"},
              {"media", Value::Map{{"kind", "fixed"}, {"latency", "45ns"}, {"write_latency", "60ns"}}}},
             options.memory);
    const bool bias = options.coherence == "hdm-d";
    const std::string home = bias ? "h1" : "home";
    Value::Map region{{"coherence", options.coherence}};
    if (bias) {
      memory.emplace_back("bias", agent);
      system.device(home, "accelerator", with(requester, {{"memory", memory}}));
    } else if (options.coherence == "hdm-h") {
      system.device(home, "host", {{"memory", memory}, {"home_agent", agent}});
      region.emplace_back("home", home);
    } else {
      if (options.coherence == "hdm-db") memory.emplace_back("dcoh", agent);
      system.device(home, "memory", memory);
    }
    system.device("sw", "switch", {{"switching_time", "0ns"}});
    system.link(home, "sw", {{"port_delay", bias ? "25ns" : "0ns"}});
    system.device("other", "memory", {{"capacity", "1MiB"}}).link("sw", "other");
    std::vector<std::string> names;
    for (int h = 0; h < hosts; ++h) {
      names.push_back("h" + std::to_string(h));
      if (names.back() == home) continue;
      const bool accelerator = options.coherence == "hdm-h";
      system.device(names.back(), accelerator ? "accelerator" : "host", requester);
      system.link(names.back(), "sw", {{"port_delay", bias ? "0ns" : "25ns"}});
    }
    replay_apart(system, names, steps, 0x100000);
    system.region({home}, region).region({"other"});
    run_ = std::make_unique<Running>(system);
    run_->to_end();
    rows_ = rows_of(*run_, steps);
  }

  Time latency(std::size_t step) const { return run_->latency(rows_[step]); }
  Time segment(std::size_t step, Segment which) const { return run_->segment(rows_[step], which); }
  double number(const std::vector<std::string_view>& keys) const { return run_->number(keys); }
  Value summary() const { return run_->summary(); }

 private:
  std::unique_ptr<Running> run_;
  std::vector<std::size_t> rows_;
};

}  // namespace cxloom::test
