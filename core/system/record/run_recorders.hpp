// What writes a run down beside its summary: samples over time, commands of DRAM, messages of the protocol.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

class CommandRecorder;
class Kernel;
class ProtocolRecorder;
class Sampler;
class System;

class RunRecorders {
 public:
  RunRecorders();
  ~RunRecorders();
  RunRecorders(const RunRecorders&) = delete;
  RunRecorders& operator=(const RunRecorders&) = delete;

  /// Samples the system from now on, so often.
  void sample(Kernel& kernel, System& system, Time interval);
  /// Records the commands of all its DRAM from now on. `part_of`: the part of each node of a divided system;
  /// empty: there is one. Throws InputError if it has none.
  void record_commands(const System& system, const std::vector<std::uint32_t>& part_of);
  /// Records the messages of the protocol, once somebody shows them to it; those of these addresses' lines
  /// alone if there are any. Throws InputError for an address that no region holds.
  ProtocolRecorder& log_protocol(System& system, const std::vector<Address>& addresses);

  void open_window(Time now);
  void close_window(Time now);
  /// The run is over: posted writes that still wait go to the devices.
  void finish(Time now);
  /// The run is broken off: what waits stays.
  void stop(Time now);

  // Null: nobody asked for it.
  Sampler* sampler() { return sampler_.get(); }
  CommandRecorder* commands() { return commands_.get(); }
  ProtocolRecorder* protocol() { return protocol_.get(); }

 private:
  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<CommandRecorder> commands_;
  std::unique_ptr<ProtocolRecorder> protocol_;
};

}  // namespace cxloom
