// A bus: a shared medium between an upstream side and many endpoints. Requests use its downstream direction,
// responses its upstream direction; CXL.io goes by where it leads.
#pragma once

#include <array>

#include "base/measure.hpp"
#include "base/parameters.hpp"
#include "component/wire_monitor.hpp"
#include "device/context/context.hpp"
#include "interconnect/wire/link_params.hpp"
#include "interconnect/wire/shared_medium.hpp"
#include "interconnect/wire/wire.hpp"
#include "kernel/measured_window.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

struct BusParams {
  Bandwidth bandwidth;
  Time bus_time{1'000};
  Duplex duplex = Duplex::kFull;
  Time turnaround;
  Bytes header{16};
  Bytes data_header{16};
  Time port_delay;

  static void describe(Schema<BusParams>& schema);
};

class Bus final : public Component, public SharedMedium {
 public:
  using Params = BusParams;
  Bus(const BusParams& params, const DeviceContext& context);

  bool forwards() const override { return true; }
  bool takes_heads() const override { return true; }
  Time transit_time() const override { return bus_time_; }
  Time line_time() const override { return RateMeter(wires_[0].rate()).advance(message_bytes(kLineBytes)); }
  Time port_delay() const override { return port_delay_; }
  std::size_t max_ports() const override { return 0; }

  bool unlimited() const override { return wires_[0].unlimited(); }
  WireMonitor& monitor(Direction direction) override { return monitors_[direction]; }
  WireMonitor* turns() override { return shared_ ? &turns_ : nullptr; }

  void start() override;
  bool reroutes() const override { return true; }
  void routes_changed(bool failed) override;
  void take_back(Message& message) override;
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void settle() override;
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();

 private:
  [[gnu::always_inline]] inline void pass(Message& message, Direction direction, Time ready);
  std::uint64_t message_bytes(std::uint64_t payload) const { return payload + headers_[payload > 0]; }
  void leave(Message& message, Time ready);
  void arrange();
  /// Directions share the medium, which takes time to turn.
  bool takes_turns() const { return wires_[0].turnaround() > Time{}; }

  SystemContext& system_context_;
  Time bus_time_;
  Time port_delay_;
  std::array<std::uint64_t, 2> headers_;  // bytes, as in MessageCost: without and with data
  bool returns_credits_ = false;          // by some port
  bool shared_;                           // half duplex: both directions use the first wire, in turns
  std::array<MessageQueue, 2> waiting_;   // for their turn on a shared medium, by direction
  bool arranged_ = false;                 // something will look after those who wait
  std::array<Wire, 2> wires_;
  std::array<Wire*, 2> media_;  // of each direction
  std::array<WireMonitor, 2> monitors_;
  WireMonitor turns_;
  std::vector<Port*> ways_;  // by destination; null: it depends on more
};

}  // namespace cxloom
