// A tiering policy outside the tree: samples find hot pages, as HeMem does, pages that were not accessed
// since the last scan make room for them, as those of an inactive list do, and nothing is promoted while the
// near memory answers later than the far one, as with Colloid.
#include <cxloom/tiering.hpp>
#include <vector>

namespace {

using namespace cxloom;

class SampledTiers final : public TieringPolicy {
 public:
  struct Params {
    std::uint64_t every = 16;
    std::uint64_t hot = 4;
    std::uint64_t watermark = 1;
    Time period{20'000'000};
    bool balances = true;

    static void describe(Schema<Params>& schema) {
      schema.doc("Pages with enough samples go to the nearest node; idle ones make room for them.");
      schema.field("every", &Params::every).min(1).doc("Accesses from one sample to the next.");
      schema.field("hot", &Params::hot).min(1).doc("Samples of a page that is hot.");
      schema.field("watermark", &Params::watermark).doc("Frames that are kept free in the nearest node.");
      schema.field("period", &Params::period).min(Time{1}).doc("Time from one scan to the next.");
      schema.field("balances", &Params::balances)
          .doc("Whether pages go to a node only if it answers sooner.");
    }
  };
  SampledTiers(const Params& params, const TieringContext& context)
      : params_(params), order_(nearest_first(context.nodes)), before_(context.nodes.size()) {}

  TieringSources sources() const override {
    return {.accessed_bits = true, .sample_every = params_.every, .traffic = true, .period = params_.period};
  }
  void sampled(const PageAccess& access, TieredPages& pages) override {
    if (access.page >= samples_.size()) samples_.resize(pages.pages());
    if (++samples_[access.page] == params_.hot && access.node != near() && worth_it_)
      pages.move(access.page, near());
  }
  void look(TieredPages& pages) override {
    const Time near_latency = latency(pages, near());
    const Time far_latency = latency(pages, far());
    worth_it_ = !params_.balances || near_latency == Time{} || near_latency < far_latency;
    std::uint64_t free = pages.free(near());
    for (std::uint64_t page = 0; page < pages.pages(); ++page) {
      const bool idle = !pages.accessed(page);
      if (pages.node_of(page) != near() || pages.is_table(page) || !idle || free >= params_.watermark)
        continue;
      pages.move(page, far());
      ++free;
    }
    samples_.assign(pages.pages(), 0);
  }

 private:
  std::size_t near() const { return order_.front(); }
  std::size_t far() const { return order_.back(); }
  /// The mean of a node's answers since the last look.
  Time latency(const TieredPages& pages, std::size_t node) {
    const NodeTraffic now = pages.traffic(node);
    const NodeTraffic then = std::exchange(before_[node], now);
    const auto answered = static_cast<std::int64_t>(now.answered - then.answered);
    return answered == 0 ? Time{} : Time{(now.latency - then.latency).ps() / answered};
  }

  Params params_;
  std::vector<std::size_t> order_;
  std::vector<NodeTraffic> before_;
  std::vector<std::uint64_t> samples_;
  bool worth_it_ = true;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.tiering.add<SampledTiers>("sampled-tiers"); }
