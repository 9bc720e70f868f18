// A switch that holds data: it keeps the lines that are written through it, and answers reads of them for
// their memory.
#include <cxloom/switch.hpp>
#include <unordered_set>

namespace {

using namespace cxloom;

struct HoldingSwitchParams : SwitchParams {
  std::uint32_t lines = 1024;

  static void describe(Schema<HoldingSwitchParams>& schema) {
    schema.doc("A switch that keeps lines written through it.");
    describe_in(schema);
    schema.field("lines", &HoldingSwitchParams::lines).doc("Lines that it keeps; it takes no more then.");
  }
};

constexpr MeasureInfo kAnswered{"answered", "", "reads that the switch answered in the window"};

class HoldingSwitch final : public SwitchingDevice {
 public:
  using Params = HoldingSwitchParams;
  HoldingSwitch(const HoldingSwitchParams& params, const DeviceContext& context)
      : SwitchingDevice(params, context), lines_(params.lines) {}

  void receive(Message& message) override {
    message.charge(Segment::kSwitching, now());
    const std::uint64_t line = message.address.value() / kLineBytes;
    if (message.opcode == Opcode::kMemWr && held_.size() < lines_) held_.insert(line);
    if (message.opcode != Opcode::kMemRd || !held_.contains(line)) {
      forward(message);
      return;
    }
    ++answered_;
    port(message.port).release(message, now());
    message.opcode = Opcode::kMemData;
    message.channel = channel_of(message.opcode);
    message.destination = message.source;
    message.source = id();  // who answered
    send_own(message);
  }

  void open_window(Time at) override {
    SwitchingDevice::open_window(at);
    answered_ = 0;
  }
  void close_window(Time at) override {
    SwitchingDevice::close_window(at);
    answered_in_window_ = answered_;
  }
  void report(MeasureSink& sink) const override {
    SwitchingDevice::report(sink);
    sink.count(kAnswered, answered_in_window_);
  }
  static std::vector<MeasureInfo> measures() { return joined(SwitchingDevice::measures(), {kAnswered}); }

 private:
  std::uint32_t lines_;
  std::unordered_set<std::uint64_t> held_;
  std::uint64_t answered_ = 0;
  std::uint64_t answered_in_window_ = 0;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.devices.add<HoldingSwitch>("holding-switch"); }
