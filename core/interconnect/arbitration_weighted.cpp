#include "interconnect/arbitration_weighted.hpp"

#include <algorithm>
#include <tuple>

#include "component/component.hpp"

namespace cxloom {

namespace {

constexpr unsigned kClasses = kChannelCount;
/// Of tags: more than the largest weight, so that every message moves one on.
constexpr std::uint64_t kScale = 1U << 16U;

}  // namespace

void WeightedArbiter::Params::describe(Schema<Params>& schema) {
  schema.doc("Devices share the bytes of a port by weight, as long as they have messages waiting.");
  schema.choice("by", &Params::by, {{"requester", By::kRequester}, {"input", By::kInput}})
      .doc(
          "Whose weight counts for a message. requester: of the device for which it is, there and back. "
          "input: of the "
          "device at the other end of the link by which it came.");
  schema.field("weights", &Params::weights)
      .doc(
          "Weights of devices by name, whole numbers up to 65535, such as {host0: 3, \"host[1-3]\": 1}. A "
          "glob gives "
          "way to a name or a range.");
  schema.field("default", &Params::others)
      .min(1)
      .max(DeviceWeights::kMost)
      .doc("The weight of a device that is not among them, and with by: input of the port's own messages.");
  schema.effective(
      "default", [](const Params& params) { return !params.weights.by_name.empty(); },
      "unless some devices have other weights: set weights");
}

WeightedArbiter::WeightedArbiter(const Params& params, const ArbitrationContext& context)
    : cost_(context.cost),
      by_(params.by),
      others_(params.others),
      inputs_(static_cast<std::uint16_t>(context.owner.port_count())) {
  for (const auto& [name, weight] : params.weights.by_name) {
    below("weights." + name, [&] {
      const auto set = [&](std::size_t index) {
        if (weights_.size() <= index) weights_.resize(index + 1);
        weights_[index] = weight;
      };
      if (by_ == By::kRequester) {
        set(context.names.requester(name).index());
      } else {
        for (const std::uint16_t input : context.names.inputs(name)) set(input);
      }
    });
  }
}

std::size_t WeightedArbiter::flow_of(const Contender& contender) const {
  if (by_ == By::kRequester) return contender.message().requester.index();
  return std::min(contender.input(), inputs_);
}

WeightedArbiter::Flow& WeightedArbiter::flow(std::size_t index) {
  if (flows_.size() <= index) flows_.resize(index + 1);
  Flow& flow = flows_[index];
  if (flow.weight == 0) flow.weight = index < weights_.size() ? weights_[index].value_or(others_) : others_;
  return flow;
}

// Among devices with the same start the one that has waited longer for its turn; of its classes each in turn, and within a
// class who asked first.
std::size_t WeightedArbiter::choose(const Contenders& waiting, Time /*now*/) {
  if (waiting.after_idle()) tag_ = latest_;
  std::size_t best = 0;
  std::size_t best_flow = 0;
  std::tuple<std::uint64_t, std::uint64_t, unsigned> least;
  std::size_t index = 0;
  const Message* chosen = nullptr;
  for (const Contender each : waiting) {
    const std::size_t of = flow_of(each);
    const Flow& its = flow(of);
    const unsigned which = static_cast<unsigned>(each.message().channel);
    const unsigned behind = (which + kClasses - its.turn) % kClasses;
    const std::tuple key{std::max(its.finish, tag_), its.served, behind};
    if (index == 0 || key < least) {
      least = key;
      best = index;
      best_flow = of;
      chosen = &each.message();
    }
    ++index;
  }
  Flow& served = flows_[best_flow];
  tag_ = std::get<0>(least);
  if (served.finish < tag_) served.remainder = 0;
  const std::uint64_t units = cost_.units(*chosen) * kScale + served.remainder;
  served.finish = tag_ + units / served.weight;
  served.remainder = static_cast<std::uint32_t>(units % served.weight);
  served.turn = (static_cast<unsigned>(chosen->channel) + 1) % kClasses;
  served.served = ++served_;
  latest_ = std::max(latest_, served.finish);
  return best;
}

}  // namespace cxloom
