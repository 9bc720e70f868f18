// The parameters of a device that keeps its memory coherent by bias.
#pragma once

#include <cstdint>

#include "coherence/home/directory_params.hpp"

namespace cxloom {

/// The side that may use a page without asking.
enum class Bias : std::uint8_t {
  kHost,    ///< the host: it may hold lines, and the device asks for them
  kDevice,  ///< the device: nobody else holds a line
};

struct BiasParams : DirectoryParams {
  LineFilterParams filter;
  Bytes page{4096};
  Bias initial = Bias::kHost;
  std::uint32_t flip_after = 1;

  static void describe(Schema<BiasParams>& schema);
  static void estimate(const BiasParams& params, MemoryEstimate& memory) {
    estimate_filter(params.filter, memory);
    constexpr std::uint64_t kBytesOfQuestion = 640;  // a page that flips asks for all of its lines
    memory.add("page", to_text(params.page), 1, params.page.count() / kLineBytes * kBytesOfQuestion);
  }
};

}  // namespace cxloom
