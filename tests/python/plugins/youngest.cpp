// A DRAM scheduler outside the tree: the youngest access of each bank goes first.
#include <cxloom/dram.hpp>

namespace {

using namespace cxloom;

class Youngest final : public DramScheduler {
 public:
  struct Params {
    Time patience{1'000'000};

    static void describe(Schema<Params>& schema) {
      schema.doc("The youngest access of each bank goes first.");
      schema.field("patience", &Params::patience).doc("So long the oldest waits while others go before it.");
    }
  };
  Youngest(const Params& params, const DramSchedulerContext& context)
      : queue_(context.queue),
        patience_(context.clock.edge_at(params.patience)),
        served_(context.banks * 2) {}

  DramPick pick(DramQueue::Slot oldest, std::int64_t /*row*/, Clock now) override {
    const DramBurst& burst = queue_.at(oldest).burst;
    if (now - served_[burst.bank * 2 + burst.write] > patience_) return {oldest};
    DramQueue::Slot slot = oldest;
    while (queue_.at(slot).next != DramQueue::kNone) slot = queue_.at(slot).next;
    return {slot};
  }
  std::uint32_t served(DramQueue::Slot slot, Clock now) override {
    const DramBurst& burst = queue_.at(slot).burst;
    if (slot == queue_.oldest(burst.bank, burst.write)) served_[burst.bank * 2 + burst.write] = now;
    return kNoBank;
  }

 private:
  const DramQueue& queue_;
  Clock patience_;
  std::vector<Clock> served_;  // when the oldest of a bank last was
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.media.schedulers.add<Youngest>("youngest"); }
