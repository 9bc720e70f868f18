// The parameters that say what a vPPB is bound to, in a virtual switch and in an event.
#pragma once

#include "base/schema.hpp"
#include "device/switch/vcs_params.hpp"

namespace cxloom {

/// Declares them in the schema of what derives from BoundParams.
template <class Params>
void describe_bound(Schema<Params>& schema) {
  schema.field("to", &Params::to).required().doc("The device, linked to the switch.");
  schema.field("ld", &Params::ld)
      .max(15)
      .default_text("the whole device")
      .doc(
          "Of a memory with logical_devices: which of them alone is bound, from 0 (the LD-ID). The others "
          "may be bound to other vPPBs, of any virtual switch.");
}

}  // namespace cxloom
