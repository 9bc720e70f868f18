// A garbage collection of flash outside the tree: the fewest current pages, among blocks that were filled
// some time ago.
#include <cxloom/flash.hpp>

namespace {

using namespace cxloom;

class SettledGreedy final : public GcPolicy {
 public:
  struct Params {
    std::uint64_t pages = 0;

    static void describe(Schema<Params>& schema) {
      schema.doc("The block with the fewest current pages among those that have settled, else the oldest.");
      schema.field("pages", &Params::pages).doc("Pages that are programmed before a full block has settled.");
    }
  };
  SettledGreedy(const Params& params, const GcContext& context)
      : settles_(params.pages), pages_(context.pages) {}

  double score(const FlashBlock& block, std::uint64_t now) override {
    const std::uint64_t age = now - block.filled;
    if (age < settles_) return static_cast<double>(age) / static_cast<double>(settles_) - 1.0;
    return static_cast<double>(pages_ - block.current);
  }

 private:
  std::uint64_t settles_;
  std::uint32_t pages_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.media.collectors.add<SettledGreedy>("settled-greedy"); }
