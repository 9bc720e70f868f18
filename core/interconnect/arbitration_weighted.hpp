// The arbitration `weighted`: devices share the bytes of a port in proportion to their weights, by start-time fair queueing.
//
// A message that leaves moves its device's finish tag on by its bytes over the weight; the next one of the device starts
// there, or at the tag of what left last if that is later. The smallest start goes first. Who has nothing waiting falls behind
// and starts anew with the others: time without messages gives no credit, and costs none.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/schema.hpp"
#include "interconnect/arbitration.hpp"
#include "interconnect/device_weights.hpp"

namespace cxloom {

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
  /// What one device has had.
  struct Flow {
    std::uint32_t weight = 0;     ///< 0: no message of it has come yet
    std::uint32_t remainder = 0;  ///< of what its messages took over the weight
    std::uint64_t finish = 0;     ///< where its last message ended
    std::uint64_t served = 0;     ///< number of its last message among those of the port
    unsigned turn = 0;            ///< the class after the one served last
  };

  std::size_t flow_of(const Contender& contender) const;
  Flow& flow(std::size_t index);

  WireCost cost_;
  By by_;
  std::uint32_t others_;
  std::vector<std::optional<std::uint32_t>>
      weights_;               // by node (of requesters), or by input, own messages last
  std::vector<Flow> flows_;   // the same
  std::uint16_t inputs_;      // the place of own messages behind those of the inputs
  std::uint64_t tag_ = 0;     // the start of the last message
  std::uint64_t latest_ = 0;  // the last end of any
  std::uint64_t served_ = 0;
};

}  // namespace cxloom
