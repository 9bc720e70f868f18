#include "device/switch/vcs_params.hpp"

#include "device/switch/bound_schema.hpp"

namespace cxloom {

std::string BoundParams::described() const { return ld ? to + " ld " + std::to_string(*ld) : to; }

void BoundParams::describe(Schema<BoundParams>& schema) {
  schema.doc("What a vPPB is bound to.");
  schema.short_for("to");
  describe_bound(schema);
}

void VcsParams::describe(Schema<VcsParams>& schema) {
  schema.doc("A virtual CXL switch: an upstream port, and places (vPPBs) for devices at downstream ports.");
  schema.field("upstream", &VcsParams::upstream)
      .required()
      .doc(
          "The device, linked to the switch, that the upstream port leads to: a host, or what leads to "
          "hosts.");
  schema.field("vppbs", &VcsParams::vppbs)
      .min(1)
      .max(256)
      .doc("How many devices or logical devices may be bound at the same time.")
      .source("own choice of the default; CXL 3.x, chapter 7: up to 256 ports of a physical switch");
  schema.field("bind", &VcsParams::bind)
      .default_text("none")
      .doc(
          "What is bound from the beginning, to vPPB 0, 1, ...: a device linked to the switch, mem0, or a "
          "logical device, {to: mem0, ld: 2}.");
  schema.rule(
      "more devices than vPPBs", [](const VcsParams& vcs) { return vcs.bind.size() <= vcs.vppbs; }, "bind");
}

}  // namespace cxloom
