#include "interconnect/arbitration/weighted.hpp"

#include <algorithm>

#include "component/component.hpp"

namespace cxloom {

void read_value(const Value& value, DeviceWeights& out) {
  out = {};
  if (value.is_null()) return;
  const Value::Map* map = value.as_map();
  if (!map) throw InputError({"not weights of devices", value.described(), "a map such as {host0: 3}", {}});
  for (const auto& [name, item] : *map) {
    with_path(name, [&] {
      std::uint32_t weight = 0;
      read_value(item, weight);
      if (weight < 1 || weight > DeviceWeights::kMost) {
        throw InputError({"out of bounds",
                          item.described(),
                          "at least 1, at most " + std::to_string(DeviceWeights::kMost),
                          {}});
      }
      out.by_name.emplace_back(name, weight);
    });
  }
}

void WeightedArbiter::Params::describe(Schema<Params>& schema) {
  schema.doc("Devices share the bytes of a port by weight, as long as they have messages waiting.");
  schema.choice("by", &Params::by, {{"requester", By::kRequester}, {"input", By::kInput}})
      .doc(
          "Whose weight counts for a message. requester: of the device for which it is, there and back. "
          "input: of the device at the other end of the link by which it came.");
  schema.field("weights", &Params::weights)
      .doc(
          "Weights of devices by name, whole numbers up to 65535, such as {host0: 3, \"host[1-3]\": 1}. A "
          "glob gives way to a name or a range.");
  schema.field("default", &Params::others)
      .min(1)
      .max(DeviceWeights::kMost)
      .doc(
          "The weight of a device that is not among them, and with by: input of the port's own messages. "
          "Only with `weights`.");
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
    with_path("weights." + name, [&] {
      const auto set = [&](std::size_t index) {
        if (weights_.size() <= index) weights_.resize(index + 1);
        weights_[index] = weight;
      };
      if (by_ == By::kRequester) {
        set(context.names->requester(name).index());
      } else {
        for (const std::uint16_t input : context.names->inputs(name)) set(input);
      }
    });
  }
}

std::size_t WeightedArbiter::flow_of(const Contender& contender) const {
  if (by_ == By::kRequester) return contender.message().requester.index();
  return std::min(contender.input(), inputs_);
}

WeightedArbiter::Device& WeightedArbiter::device(std::size_t index) {
  if (devices_.size() <= index) devices_.resize(index + 1);
  Device& device = devices_[index];
  if (device.flow.weight == 0)
    device.flow.weight = index < weights_.size() ? weights_[index].value_or(others_) : others_;
  return device;
}

// The classes of a device take turns, and within a class the first to ask goes first.
std::size_t WeightedArbiter::choose(const Contenders& waiting, Time /*now*/) {
  constexpr unsigned kClasses = kChannelCount;
  if (waiting.after_idle()) shares_.begin_anew();
  std::size_t best = 0;
  std::size_t best_device = 0;
  unsigned best_behind = 0;
  const Message* chosen = nullptr;
  std::size_t index = 0;
  for (const Contender each : waiting) {
    const std::size_t of = flow_of(each);
    const Device& its = device(of);
    const unsigned behind = (static_cast<unsigned>(each.message().channel) + kClasses - its.turn) % kClasses;
    const bool better = !chosen || (of == best_device ? behind < best_behind
                                                      : shares_.before(its.flow, devices_[best_device].flow));
    if (better) {
      best = index;
      best_device = of;
      best_behind = behind;
      chosen = &each.message();
    }
    ++index;
  }
  Device& served = devices_[best_device];
  shares_.serve(served.flow, cost_.units(*chosen));
  served.turn = (static_cast<unsigned>(chosen->channel) + 1) % kClasses;
  return best;
}

}  // namespace cxloom
