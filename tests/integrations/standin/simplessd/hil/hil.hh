// Stands in for SimpleSSD where it is not installed: the interface that the adapter uses, and the simplest
// device behind it. It serves reads one after the other, and writes, each page in a fixed time, and has an
// event of its own that comes back for ever.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../util/simplessd.hh"

namespace SimpleSSD {

struct Stats {
  std::string name;
  std::string desc;
};

/// What the next devices do; tests set it.
struct Behaviour {
  std::uint64_t read_time = 75'000'000;
  std::uint64_t write_time = 750'000'000;
  std::uint64_t refresh = 64'000'000'000;
  bool hangs = false;
};
inline Behaviour behaviour;

namespace HIL {

struct Request {
  struct {
    std::uint64_t slpn = 0;
    std::uint64_t nlp = 0;
  } range;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::function<void(std::uint64_t, void*)> function;
  void* context = nullptr;
};

class HIL {
 public:
  explicit HIL(ConfigReader& /*config*/) : owner_(simulator) {
    refresh_ = owner_->allocateEvent([this](std::uint64_t now) { keep_refreshing(now); });
    finished_ = owner_->allocateEvent([this](std::uint64_t now) { finish(now); });
    keep_refreshing(owner_->getCurrentTick());
  }
  void read(Request& request) { take(request, behaviour.read_time, reads_, reading_); }
  void write(Request& request) { take(request, behaviour.write_time, writes_, writing_); }
  void getLPNInfo(std::uint64_t& pages, std::uint32_t& bytes) { pages = 1U << 18U, bytes = 4096; }
  void getStatList(std::vector<Stats>& names, const std::string& prefix) {
    names.push_back({prefix + "pal.read.count", ""});
    names.push_back({prefix + "pal.program.count", ""});
  }
  void getStatValues(std::vector<double>& values) {
    values.push_back(static_cast<double>(reads_));
    values.push_back(static_cast<double>(writes_));
  }

 private:
  void take(const Request& request, std::uint64_t time, std::uint64_t& count, std::uint64_t& until) {
    count += request.range.nlp;
    until = std::max(until, simulator->getCurrentTick()) + time * request.range.nlp;
    waiting_.emplace(until, request);
    if (!behaviour.hangs) simulator->scheduleEvent(finished_, waiting_.begin()->first);
  }
  void finish(std::uint64_t now) {
    while (!waiting_.empty() && waiting_.begin()->first <= now) {
      waiting_.begin()->second.function(now, nullptr);
      waiting_.erase(waiting_.begin());
    }
    if (!waiting_.empty()) simulator->scheduleEvent(finished_, waiting_.begin()->first);
  }
  void keep_refreshing(std::uint64_t now) { owner_->scheduleEvent(refresh_, now + behaviour.refresh); }

  Simulator* owner_;
  Event refresh_ = 0;
  Event finished_ = 0;
  std::uint64_t reading_ = 0;  // until then
  std::uint64_t writing_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::multimap<std::uint64_t, Request> waiting_;  // by the tick of completion
};

}  // namespace HIL

}  // namespace SimpleSSD
