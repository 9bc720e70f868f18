// A root port: where a processor's requests to memory behind a link meet in one queue, before that link.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "device/switch/request_order.hpp"
#include "device/switch/switching_device.hpp"

namespace cxloom {

struct RootPortParams {
  std::optional<std::uint32_t> depth;
  Frequency rate;
  Time pass_time;
  Time port_delay;

  static void describe(Schema<RootPortParams>& schema);
};

class RootPort final : public SwitchingDevice {
 public:
  using Params = RootPortParams;
  RootPort(const RootPortParams& params, const DeviceContext& context);

  /// Its queue asks for one link at a time.
  bool takes_bundles() const override { return false; }
  void receive(Message& message) override;
  std::string activity() const override;
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();

 private:
  RootPortParams params_;
  RequestOrder requests_;
};

}  // namespace cxloom
