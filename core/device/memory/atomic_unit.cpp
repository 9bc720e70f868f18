#include "device/memory/atomic_unit.hpp"

#include <algorithm>
#include <utility>

#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"
#include "memory/media/media.hpp"

namespace cxloom {

void AtomicUnit::wait_for(std::uint32_t accesses, Time until) {
  others_ = accesses;
  others_end_ = until;
  wait_for_others();
}

void AtomicUnit::wait_for_others() {
  if (others_ > 0) return;
  if (others_end_ <= kernel_.now()) {
    others_ended();
  } else {
    kernel_.schedule(others_end_, source_, *this, kAlone, 0);
  }
}

void AtomicUnit::others_ended() {
  alone_ = true;
  for (Line* const line : std::exchange(held_, {})) go_on(*line);
}

void AtomicUnit::access(Message& message, Address address, Time ready) {
  LineAccess& access = accesses_.take();
  access.message = &message;
  access.address = address;
  kernel_.schedule(ready, source_, *this, kReady, payload_of(access));
}

bool AtomicUnit::media_done(Message& message, Time at) {
  if (std::exchange(told_, nullptr) == &message) return false;
  LineAccess* const access = accesses_.find(message.tag);
  if (!access || &access->own != &message) {
    --others_;
    others_end_ = std::max(others_end_, at);
    wait_for_others();
    return false;
  }
  kernel_.schedule(at, source_, *this, kDone, payload_of(*access));
  return true;
}

void AtomicUnit::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kAlone) return others_ended();
  LineAccess& access = object_of<LineAccess>(payload);
  switch (kind) {
    case kReady: return arrive(access);
    case kDone: return done(access);
    default: access.own.opcode = Opcode::kMemWr; media_.access(access.own, access.address, kernel_.now());
  }
}

// An operation waits for what is in the media of its line, because media may take accesses in another order.
void AtomicUnit::arrive(LineAccess& access) {
  const LineAddress address = LineAddress::of(access.address);
  Line* line = table_.find(address);
  if (!line) {
    line = &lines_.take();
    line->address = address;
    table_.add(address, *line);
  }
  if (line->operates || !line->waiting.empty() || must_wait(*line, access)) {
    if (!alone_ && line->waiting.empty()) held_.push_back(line);
    line->waiting.push(access);
  } else {
    begin(*line, access);
  }
}

void AtomicUnit::begin(Line& line, LineAccess& access) {
  const Message& message = *access.message;
  ++line.in_media;
  line.operates = access.atomic();
  Message& own = access.own;
  own.account = message.account;
  own.address = message.address;
  own.opcode = access.atomic() ? Opcode::kMemRd : message.opcode;
  own.channel = channel_of(own.opcode);
  own.source = message.source;
  own.destination = message.destination;
  own.requester = message.requester;
  own.age = message.age;
  own.size = message.size;
  own.tag = access.index;
  own.charge(Segment::kMediaQueue, kernel_.now());
  media_.access(own, access.address, kernel_.now());
}

void AtomicUnit::done(LineAccess& access) {
  const Time now = kernel_.now();
  if (access.atomic() && access.own.opcode == Opcode::kMemRd) {
    access.own.charge(Segment::kController, now + atomic_time_);
    kernel_.schedule(now + atomic_time_, source_, *this, kOperated, payload_of(access));
    return;
  }
  Line& line = *table_.find(LineAddress::of(access.address));
  --line.in_media;
  line.operates = false;
  Message& message = *access.message;
  accesses_.give_back(access);
  told_ = &message;
  controller_.media_done(message, now);
  go_on(line);
}

void AtomicUnit::go_on(Line& line) {
  while (!line.waiting.empty() && !line.operates) {
    if (must_wait(line, line.waiting.front())) return;
    begin(line, line.waiting.pop());
  }
  if (line.in_media > 0) return;
  table_.remove(line.address);
  lines_.give_back(line);
}

}  // namespace cxloom
