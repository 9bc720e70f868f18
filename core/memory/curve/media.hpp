// Media whose latency follows a measured curve: of the bandwidth and the share of reads that are asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "kernel/event_source.hpp"
#include "kernel/windowed.hpp"
#include "memory/curve/arrival_window.hpp"
#include "memory/curve/table.hpp"
#include "memory/media/context.hpp"
#include "memory/media/media.hpp"

namespace cxloom {

struct MeasureInfo;

struct CurveMediaParams {
  std::vector<CurvePoint> points;
  std::optional<std::string> file;
  Time elsewhere;
  std::uint32_t window = 512;

  static void describe(Schema<CurveMediaParams>& schema);
};

class CurveMedia final : public Media {
 public:
  using Params = CurveMediaParams;
  CurveMedia(const CurveMediaParams& params, const MediaContext& context);

  void access(Message& message, Address address, Time ready) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();
  static std::vector<std::string> traits() { return {"forgets"}; }

 private:
  Kernel& kernel_;
  MediaClient& client_;
  EventSource source_;
  CurveTable table_;
  ArrivalWindow arrivals_;
  double elsewhere_;  // ns
  double unloaded_;   // ns, the least latency
  double free_ = 0;   // ns: when the next access may start

  /// Sums over the accesses.
  struct Sums {
    std::uint64_t accesses = 0;
    std::uint64_t throttled = 0;
    double load = 0;
    double reads = 0;
  };
  EntriesInWindow<Sums> sums_;
};

}  // namespace cxloom
