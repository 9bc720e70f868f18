#include "memory/external/media.hpp"

#include <string>

#include "base/error.hpp"
#include "kernel/kernel.hpp"
#include "kernel/latest_time.hpp"
#include "protocol/message.hpp"

namespace cxloom {

ExternalMedia::ExternalMedia(OutsideMedium& outside, Kernel& kernel, MediaClient& client)
    : outside_(outside), kernel_(kernel), client_(client), source_(kernel.new_source()) {}

void ExternalMedia::access(Message& message, Address address, Time ready) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(places_.size()));
    places_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Place& place = places_[number];
  place.message = &message;
  place.address = address;
  place.state = State::kComing;
  ++place.life;  // so that no number is zero
  kernel_.schedule(ready, source_, *this, kReady, number);
}

void ExternalMedia::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kReady) {
    hand_out(payload);
  } else {
    end(payload);
  }
}

// The outside may say its end at once.
void ExternalMedia::hand_out(std::uint64_t place) {
  Place& ready = places_[place];
  ready.state = State::kOutside;
  ready.message->charge(Segment::kMediaQueue, kernel_.now());
  ++handed_out_;
  const Message& message = *ready.message;
  const Address address = ready.address;
  outside_.begin(std::uint64_t{ready.life} << kLifeShift | place, message, address);
}

void ExternalMedia::done(std::uint64_t number, Time at) {
  const std::uint64_t place = number & ((std::uint64_t{1} << kLifeShift) - 1);
  const bool known = place < places_.size() && places_[place].life == number >> kLifeShift;
  if (!known || places_[place].state != State::kOutside) {
    throw InputError({"no access of that number is in the medium outside",
                      std::to_string(number),
                      "the number of an access that was handed out and is not done",
                      {}});
  }
  const Time now = kernel_.now();
  if (at != Time{} && at < now) {
    throw InputError({"an access to a medium that was done before now",
                      to_text(at),
                      "0, or " + to_text(now) + " or later",
                      {}});
  }
  if (at > kLatest) {
    throw InputError(
        {"an access to a medium that is done too late", to_text(at), "at most " + to_text(kLatest), {}});
  }
  --handed_out_;
  places_[place].state = State::kEnding;
  if (at > now) {
    kernel_.schedule(at, source_, *this, kDone, place);
  } else {
    end(place);
  }
}

void ExternalMedia::end(std::uint64_t place) {
  Place& ended = places_[place];
  Message& message = *ended.message;
  ended.state = State::kFree;
  free_.push_back(static_cast<std::uint32_t>(place));
  message.charge(Segment::kMedia, kernel_.now());
  client_.media_done(message, kernel_.now());
}

}  // namespace cxloom
