// Random message mixes through every packer and back, for as long as asked: `cxloom_fuzz_flits [SECONDS]
// [FIRST_SEED]`. A failure names the format and the seed with which to play it again.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "core/protocol/flit/traffic.hpp"

int main(int count, char** arguments) {
  using namespace cxloom;
  using Clock = std::chrono::steady_clock;
  const auto end =
      Clock::now() + std::chrono::seconds(count > 1 ? std::strtol(arguments[1], nullptr, 10) : 60);
  const std::uint64_t first = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 0;
  std::uint64_t seed = first;
  for (; Clock::now() < end; ++seed) {
    for (std::size_t mode = 0; mode < kFlitModeCount; ++mode) {
      try {
        test::fuzz_flits(static_cast<FlitMode>(mode), seed, 500);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s, seed %llu: %s\n", kFlitModeNames[mode].data(),
                     static_cast<unsigned long long>(seed), error.what());
        return 1;
      }
    }
  }
  std::printf("%llu random links of each flit format: every message came out as it went in\n",
              static_cast<unsigned long long>(seed - first));
  return 0;
}
