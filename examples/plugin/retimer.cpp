// A component outside the tree: a retimer, which passes every message on after a fixed time.
//
//   g++ -std=c++20 -O2 -shared -fPIC -I "$(python -c 'import cxloom; print(cxloom.include_dir())')" \
//       retimer.cpp -o libretimer.so
//   cxloom run retimer.yaml --plugin ./libretimer.so
#include <cxloom/device.hpp>

namespace {

using namespace cxloom;

struct RetimerParams {
  Time delay{10'000};

  static void describe(Schema<RetimerParams>& schema) {
    schema.doc("Regenerates the signal between two ports.");
    schema.field("delay", &RetimerParams::delay).doc("Time from one port to the other.");
  }
};

class Retimer final : public Component {
 public:
  using Params = RetimerParams;
  Retimer(const RetimerParams& params, const DeviceContext& context)
      : Component(context), delay_(params.delay) {}

  bool forwards() const override { return true; }
  bool takes_heads() const override { return true; }
  Time pipeline() const override { return delay_; }
  Time transit_time() const override { return delay_; }
  std::size_t max_ports() const override { return 2; }

  void receive(Message& message) override {
    message.charge(Segment::kSwitching, now());
    const std::size_t out = 1U - message.port;
    port(message.port).release(message, now());
    port(out).send(message, now());
  }

 private:
  Time delay_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.devices.add<Retimer>("retimer"); }
