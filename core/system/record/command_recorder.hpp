// Keeps the commands of all DRAM of a system, from the beginning of the run to its end, in rows that leave
// memory as they come.
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "base/columns.hpp"
#include "base/units.hpp"
#include "kernel/ordered_notes.hpp"
#include "kernel/shared_state.hpp"
#include "memory/dram/device/clock.hpp"
#include "memory/dram/device/command.hpp"
#include "memory/dram/device/timers.hpp"
#include "system/record/run_part.hpp"

namespace cxloom {

class Kernel;

class DramMedia;

/// The columns of one command.
struct CommandRow {
  std::int64_t time_ps;
  std::int64_t clock;
  std::uint32_t memory;
  std::uint16_t channel;
  std::uint8_t sub_channel;
  std::uint8_t rank;
  std::uint8_t command;
  std::int16_t bank_group;
  std::int16_t bank;
  std::int32_t row;
  std::int32_t column;
  std::uint8_t rmw;
  std::uint8_t part;
};

/// Columns of the commands since they were last taken. All have the same length; a coordinate that a command
/// does not have is -1.
struct CommandTable {
  std::vector<std::int64_t> time_ps;
  std::vector<std::int64_t> clock;
  std::vector<std::uint32_t> memory;  ///< node
  std::vector<std::uint16_t> channel;
  std::vector<std::uint8_t> sub_channel;
  std::vector<std::uint8_t> rank;
  std::vector<std::uint8_t> command;  ///< DramCommand
  std::vector<std::int16_t> bank_group;
  std::vector<std::int16_t> bank;
  std::vector<std::int32_t> row;
  std::vector<std::int32_t> column;
  std::vector<std::uint8_t> rmw;
  std::vector<std::uint8_t> part;  ///< RunPart
};

inline constexpr std::tuple kCommandColumns{
    column<&CommandTable::time_ps>("time_ps", "ps", "first edge of the command, rounded down"),
    column<&CommandTable::clock>("clock", "",
                                 "first edge of the command, exactly: cycles of the memory's command clock"),
    column<&CommandTable::memory>("memory", "", "device whose DRAM it is for"),
    column<&CommandTable::channel>("channel", "", "channel of the memory"),
    column<&CommandTable::sub_channel>("sub_channel", "", "sub-channel of the channel"),
    column<&CommandTable::rank>("rank", "", "rank of the sub-channel"),
    column<&CommandTable::command>("command", "", "name of the command"),
    column<&CommandTable::bank_group>("bank_group", "", "bank group of the rank, if the command has one"),
    column<&CommandTable::bank>("bank", "", "bank of the bank group, if the command has one"),
    column<&CommandTable::row>("row", "", "row of the bank, if the command has one"),
    column<&CommandTable::column>("column", "", "column of the row in bursts, if the command has one"),
    column<&CommandTable::rmw>("rmw", "",
                               "whether it is a write that needs a read-modify-write inside the device"),
    column<&CommandTable::part>("part", "", "part of the run in which it went out"),
};

class CommandRecorder final : public SharedState {
 public:
  /// One for a system of so many parts. Rows come in the order of the whole run.
  explicit CommandRecorder(std::size_t parts) : notes_(parts) {}

  /// Records this memory, too, from now on. Of several DRAM media, the channels follow each other. `part`: it
  /// is there, and has this kernel.
  void add(NodeId memory, DramMedia& media, std::size_t part, const Kernel& kernel);
  bool empty() const { return watches_.empty(); }

  void open_window(Time now);
  void close_window(Time now);
  /// The run is over: posted writes that still wait go to the devices.
  void finish(Time now);
  /// The run is broken off: what waits stays.
  void stop(Time now);

  /// Commands since the last call. Those of one rank come in the order of time.
  CommandTable take();

  void gather() override { notes_.gather(); }
  void tell() override;

 private:
  // Writes down what one memory does.
  class Watch final : public DramCommandLog {
   public:
    Watch(NodeId memory, std::uint32_t first_channel, DramMedia& media, std::size_t part,
          const Kernel& kernel, CommandRecorder& recorder);
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
    std::size_t part_;
    const Kernel& kernel_;
    CommandRecorder& recorder_;
  };

  void put(const CommandRow& row);

  std::vector<std::unique_ptr<Watch>> watches_;
  CommandTable table_;
  OrderedNotes<CommandRow> notes_;
};

}  // namespace cxloom
