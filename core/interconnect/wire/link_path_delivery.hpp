// The deliveries of a link path to its far end: for the sources in which links act.
#pragma once

#include "interconnect/wire/link_path.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

[[gnu::always_inline]] inline void LinkPath::deliver(Message& message, Time at) {
  if (cut()) [[unlikely]]
    kernel_.send(far_kernel_, at, source_, receiver_, Event::kArrival, payload_of(message));
  else far_kernel_.deliver(at, source_, receiver_, message);
}

inline void LinkPath::wake_far(EventHandler& handler, Time at, std::uint8_t kind, std::uint64_t payload) {
  if (cut()) [[unlikely]]
    kernel_.send(far_kernel_, at, source_, handler, kind, payload);
  else far_kernel_.schedule(at, source_, handler, kind, payload);
}

inline void LinkPath::hand_over(Message& message, Time sent) {
  deliver(message, account_arrival(message, sent));
}

}  // namespace cxloom
