// How long a device works on a read of CXL.io.
#pragma once

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

inline constexpr Time kDefaultIoTime{100'000};

/// Declares it.
template <class Params, class Base>
void describe_io_time(Schema<Params>& schema, Time Base::* io_time) {
  schema.field("io_time", io_time)
      .doc(
          "Time from the arrival of a read or configuration read of CXL.io until its completion may leave, "
          "in a pipeline; of a DMA request of a gpu, until its memory is accessed.")
      .source("assumed: about that of a memory access");
}

}  // namespace cxloom
