// Policies that choose what there is not.
#include <cxloom/arbitration.hpp>
#include <cxloom/dram.hpp>
#include <cxloom/routing.hpp>
#include <cxloom/victim.hpp>

namespace {

using namespace cxloom;

struct AstrayParams {
  static void describe(Schema<AstrayParams>& schema) { schema.doc("Chooses what there is not."); }
};

class AstrayVictim final : public VictimPolicy {
 public:
  using Params = AstrayParams;
  AstrayVictim(const AstrayParams& /*params*/, const VictimContext& /*context*/) {}
  Slot victim(std::uint32_t /*set*/, const SlotOrder& /*order*/, const SlotPins& /*pins*/) override {
    return 1'000'000;
  }
};

class AstrayRouting final : public RoutingStrategy {
 public:
  using Params = AstrayParams;
  AstrayRouting(const AstrayParams& /*params*/, const RoutingContext& /*context*/) {}
  std::size_t choose(const Message& /*message*/, const Junction& here) override { return here.ways(); }
};

class AstrayArbiter final : public Arbiter {
 public:
  using Params = AstrayParams;
  AstrayArbiter(const AstrayParams& /*params*/, const ArbitrationContext& /*context*/) {}
  std::size_t choose(const Contenders& /*waiting*/, Time /*now*/) override { return 1'000'000; }
};

class AstrayRefresh final : public DramRefreshPolicy {
 public:
  using Params = AstrayParams;
  AstrayRefresh(const AstrayParams& /*params*/, const DramRefreshContext& context)
      : interval_(context.device.timing.tREFI_SB) {}
  DramRefreshScope scope() const override { return DramRefreshScope::kSet; }
  Clock interval() const override { return interval_; }
  std::uint32_t next_set(std::uint32_t /*rank*/, std::span<const std::uint32_t> /*left*/) override {
    return 1'000'000;
  }

 private:
  Clock interval_;
};

}  // namespace

CXLOOM_PLUGIN(registry) {
  registry.victims.add<AstrayVictim>("astray-victim");
  registry.routing.add<AstrayRouting>("astray-routing");
  registry.arbitration.add<AstrayArbiter>("astray-arbitration");
  registry.media.refresh_policies.add<AstrayRefresh>("astray-refresh");
}
