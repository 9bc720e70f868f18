// Drives an installed Ramulator 2 as benchmarks/dram_drive.hpp drives our DRAM: random accesses over 8 GiB,
// two reads to a write, one each so many clocks of the memory; with 0 clocks as many as it takes, 128 at a
// time.
//
//   c++ -std=c++20 -O2 benchmarks/peers/ramulator2.cpp -I RAMULATOR/src -I RAMULATOR/ext/yaml-cpp/include \
//     -I RAMULATOR/ext/fmt/include -L RAMULATOR -l ramulator -Wl,-rpath,RAMULATOR -o drive
//   ./drive CONFIG ACCESSES CLOCKS     CONFIG is what ramulator2_d5.py prints
#include <ramulator/base/config.h>
#include <ramulator/base/factory.h>
#include <ramulator/base/request.h>
#include <ramulator/frontend/i_frontend.h>
#include <ramulator/memory_system/i_memory_system.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::ifstream file(argv[1]);
  const auto config =
      Ramulator::Config::parse_config_string(std::string{std::istreambuf_iterator<char>(file), {}});
  const std::unique_ptr<Ramulator::IFrontEnd> frontend(Ramulator::Factory::create_frontend(config));
  const std::unique_ptr<Ramulator::IMemorySystem> memory(Ramulator::Factory::create_memory_system(config));
  frontend->connect_memory_system(memory.get());
  memory->connect_frontend(frontend.get());

  constexpr std::uint64_t kBytes = 1ULL << 33U;
  constexpr std::int64_t kOutstanding = 128;  // as dram_drive.hpp has
  const std::int64_t accesses = std::atoll(argv[2]);
  const std::int64_t clocks = std::atoll(argv[3]);
  std::mt19937_64 random(1);
  std::int64_t sent = 0;
  std::int64_t answered = 0;
  const auto done = [&answered](Ramulator::Request&) { ++answered; };
  // An access that is refused is sent again in the next clock.
  int kind = 0;
  Ramulator::Addr_t address = 0;
  const auto draw = [&] {
    kind = random() % 3 == 0 ? Ramulator::Request::Type::Write : Ramulator::Request::Type::Read;
    address = static_cast<Ramulator::Addr_t>(random() % (kBytes / 64) * 64);
  };
  const auto send = [&] {
    const bool taken = frontend->receive_external_requests(kind, address, 0, done, 64);
    if (taken) {
      ++sent;
      draw();
    }
    return taken;
  };
  draw();
  // What is sent last is answered within a refresh; saturated, an access takes less than 100 clocks.
  const std::int64_t end = accesses * (clocks == 0 ? 100 : clocks) + 10'000;
  for (std::int64_t clock = 0; clock < end && answered < accesses; ++clock) {
    if (clocks != 0 && sent < accesses && clock >= sent * clocks) send();
    while (clocks == 0 && sent < accesses && sent - answered < kOutstanding && send()) {
    }
    memory->tick();
  }
  std::printf("%lld accesses, %lld answered\n", static_cast<long long>(sent),
              static_cast<long long>(answered));
  return sent == accesses && answered == sent ? 0 : 1;
}
