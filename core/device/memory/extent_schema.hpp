// The parameters of an extent, by itself and in an event.
#pragma once

#include "base/schema.hpp"
#include "device/memory/dynamic_capacity.hpp"

namespace cxloom {

/// Declares them in the schema of what derives from ExtentParams.
template <class Params>
void describe_extent(Schema<Params>& schema) {
  schema.field("base", &Params::base)
      .where([](const Address& base) { return base.value() % kLineBytes == 0; }, "a multiple of 64 B")
      .doc("Its first address in the memory itself, which begins at zero whatever the address map says.");
  schema.field("size", &Params::size)
      .required()
      .where([](const Bytes& size) { return size > Bytes{} && size.count() % kLineBytes == 0; },
             "a multiple of 64 B, more than 0")
      .doc("Its length.");
  schema.field("host", &Params::host).required().doc("Whose it is: a host or an accelerator.");
  schema.field("tag", &Params::tag)
      .default_text("none")
      .doc(
          "Hosts share an extent that is added for each of them with the same base, size and tag. No pages "
          "are placed there: a kernel has it as a device.");
}

}  // namespace cxloom
