// Paces the requests of a device to each memory by what the memory says of its load (DevLoad), after the
// reference model of the specification: the highest load of a window moves the rate up or down.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "component/throttle_params.hpp"
#include "kernel/distribution.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "kernel/measured_window.hpp"
#include "protocol/message.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class Agent;
class Kernel;

class RequestThrottle final : public EventHandler {
 public:
  /// `sender`: the agent that sends requests to memory: a cache, or a requester without one.
  RequestThrottle(const ThrottleParams& params, Kernel& kernel, Agent& sender);
  ~RequestThrottle() override;

  std::string name() const override;
  /// Everything is connected.
  void start();
  /// Sends a request of CXL.mem to another device, ready at `ready`, when its turn comes.
  void send(Message& message, Time ready);
  /// An answer of CXL.mem has come.
  void observe(const Message& answer);
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  void open(Time at);
  void close(Time at);
  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

 private:
  enum Wake : std::uint8_t { kReady, kTurn };
  /// The requests to one memory.
  struct MemoryThrottle;

  MemoryThrottle& throttle_of(NodeId memory);
  void enter(Message& message);
  void issue(MemoryThrottle& throttle);
  void adapt(MemoryThrottle& throttle, Time now);
  void set_level(MemoryThrottle& throttle, std::uint32_t level, Time now);
  double rate_of(double level) const;
  Value by_memory() const;

  Kernel& kernel_;
  EventSource source_;
  Agent& sender_;
  Rate rate_;
  Time window_;
  std::uint32_t normal_;
  std::uint32_t severe_;
  std::uint32_t least_;
  std::vector<std::unique_ptr<MemoryThrottle>> throttles_;  // by node
  MeasuredWindow measured_;
};

}  // namespace cxloom
