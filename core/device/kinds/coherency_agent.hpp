// A coherency agent as a device of its own: it keeps the caches coherent that hold lines of other devices'
// memory.
#pragma once

#include "base/schema.hpp"
#include "coherence/home/dcoh.hpp"
#include "device/context/context.hpp"
#include "device/io/completer.hpp"
#include "device/io/io_time.hpp"

namespace cxloom {

struct CoherencyAgentParams : DcohParams {
  Time io_time = kDefaultIoTime;

  static void describe(Schema<CoherencyAgentParams>& schema) {
    schema.doc(
        "A coherency agent (DCOH) apart from the memory that it serves, one device or several: the home of a "
        "region with coherence: hdm-db.");
    DcohParams::describe_in(schema);
    describe_io_time(schema, &CoherencyAgentParams::io_time);
  }
};

class CoherencyAgent final : public Endpoint {
 public:
  using Params = CoherencyAgentParams;
  CoherencyAgent(const CoherencyAgentParams& params, const DeviceContext& context)
      : Endpoint(context, context.system_context),
        dcoh_(params, *this, context, context.victims, nullptr),
        io_(params.io_time, *this) {}

  std::size_t max_ports() const override { return 0; }
  static std::vector<MeasureInfo> measures() { return infos_of(kHomeMeasures); }

 private:
  Dcoh dcoh_;
  IoCompleter io_;
};

}  // namespace cxloom
