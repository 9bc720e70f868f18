// Stands in for SimpleSSD where it is not installed: see hil/hil.hh.
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>

#include "../sim/log.hh"

namespace SimpleSSD {

using Event = std::uint64_t;
using EventFunction = std::function<void(std::uint64_t)>;

class Simulator {
 public:
  virtual ~Simulator() = default;
  virtual std::uint64_t getCurrentTick() = 0;
  virtual Event allocateEvent(EventFunction function) = 0;
  virtual void scheduleEvent(Event event, std::uint64_t tick) = 0;
  virtual void descheduleEvent(Event event) = 0;
  virtual bool isScheduled(Event event, std::uint64_t* tick) = 0;
  virtual void deallocateEvent(Event event) = 0;
};
inline Simulator* simulator = nullptr;
inline void setSimulator(Simulator* mine) { simulator = mine; }

/// Knows `Block` of [pal] and what the adapter checks, and warns of what begins with an X.
class ConfigReader {
 public:
  bool init(const std::string& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      if (line.front() == 'X' && errors)
        *errors << "0: warn: Config [pal] " << line << " not handled" << std::endl;
    }
    return true;
  }
};

namespace CPU {
struct CPU {};
}  // namespace CPU
inline CPU::CPU* cpu = nullptr;
inline void initCPU(ConfigReader& /*config*/) {
  delete cpu;
  cpu = new CPU::CPU;
}
inline void deInitCPU() {
  delete cpu;
  cpu = nullptr;
}

}  // namespace SimpleSSD
