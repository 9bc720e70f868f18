// An access pattern outside the tree: block after block, from the end of the footprint to its beginning.
#include <cxloom/pattern.hpp>

namespace {

using namespace cxloom;

struct BackwardsParams : PatternParams {
  std::uint64_t skip = 0;

  static void describe(Schema<BackwardsParams>& schema) {
    schema.doc("One block after the other, the last one first.");
    PatternParams::describe_in(schema);
    PatternParams::describe_fences(schema);
    schema.field("skip", &BackwardsParams::skip).doc("Blocks at the end of the footprint that are left out.");
    schema.rule("skip leaves no block", [](const BackwardsParams& params) {
      return params.skip < params.footprint.count() / params.size.count();
    });
  }
};

class Backwards final : public Pattern {
 public:
  using Params = BackwardsParams;
  Backwards(const Params& params, const PatternContext& context)
      : Pattern(params, context), used_(blocks() - params.skip), left_(used_) {}

 private:
  std::uint64_t next_block() override {
    if (left_ == 0) left_ = used_;
    return --left_;
  }
  std::uint64_t used_;
  std::uint64_t left_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.patterns.add<Backwards>("backwards"); }
