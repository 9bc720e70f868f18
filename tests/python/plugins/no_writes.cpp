// A DRAM scheduler outside the tree that lets no write go: a mistake that a run must survive, and name.
#include <cxloom/dram.hpp>

namespace {

using namespace cxloom;

class NoWrites final : public DramScheduler {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("Reads go, and writes never."); }
  };
  NoWrites(const Params& /*params*/, const DramSchedulerContext& context) : queue_(context.queue) {}

  DramPick pick(DramQueue::Slot oldest, std::int64_t /*row*/, Clock /*now*/) override {
    return {queue_.at(oldest).burst.write ? DramQueue::kNone : oldest};
  }

 private:
  const DramQueue& queue_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.media.schedulers.add<NoWrites>("no-writes"); }
