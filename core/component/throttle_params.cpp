#include "component/throttle_params.hpp"

#include "base/schema.hpp"

namespace cxloom {

void ThrottleParams::describe(Schema<ThrottleParams>& schema) {
  constexpr const char* kSource = "CXL 3.x, reference model of QoS telemetry; the value is an own choice";
  schema.doc("Paces requests to each memory by the load that it reports (DevLoad).");
  schema.field("rate", &ThrottleParams::rate)
      .required()
      .where([](const Bandwidth& value) { return !value.rate.unlimited(); }, "a bandwidth")
      .doc("Bytes per second that are issued to a memory at most, while it is not throttled.");
  schema.field("window", &ThrottleParams::window)
      .min(Time{1'000})
      .doc("Time over which the highest reported load counts; then the rate is changed, once.")
      .source(kSource);
  schema.field("normal_delta", &ThrottleParams::normal_delta)
      .fraction([](double value) { return value > 0.0 && value <= 1.0; }, "more than 0, at most 1")
      .doc(
          "Part of the full rate by which it rises after light load, and falls after moderate load; more "
          "than 0.")
      .source(kSource);
  schema.field("severe_delta", &ThrottleParams::severe_delta)
      .fraction([](double value) { return value > 0.0 && value <= 1.0; }, "more than 0, at most 1")
      .doc("Part of the full rate by which it falls after severe load; more than 0.")
      .source(kSource);
  schema.field("least", &ThrottleParams::least)
      .fraction([](double value) { return value > 0.0 && value <= 1.0; }, "more than 0, at most 1")
      .doc("Part of the full rate below which it does not fall; more than 0.")
      .source("own choice");
}

}  // namespace cxloom
