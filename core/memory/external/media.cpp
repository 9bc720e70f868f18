#include "memory/external/media.hpp"

#include <string>

#include "base/error.hpp"
#include "kernel/kernel.hpp"
#include "protocol/message.hpp"

namespace cxloom {

ExternalMedia::ExternalMedia(OutsideMedium& outside, Kernel& kernel, MediaClient& client)
    : outside_(outside), kernel_(kernel), client_(client), source_(kernel.new_source()) {}

void ExternalMedia::access(Message& message, Address address, Time ready) {
  const std::uint64_t number = accesses_.add({.message = &message, .address = address});
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
void ExternalMedia::hand_out(std::uint64_t number) {
  OutsideAccess& access = *accesses_.find(number);
  access.state = State::kOutside;
  access.message->charge(Segment::kMediaQueue, kernel_.now());
  ++handed_out_;
  const Message& message = *access.message;
  const Address address = access.address;
  outside_.begin(number, message, address);
}

void ExternalMedia::done(std::uint64_t number, Time at) {
  OutsideAccess* const access = accesses_.find(number);
  if (!access || access->state != State::kOutside) {
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
  access->state = State::kEnding;
  if (at > now) {
    kernel_.schedule(at, source_, *this, kDone, number);
  } else {
    end(number);
  }
}

void ExternalMedia::end(std::uint64_t number) {
  Message& message = *accesses_.remove(number).message;
  message.charge(Segment::kMedia, kernel_.now());
  client_.media_done(message, kernel_.now());
}

}  // namespace cxloom
