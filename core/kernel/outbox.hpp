// What one part of a divided system sends to another while they run side by side.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/prefetch_owned.hpp"
#include "base/units.hpp"

namespace cxloom {

class EventHandler;
class Kernel;

/// It lies with its sender, so that nobody waits for a cache line of the other. The sender fills one page
/// while the receiver takes what is on the other: pages are turned between windows, when neither is at work.
class alignas(128) Outbox {
 public:
  struct Sent {
    Time at;
    std::uint64_t order;  ///< that of its source
    EventHandler* handler;
    std::uint64_t payload;
  };
  struct Call {
    Time at;
    void* to;
    void (*take)(void* to, Time at);
  };
  struct Page {
    std::vector<Sent> events;
    std::vector<Call> calls;
    Time earliest = Time::max();  ///< of all of them

    bool empty() const { return events.empty() && calls.empty(); }
  };

  /// Lines of a page that are fetched before they are needed: processors may be some hundred nanoseconds
  /// apart.
  static constexpr std::size_t kAhead = 4;

  explicit Outbox(const Kernel& to) : to_(&to) {}

  const Kernel* to() const { return to_; }

  // The sender.

  void send(const Sent& event) {
    Page& page = pages_[filled_];
    add(page.events, event);
    page.earliest = std::min(page.earliest, event.at);
  }
  void send(const Call& call) {
    Page& page = pages_[filled_];
    add(page.calls, call);
    page.earliest = std::min(page.earliest, call.at);
  }

  // The receiver, and who turns pages.

  /// Something was sent since the page was turned.
  bool fills() const { return !pages_[filled_].empty(); }
  /// What was sent before the page was turned.
  Page& sent() { return pages_[1 - filled_]; }
  const Page& sent() const { return pages_[1 - filled_]; }
  /// What was sent since the last time is to be taken now; all that was sent before has been.
  void turn_page() { filled_ = 1 - filled_; }

 private:
  // The receiver has read these lines: each has to be fetched back, and all later stores of the sender wait
  // for it.
  template <class Entry>
  static void add(std::vector<Entry>& entries, const Entry& entry) {
    entries.push_back(entry);
    prefetch_owned(&entries.back(), kAhead);
  }

  const Kernel* to_;
  std::size_t filled_ = 0;
  std::array<Page, 2> pages_;
};

}  // namespace cxloom
