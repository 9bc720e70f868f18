// A victim policy outside the tree: the line used least often leaves, as under lfu, but counts end.
#include <cxloom/victim.hpp>

namespace {

using namespace cxloom;

class FewestUses final : public VictimPolicy {
 public:
  struct Params {
    std::uint32_t most = 255;

    static void describe(Schema<Params>& schema) {
      schema.doc("The line with the fewest uses leaves.");
      schema.field("most", &Params::most).min(1).doc("So far uses are counted.");
    }
  };
  FewestUses(const Params& params, const VictimContext& context)
      : most_(params.most), ways_(context.ways), uses_(std::size_t{context.sets} * context.ways) {}

  bool listens() const override { return true; }
  void inserted(std::uint32_t /*set*/, Slot slot, LineAddress /*line*/, const TagArray& /*tags*/) override {
    uses_[slot] = 1;
  }
  void used(std::uint32_t /*set*/, Slot slot) override { uses_[slot] += uses_[slot] < most_ ? 1 : 0; }
  Slot victim(std::uint32_t set, const SlotOrder& /*order*/, const SlotPins& pins) override {
    Slot least = kNoSlot;
    for (Slot slot = set * ways_; slot < (set + 1) * ways_; ++slot) {
      if (!pins.pinned(slot) && (least == kNoSlot || uses_[slot] < uses_[least])) least = slot;
    }
    return least;
  }

 private:
  std::uint32_t most_;
  std::uint32_t ways_;
  std::vector<std::uint32_t> uses_;  // of the line in each slot, since it came
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.victims.add<FewestUses>("fewest-uses"); }
