// What the part of a kernel that moves pages costs the program whose pages they are.
#pragma once

#include <cstdint>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

/// The one who scans page tables.
enum class Scanner : std::uint8_t {
  kProgram,  ///< its threads, on their way back from the kernel
  kOther,    ///< a thread of the kernel on a core that the program does not need
};

struct KernelCosts {
  Time fault{1'000'000};
  Time protect{50'000};
  Time scan{50'000};
  Scanner scanner = Scanner::kProgram;
  Time sample{250'000};
  Time unmap{1'000'000};
  Time shootdown{2'000'000};
  Time interrupt{500'000};
  std::uint32_t copy_lines = 16;

  static void describe(Schema<KernelCosts>& schema);
};

}  // namespace cxloom
