// A memory outside the tree that keeps its lines packed: an agent between the controller and the port unpacks
// what is read, so many lines at a time.
#include <cxloom/memory.hpp>

#include <deque>

namespace {

using namespace cxloom;

struct PackedParams : MemoryControllerParams {
  std::uint32_t engines = 2;
  Time unpack{20'000};

  static void describe(Schema<PackedParams>& schema) {
    schema.doc("A memory that keeps lines compressed.");
    MemoryControllerParams::describe_in(schema);
    schema.field("engines", &PackedParams::engines).min(1).max(1024).doc("Lines that it unpacks at a time.");
    schema.field("unpack", &PackedParams::unpack).doc("Time to unpack a line.");
  }
};

struct EngineCounts {
  std::uint64_t unpacked = 0;
};
struct EngineMeasured : EngineCounts {
  double busy_mean = 0;
};
constexpr std::array kMeasures{
    measure<EngineMeasured, &EngineMeasured::unpacked>("unpacked", "",
                                                       "lines that were unpacked in the window"),
    measure<&EngineMeasured::busy_mean>("engines_mean", "", "engines at work, mean over time"),
};

/// Takes the answers of the memory, and sends them on.
class Engines final : public Agent, public MemoryFront {
 public:
  Engines(const PackedParams& params, Endpoint& endpoint)
      : Agent(endpoint),
        source_(endpoint.kernel().new_source()),
        engines_(params.engines),
        unpack_(params.unpack) {
    endpoint.add(*this);
    endpoint.add_sender(*this);
    endpoint.kernel().measure(level_);
  }
  // Lines that were read are unpacked; answers to writes have none.
  void memory_answered(Message& message) override {
    if (message.opcode != Opcode::kMemData) return transmit(message, endpoint().now());
    if (busy_ == engines_) {
      waiting_.push_back(&message);
      return;
    }
    begin(message);
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t payload) override {
    Message& message = *reinterpret_cast<Message*>(payload);
    --busy_;
    level_.change(endpoint().now(), -1);
    ++counts_->unpacked;
    transmit(message, endpoint().now());
    if (!waiting_.empty()) {
      Message& next = *waiting_.front();
      waiting_.pop_front();
      begin(next);
    }
  }
  void report(MeasureSink& sink) const override {
    EngineMeasured measured{counts_.window()};
    measured.busy_mean = level_.mean();
    report_all(kMeasures, measured, sink);
  }
  void resources(ResourceSink& sink) const override {
    sink.add({.name = "the engines of",
              .stage = Stage::kMedia,
              .capacity = engines_,
              .occupancy = Occupancy::kLevel,
              .measures = {"per_device.*.engines_mean"},
              .wait = Segment::kMediaQueue,
              .counts = Traffic::kReads,
              .twice = {doubled("engines", engines_)},
              .twice_text = "twice the engines"});
  }
  static std::vector<MeasureInfo> measures() { return infos_of(kMeasures); }

 private:
  void begin(Message& message) {
    const Time now = endpoint().now();
    ++busy_;
    level_.change(now, +1);
    message.charge(Segment::kMediaQueue, now);
    message.charge(Segment::kMedia, now + unpack_);
    endpoint().kernel().schedule(now + unpack_, source_, *this, 0,
                                 reinterpret_cast<std::uintptr_t>(&message));
  }

  EventSource source_;
  std::uint32_t engines_;
  Time unpack_;
  std::uint32_t busy_ = 0;
  std::deque<Message*> waiting_;
  LevelMonitor level_;
  Windowed<EngineCounts> counts_{endpoint().kernel()};
};

class PackedMemory final : public Endpoint {
 public:
  using Params = PackedParams;
  PackedMemory(const PackedParams& params, const DeviceContext& context)
      : Endpoint(context, context.system_context),
        controller_(params, *this, context),
        engines_(params, *this) {
    controller_.put_behind(engines_);
  }
  std::size_t max_ports() const override { return 1; }
  static std::vector<MeasureInfo> measures() { return joined(MemoryPart::measures(), Engines::measures()); }

 private:
  MemoryPart controller_;
  Engines engines_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.devices.add<PackedMemory>("packed-memory"); }
