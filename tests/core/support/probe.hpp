// A component that does what a test tells it: logs what comes in, sends what it is given, holds buffers as
// long as told.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "component/component.hpp"
#include "protocol/message.hpp"

namespace cxloom::test {

class Probe final : public Component {
 public:
  struct Arrival {
    Time time;
    const Message* message;
    Time tail;
  };
  struct Wake {
    Time time;
    std::uint8_t kind;
    std::uint64_t payload;
  };

  Probe(Kernel& kernel, std::string name, std::uint32_t id = 0)
      : Component(ComponentContext{kernel, std::move(name), NodeId{id}, 1}) {}

  // What it is like; set before it is linked.
  Probe& cut_through() { return heads_ = true, *this; }
  Probe& with_pipeline(Time time) { return pipeline_ = time, *this; }
  /// It frees the buffer of a message this long after the message came in.
  Probe& holds(Time time) { return hold_ = time, *this; }
  /// It never frees a buffer.
  Probe& hoards() { return hoards_ = true, *this; }

  bool takes_heads() const override { return heads_; }
  Time pipeline() const override { return pipeline_; }
  std::size_t max_ports() const override { return 0; }

  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  using Component::port;

  std::vector<Arrival> arrivals;
  std::vector<Wake> wakes;

 private:
  bool heads_ = false;
  bool hoards_ = false;
  Time pipeline_;
  Time hold_;
};

/// Calls a function at each wake-up: for tests that act inside the simulation.
class Actor final : public EventHandler {
 public:
  using OnWake = std::function<void(std::uint8_t kind, std::uint64_t payload)>;
  explicit Actor(OnWake on_wake) : on_wake_(std::move(on_wake)) {}
  void wake(std::uint8_t kind, std::uint64_t payload) override { on_wake_(kind, payload); }

 private:
  OnWake on_wake_;
};

}  // namespace cxloom::test
