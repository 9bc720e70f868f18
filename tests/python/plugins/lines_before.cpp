// A prefetcher outside the tree: the lines before one that is new, for work that goes downwards.
#include <cxloom/prefetcher.hpp>

namespace {

using namespace cxloom;

class LinesBefore final : public Prefetcher {
 public:
  struct Params : PrefetcherParams {
    std::uint32_t lines = 1;

    static void describe(Schema<Params>& schema) {
      schema.doc("The lines before one that is new.");
      describe_prefetcher(schema);
      schema.field("lines", &Params::lines).min(1).doc("How many of them.");
    }
  };
  LinesBefore(const Params& params, PrefetcherContext& /*context*/)
      : Prefetcher(params), lines_(params.lines) {}

  // Before the first line there is none: what is in no region is not asked for.
  void accessed(const Trigger& trigger, std::vector<LineAddress>& wanted) override {
    if (!trigger.is_new()) return;
    for (std::uint64_t i = 1; i <= lines_; ++i) wanted.push_back(LineAddress{trigger.line.number() - i});
  }

 private:
  std::uint32_t lines_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.prefetchers.add<LinesBefore>("lines-before"); }
