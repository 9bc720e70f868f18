// A stand-in of SST's links of a component to itself, and of its time.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include <sst/core/event.h>

// NOLINTBEGIN(readability-identifier-naming): the names are SST's.
namespace SST {

class Link {
 public:
  explicit Link(Event::HandlerBase* handler) : handler_(handler) {}
  void send(SimTime_t delay, Event* event);
  void deliver(Event* event) { (*handler_)(event); }

 private:
  std::unique_ptr<Event::HandlerBase> handler_;
};

namespace standin {

/// What is under way, and the time. An event may not be called back.
struct Clock {
  SimTime_t now = 0;
  std::multimap<SimTime_t, std::pair<Link*, Event*>> events;
  unsigned delivered = 0;

  void run_until(SimTime_t time) {
    while (!events.empty() && events.begin()->first <= time) {
      const auto [at, event] = *events.begin();
      events.erase(events.begin());
      now = at;
      ++delivered;
      event.first->deliver(event.second);
    }
    now = time;
  }
};
inline Clock sst_clock;

}  // namespace standin

inline void Link::send(SimTime_t delay, Event* event) {
  standin::sst_clock.events.emplace(standin::sst_clock.now + delay, std::pair{this, event});
}

}  // namespace SST
// NOLINTEND(readability-identifier-naming)
