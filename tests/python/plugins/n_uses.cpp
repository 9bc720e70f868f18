// A row policy outside the tree: a row is closed after so many uses.
#include <cxloom/dram.hpp>

namespace {

using namespace cxloom;

class NUses final : public DramRowPolicy {
 public:
  struct Params {
    std::uint32_t uses = 4;

    static void describe(Schema<Params>& schema) {
      schema.doc("A row is closed after so many uses.");
      schema.field("uses", &Params::uses).min(1).doc("Accesses to a row, one after the other.");
    }
  };
  NUses(const Params& params, const DramRowContext& context) : most_(params.uses), uses_(context.banks) {}

  bool used(std::uint32_t bank, bool again, Clock /*now*/) override {
    uses_[bank] = again ? uses_[bank] + 1 : 1;
    return uses_[bank] >= most_;
  }

 private:
  std::uint32_t most_;
  std::vector<std::uint32_t> uses_;  // of the open row, by bank
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.media.row_policies.add<NUses>("n-uses"); }
