// A host: makes requests, has no memory of its own.
#pragma once

#include "device/io_completer.hpp"
#include "device/requester_params.hpp"
#include "device/sequencer.hpp"

namespace cxloom {

struct HostParams : RequesterParams {
  static void describe(Schema<HostParams>& schema) {
    schema.doc("A host: makes the requests of its workload.");
    RequesterParams::describe_in(schema);
  }
};

class Host final : public Endpoint {
 public:
  using Params = HostParams;
  Host(const HostParams& params, const DeviceContext& context)
      : Endpoint(context, context.fabric), sequencer_(params, *this, context), io_(params.io_time, *this) {
    fabric().set_root(id());
  }

  std::size_t max_ports() const override { return 0; }
  static std::vector<MeasureInfo> measures() { return Sequencer::measures(); }

 private:
  Sequencer sequencer_;
  IoCompleter io_;
};

}  // namespace cxloom
