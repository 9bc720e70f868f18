// An arbitration outside the tree: each input of a switch has a share of a port, by weight, as long as it has
// something to send. Smooth weighted round robin: an input gains its weight with every turn, for each of its
// queues, and gives up the sum of all when the turn is its own.
#include <cxloom/arbitration.hpp>
#include <vector>

namespace {

using namespace cxloom;

class InputShares final : public Arbiter {
 public:
  struct Params {
    std::vector<std::uint32_t> weights;

    static void describe(Schema<Params>& schema) {
      schema.doc("Inputs have shares of a port by weight.");
      schema.field("weights", &Params::weights)
          .doc("Of each input, in the order of the links; others weigh 1.");
    }
  };
  InputShares(const Params& params, const ArbitrationContext& /*context*/) : weights_(params.weights) {}

  std::size_t choose(const Contenders& waiting, Time /*now*/) override {
    std::size_t best = 0;
    std::size_t index = 0;
    std::int64_t sum = 0;
    std::uint16_t winner = kOwnMessages;
    for (const Contender each : waiting) {
      const std::uint16_t input = each.input();
      if (input != kOwnMessages && gained_.size() <= input) gained_.resize(input + 1U);
      sum += weight(input);
      const std::int64_t now = input == kOwnMessages ? 0 : (gained_[input] += weight(input));
      if (winner == kOwnMessages || now > gained_[winner]) {
        winner = input;
        best = index;
      }
      ++index;
    }
    if (winner != kOwnMessages) gained_[winner] -= sum;
    return best;
  }

 private:
  std::int64_t weight(std::uint16_t input) const { return input < weights_.size() ? weights_[input] : 1; }

  std::vector<std::uint32_t> weights_;
  std::vector<std::int64_t> gained_;
};

}  // namespace

CXLOOM_PLUGIN(registry) { registry.arbitration.add<InputShares>("input-shares"); }
