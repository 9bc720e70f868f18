// A host: makes requests, has no memory of its own.
#pragma once

#include "device/requester.hpp"

namespace cxloom {

struct HostParams : RequesterParams {
  static void describe(Schema<HostParams>& schema) {
    schema.doc("A host: makes the requests of its workload.");
    RequesterParams::describe_in(schema);
  }
};

class Host final : public Requester {
 public:
  using Params = HostParams;
  Host(const HostParams& params, const DeviceContext& context) : Requester(params, context) {
    context.fabric.set_root(id());
  }
  std::size_t max_ports() const override { return 0; }
};

}  // namespace cxloom
