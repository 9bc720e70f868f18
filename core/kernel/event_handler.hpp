// A handler of events.
#pragma once

#include <cstdint>
#include <string>

namespace cxloom {

struct Message;

class EventHandler {
 public:
  EventHandler() = default;
  EventHandler(const EventHandler&) = delete;
  EventHandler& operator=(const EventHandler&) = delete;
  virtual ~EventHandler() = default;

  /// How the user calls it, for the diagnosis of a run that cannot finish.
  virtual std::string name() const { return {}; }

  /// A message has come in. What "in" means (its head, its last byte, after a pipeline) was agreed with the
  /// link.
  virtual void receive(Message& message);
  /// A time it asked for has come; `kind` and `payload` are its own, as it scheduled them.
  virtual void wake(std::uint8_t kind, std::uint64_t payload);
  /// An event of it comes soon, the kind of which is `Event::kArrival` for a message: a hint to fetch what
  /// the event will touch. It changes nothing, and is given where events crowd an instant.
  virtual void foresee(std::uint8_t /*kind*/, std::uint64_t /*payload*/) const {}
  /// A hint before `settle`: first early, then once more, when what was asked for first is there.
  virtual void foresee_settle(bool /*early*/) const {}
  /// The end of an instant for which it asked: everything that happens at this time is known.
  virtual void settle();
};

/// An object as the payload of an event, and back.
template <class T>
std::uint64_t payload_of(T& object) {
  return reinterpret_cast<std::uintptr_t>(&object);
}
template <class T>
T& object_of(std::uint64_t payload) {
  return *reinterpret_cast<T*>(payload);
}

}  // namespace cxloom
