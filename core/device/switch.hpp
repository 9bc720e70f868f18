// A switch: any number of ports, a switching time, queues and arbitration.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/schema.hpp"
#include "device/device_context.hpp"
#include "device/pair_table.hpp"
#include "interconnect/link_end.hpp"
#include "interconnect/virtual_channels.hpp"

namespace cxloom {

enum class Queueing : std::uint8_t {
  kOutput,         ///< a queue at each output, without limit: ideal output queueing
  kVirtualOutput,  ///< at each input a queue an output and class
  kFifo,           ///< at each input a queue a class: its head blocks what is behind it
};

enum class Forwarding : std::uint8_t { kCutThrough, kStoreAndForward };

struct SwitchParams {
  Bandwidth port_bandwidth;
  Time port_delay{25'000};
  Time switching_time{20'000};
  Forwarding forwarding = Forwarding::kCutThrough;
  Queueing queueing = Queueing::kOutput;
  Arbitration arbitration = Arbitration::kRoundRobin;

  static void describe(Schema<SwitchParams>& schema);
};

class Switch final : public Component {
 public:
  using Params = SwitchParams;
  Switch(const SwitchParams& params, const DeviceContext& context);
  ~Switch() override;

  bool forwards() const override { return true; }
  bool is_switch() const override { return true; }
  bool arbitrates() const override { return arbitrates_; }
  Arbitration arbitration() const override { return params_.arbitration; }
  bool takes_heads() const override { return params_.forwarding == Forwarding::kCutThrough; }
  Time pipeline() const override { return params_.switching_time; }
  Time transit_time() const override { return params_.switching_time; }
  Time port_delay() const override { return params_.port_delay; }
  Bandwidth port_bandwidth() const override { return params_.port_bandwidth; }
  std::size_t max_ports() const override { return 0; }

  void start() override;
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void open_window(Time at) override { opened_ = at; }
  void close_window(Time at) override { closed_ = at; }
  void report(MeasureSink& sink) const override;
  static std::vector<MeasureInfo> measures();

 private:
  class InputQueue;

  std::uint16_t output_of(const Message& message);
  InputQueue& queue_of(const Message& message, std::uint16_t output);

  std::vector<Port*> ways_;  // without queues: by destination, its fixed port or null
  bool arbitrates_;
  bool releases_ = false;  // some link into it counts credits
  Fabric& fabric_;
  std::vector<std::uint16_t> fixed_ports_;  // by destination, or Router::kVaries
  SwitchParams params_;
  std::vector<LinkEnd*> ends_;             // the ports
  std::vector<VirtualChannels*> outputs_;  // theirs, if this switch arbitrates
  Time opened_;
  Time closed_;
  PairTable<InputQueue> queues_;  // by input (and output) and class, those in use
  std::vector<std::unique_ptr<InputQueue>> all_queues_;
};

}  // namespace cxloom
