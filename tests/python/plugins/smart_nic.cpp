// A device outside the tree of several agents: one makes requests, one makes packets of CXL.io, and one,
// which plays no role that the results know, measures something of its own.
#include <cxloom/io.hpp>
#include <cxloom/requester.hpp>

namespace {

using namespace cxloom;

const MeasureInfo kPackets{"packets", "", "configuration reads that were answered in the window"};
const MeasureInfo kUptime{"uptime_ns", "ns", "length of the window"};

struct NicParams : RequesterParams {
  std::string target;

  static void describe(Schema<NicParams>& schema) {
    schema.doc("A host with an agent for CXL.io and one that measures.");
    RequesterParams::describe_in(schema);
    schema.field("target", &NicParams::target).required().doc("Of its CXL.io.");
  }
};

/// Reads registers of its target, one after the other.
class Reader final : public Agent, public IoInitiator {
 public:
  Reader(const NicParams& params, Endpoint& endpoint) : Agent(endpoint), target_(params.target) {
    endpoint.add(*this);
    endpoint.bind(channel_of(Opcode::kCplD), *this);
    endpoint.system_context().roles.declare<IoInitiator>(endpoint, endpoint.id(), *this);
    done_.measure_in(endpoint.kernel());
  }

  const std::string& target() const override { return target_; }
  void aim(NodeId target, const IoRecord& /*arrived*/) override { destination_ = target; }
  void cease() override { ceased_ = true; }
  std::uint64_t outstanding() const override { return sent_ - done_.ended().level(); }
  const LatencyDistribution& latency() const override { return done_.latency(); }
  SegmentSums::Sums segment_sums_ps() const override { return done_.segment_sums_ps(); }
  void report_io(MeasureSink& sink) const override { sink.count(kPackets, latency().count()); }

  void start() override { send(); }
  void receive(Message& message) override {
    endpoint().release(message, endpoint().now());
    done_.add(packet_.account, packet_.created(), endpoint().now());
    if (!ceased_) send();
  }

 private:
  void send() {
    const Time now = endpoint().now();
    packet_ = {};
    packet_.begin(endpoint().id(), now);
    packet_.target = destination_;
    Message& message = packet_.message;
    message.opcode = Opcode::kCfgRd;
    message.channel = channel_of(message.opcode);
    message.size = 4;
    message.account = &packet_.account;
    message.age = now;
    message.requester = message.source = endpoint().id();
    message.destination = destination_;
    ++sent_;
    transmit(message, now);
  }

  std::string target_;
  NodeId destination_;
  Request packet_;
  std::uint64_t sent_ = 0;
  bool ceased_ = false;
  IoRecord done_;
};

/// Measures something that is no business of a role.
class Clock final : public Agent {
 public:
  explicit Clock(Endpoint& endpoint) : Agent(endpoint) { endpoint.add(*this); }
  void open_window(Time now) override { opened_ = now; }
  void close_window(Time now) override { closed_ = now; }
  void report(MeasureSink& sink) const override { sink.add(kUptime, (closed_ - opened_).ns()); }

 private:
  Time opened_;
  Time closed_;
};

class SmartNic final : public Endpoint {
 public:
  using Params = NicParams;
  SmartNic(const NicParams& params, const DeviceContext& context)
      : Endpoint(context, context.system_context),
        sequencer_(params, *this, context),
        reader_(params, *this),
        clock_(*this) {
    system_context().set_root(id());
  }

  std::size_t max_ports() const override { return 0; }
  static std::vector<MeasureInfo> measures() {
    return joined(RequesterPart::measures(), {kPackets, kUptime});
  }

 private:
  RequesterPart sequencer_;
  Reader reader_;
  Clock clock_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.devices.add<SmartNic>("smart-nic"); }
