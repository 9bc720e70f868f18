// A stand-in of ASTRA-sim's Sys: one clock of 1 ns for all, events by time and in the order in which they
// came.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "astra-sim/system/Callable.hh"

namespace AstraSim {

using Tick = unsigned long long;

class Sys {
 public:
  static Tick boostedTick() { return clock; }
  static void sys_panic(std::string text) { throw std::runtime_error(text); }
  void register_event(Callable* callable, EventType event, CallData* data, Tick delta) {
    events[clock + delta].push_back([=] { callable->call(event, data); });
  }

  static void run() {
    while (!events.empty()) {
      clock = events.begin()->first;
      auto& now = events.begin()->second;
      for (std::size_t i = 0; i < now.size(); ++i) {
        const auto action = now[i];  // which may add others
        ++calls;
        action();
      }
      events.erase(events.begin());
    }
  }
  static void reset() {
    clock = 0;
    calls = 0;
    events.clear();
  }

  inline static Tick clock = 0;
  inline static std::uint64_t calls = 0;
  inline static std::map<Tick, std::vector<std::function<void()>>> events = {};
};

}  // namespace AstraSim
