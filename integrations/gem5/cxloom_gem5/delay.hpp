// A path without a simulated system: an answer takes a time between two bounds, and lines are snooped at
// random. It shows what the module itself costs, and whether caches survive snoops at any instant.
#pragma once

#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <params/CxlDelay.hh>
#include "path.hpp"

namespace gem5::cxl {

class Delay : public Path {
 public:
  explicit Delay(const CxlDelayParams& params);

  Seat seat(Host& host) override;
  void give(unsigned host, const Access& access) override;
  void snooped(unsigned host, std::uint64_t number, Snooped held) override;
  Tick estimate(unsigned host, const Access& access) override;
  std::vector<std::string> segments() const override { return {"delay"}; }

  void drainResume() override;

 private:
  struct Due {
    unsigned host;
    Access access;
  };

  void answer_due();
  void answer_at(Tick time, const Due& due);
  void snoop_one();
  void schedule_snoop();

  const Tick shortest_;
  const Tick longest_;
  const Tick snoop_interval_;
  const std::size_t snooped_lines_;
  std::mt19937_64 random_{1};
  std::vector<Host*> hosts_;
  std::multimap<Tick, Due> due_;
  std::set<Addr> snooped_;                           // lines that a snoop is about: no copy is granted
  std::unordered_multimap<Addr, Due> behind_snoop_;  // answers that wait for its end, by line
  std::deque<std::pair<unsigned, Addr>> last_;       // lines that hosts have asked for
  EventFunctionWrapper answer_event_;
  EventFunctionWrapper snoop_event_;
};

}  // namespace gem5::cxl
