// Keeps the commands of all DRAM of a system, from the beginning of the run to its end, in rows that leave memory as they
// come.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.hpp"
#include "memory/dram/device/clock.hpp"
#include "memory/dram/device/command.hpp"
#include "memory/dram/device/timers.hpp"
#include "system/record/run_part.hpp"

namespace cxloom {

class DramMedia;

/// Columns of the commands since they were last taken. All have the same length; a coordinate that a command does not have
/// is -1.
struct CommandTable {
  std::vector<std::int64_t> time_ps;      ///< first edge of the command, rounded down
  std::vector<std::int64_t> clock;        ///< the same, exactly: cycles of the memory's command clock
  std::vector<std::uint32_t> memory;      ///< node
  std::vector<std::uint16_t> channel;     ///< of the memory
  std::vector<std::uint8_t> sub_channel;  ///< of the channel
  std::vector<std::uint8_t> rank;
  std::vector<std::uint8_t> command;  ///< DramCommand
  std::vector<std::int16_t> bank_group;
  std::vector<std::int16_t> bank;  ///< of the bank group
  std::vector<std::int32_t> row;
  std::vector<std::int32_t> column;  ///< in bursts
  std::vector<std::uint8_t> rmw;     ///< 1: a write that needs a read-modify-write inside the device
  std::vector<std::uint8_t> part;    ///< RunPart in which the command went out
};

class CommandRecorder {
 public:
  /// From now on those of this memory too. Where it has several media of DRAM, their channels follow each other.
  void add(NodeId memory, DramMedia& media);
  bool empty() const { return watches_.empty(); }

  void open_window(Time now);
  void close_window(Time now);
  /// The run is over: posted writes that still wait go to the devices.
  void finish(Time now);
  /// The run is broken off: what waits stays.
  void stop(Time now);

  /// Commands since the last call. Those of one rank come in the order of time.
  CommandTable take();

 private:
  // Writes down what one memory does.
  class Watch final : public DramCommandLog {
   public:
    Watch(NodeId memory, std::uint32_t first_channel, DramMedia& media, CommandTable& table);
    NodeId memory() const { return memory_; }
    std::uint32_t end_channel() const;
    void command(std::uint32_t sub_channel, const DramCommandRecord& record) override;

    DramMedia& media;
    const DramClock clock;
    Clock opened = kNeverClock;  // the window
    Clock closed = kNeverClock;

   private:
    const DramDevice& device_;
    NodeId memory_;
    std::uint32_t first_channel_;
    CommandTable& table_;
  };

  std::vector<std::unique_ptr<Watch>> watches_;
  CommandTable table_;
};

}  // namespace cxloom
