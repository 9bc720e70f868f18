// The arbitration `weighted`: devices share the bytes of a port in proportion to their weights
// (base/fair_share.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fair_share.hpp"
#include "base/schema.hpp"
#include "interconnect/arbitration/arbitration.hpp"

namespace cxloom {

/// Weights of devices, by name: `weights: {host0: 3, "host[1-3]": 1}`.
struct DeviceWeights {
  static constexpr std::string_view kSchemaType = "weights";  ///< whose keys the front end spells out
  static constexpr std::uint32_t kMost = FairShare::kMostWeight;

  std::vector<std::pair<std::string, std::uint32_t>> by_name;  ///< in the order written

  bool operator==(const DeviceWeights& other) const = default;
};

/// Throws InputError unless it is a map of weights in [1, kMost]. Names are checked where devices are known.
void read_value(const Value& value, DeviceWeights& out);

class WeightedArbiter final : public Arbiter {
 public:
  enum class By : std::uint8_t { kRequester, kInput };
  struct Params {
    By by = By::kRequester;
    DeviceWeights weights;
    std::uint32_t others = 1;

    static void describe(Schema<Params>& schema);
  };

  WeightedArbiter(const Params& params, const ArbitrationContext& context);

  std::size_t choose(const Contenders& waiting, Time now) override;
  bool shares_bytes() const override { return true; }

 private:
  /// The shares that one device has had.
  struct Device {
    FairShare::Flow flow{.weight = 0};  ///< no message of it has come yet
    unsigned turn = 0;                  ///< the class after the one served last
  };

  std::size_t flow_of(const Contender& contender) const;
  Device& device(std::size_t index);

  WireCost cost_;
  By by_;
  std::uint32_t others_;
  std::vector<std::optional<std::uint32_t>>
      weights_;                  // by node (of requesters), or by input, own messages last
  std::vector<Device> devices_;  // the devices, by place
  std::uint16_t inputs_;         // own messages have their place behind the inputs
  FairShare shares_;
};

}  // namespace cxloom
