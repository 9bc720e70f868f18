// A routing strategy outside the tree: of equally short ways always the same one.
#include <cxloom/routing.hpp>

namespace {

using namespace cxloom;

class First final : public RoutingStrategy {
 public:
  struct Params {
    bool last = false;

    static void describe(Schema<Params>& schema) {
      schema.doc("Of equally short ways always the first.");
      schema.field("last", &Params::last).doc("Always the last instead.");
    }
  };
  First(const Params& params, const RoutingContext& /*context*/) : last_(params.last) {}

  std::size_t choose(const Message& /*message*/, const Junction& here) override {
    return last_ ? here.ways() - 1 : 0;
  }
  DecidedBy decided_by() const override { return DecidedBy::kDestination; }

 private:
  bool last_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.routing.add<First>("first"); }
