// An agent: one function of a device, such as a sequencer, a cache or a memory controller. Its endpoint hands
// it the messages of the classes that it takes, and sends for it.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.hpp"
#include "kernel/event_handler.hpp"

namespace cxloom {

class Endpoint;
class MeasureSink;
class ResourceSink;
struct Message;

class Agent : public EventHandler {
 public:
  explicit Agent(Endpoint& endpoint) : endpoint_(endpoint) {}

  /// The name of its device.
  std::string name() const final;
  Endpoint& endpoint() { return endpoint_; }
  const Endpoint& endpoint() const { return endpoint_; }
  /// Sends a message that is ready at `ready`, now or later. Only for agents that the device knows as
  /// senders.
  void transmit(Message& message, Time ready);

  // As those of a component (component.hpp).

  virtual void start() {}
  virtual void open_window(Time /*now*/) {}
  virtual void close_window(Time /*now*/) {}
  /// Gives its measures by name, those aside that a role of its gives (roles.hpp).
  virtual void report(MeasureSink& /*sink*/) const {}
  virtual void resources(ResourceSink& /*sink*/) const {}
  virtual std::string activity() const { return {}; }

  // For whoever watches the protocol (protocol_observer.hpp).

  /// What it knows of a line, for people: the state, and what is under way. Empty: it keeps nothing of lines.
  virtual std::string line_state(LineAddress /*line*/) const { return {}; }
  /// It acts on a message some time after it has got it, and says itself when (`ObservedScope`). Otherwise
  /// the device says so.
  virtual bool acts_later() const { return false; }

 private:
  friend class Endpoint;

  Endpoint& endpoint_;
  bool sends_ = false;
};

}  // namespace cxloom
