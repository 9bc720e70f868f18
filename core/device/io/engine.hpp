// An I/O engine: makes CXL.io traffic in the background of the workload, so that its interference can be
// studied.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "component/io_record.hpp"
#include "component/io_roles.hpp"
#include "device/context/context.hpp"
#include "device/io/completer.hpp"
#include "interconnect/channel/virtual_channels.hpp"
#include "interconnect/link/end.hpp"
#include "kernel/distribution.hpp"
#include "kernel/exact_level.hpp"
#include "protocol/segment_sums.hpp"

namespace cxloom {

enum class IoTraffic : std::uint8_t {
  kDmaWrite,    ///< posted memory writes of `size` bytes
  kDmaRead,     ///< memory reads, completed with `size` bytes
  kConfigRead,  ///< configuration reads of a register of 4 bytes, as a host's root complex makes them
};

struct IoEngineParams {
  std::string target;
  IoTraffic traffic = IoTraffic::kDmaWrite;
  Bandwidth rate;
  std::optional<Bytes> size;
  std::optional<std::uint32_t> outstanding;
  Time start;
  std::optional<Time> stop;

  static void describe(Schema<IoEngineParams>& schema);
  static void estimate(const IoEngineParams& /*params*/, MemoryEstimate& memory) { memory.queue_at_ports(); }
};

/// Hands packets to its link one at a time, each when it is due and the one before has left: what the wire
/// cannot take is never made, so that an engine faster than its wire costs no memory.
class IoEngine final : public Component, public IoInitiator, private IoLosses, private Feeder {
 public:
  using Params = IoEngineParams;
  IoEngine(const IoEngineParams& params, const DeviceContext& context);

  const std::string& target() const override { return params_.target; }
  void aim(NodeId target, const IoRecord& arrived) override {
    destination_ = target;
    arrived_ = &arrived;
  }
  void cease() override { ceased_ = true; }
  EventHandler* credits() override { return posts() ? this : nullptr; }
  std::optional<IoData> data() const override { return posts() ? IoData::kOut : IoData::kBack; }
  IoLosses* losses() override { return this; }
  std::uint64_t outstanding() const override {
    return sent_.level() - ended().ended().level() - lost_.level();
  }

  bool arbitrates() const override { return true; }
  void start() override;
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  /// While its link is closed it makes no packets, and those that it has not sent are lost.
  bool reroutes() const override { return true; }
  void take_back(Message& message) override;
  void link_repaired() override { offer(); }
  void report_io(MeasureSink& sink) const override;
  std::string activity() const override;
  static std::vector<MeasureInfo> measures();

  const LatencyDistribution& latency() const override { return ended().latency(); }
  SegmentSums::Sums segment_sums_ps() const override { return ended().segment_sums_ps(); }

 private:
  enum Wake : std::uint8_t { kDue, kCreditBack = kCredited };

  const EventHandler& owner() const override { return *this; }
  Message& head() const override { return *offered_; }
  void taken(Time end) override;
  void turn_back() override;
  Time hears_of_loss(const Message& message, Time now) override;
  void lose(Message& message) override;
  // It makes what a root complex makes: answers to it go upstream.
  bool is_root() const { return params_.traffic == IoTraffic::kConfigRead; }
  bool posts() const { return params_.traffic == IoTraffic::kDmaWrite; }
  /// For posted writes the target's record, which is not for use while the simulation runs.
  const IoRecord& ended() const { return posts() ? *arrived_ : completed_; }
  void offer();

  IoEngineParams params_;
  std::uint16_t size_;
  std::uint32_t most_;  // reads without a completion, or posted writes without a credit, at the same time
  std::uint32_t posted_ = 0;  // posted writes among them
  RateMeter pace_;
  NodeId destination_;
  VirtualChannels* wire_ = nullptr;
  Pool<Request> reads_;
  Message* offered_ = nullptr;     // to the wire, which has not taken it yet
  Time due_;                       // the next packet, not before
  SystemContext& system_context_;  // has the posted writes, which their target gives back
  bool wake_pending_ = false;
  bool ceased_ = false;

  // Measuring.
  ExactLevel sent_;  // so far
  ExactLevel lost_;
  IoRecord completed_;                 // reads
  const IoRecord* arrived_ = nullptr;  // posted writes
};

}  // namespace cxloom
