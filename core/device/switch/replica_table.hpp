// The requests to the regions that a switch replicates: they come to the switch, which sends one write for
// each copy. docs/model/replication.md has the rules.
#pragma once

#include <cstdint>
#include <string>

#include "base/measure.hpp"
#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "component/component.hpp"
#include "component/replica_set.hpp"
#include "component/system_context.hpp"
#include "device/context/replicator.hpp"
#include "kernel/distribution.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/wait_list.hpp"
#include "kernel/windowed.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class SwitchCore;

struct ReplicaTableCounts {
  std::uint64_t writes = 0;
  std::uint64_t stalls = 0;
};

struct ReplicaTableMeasured : ReplicaTableCounts {
  double entries_mean = 0;
  double waiting_mean = 0;
};

inline constexpr std::array kReplicaTableMeasures{
    measure<ReplicaTableMeasured, &ReplicaTableMeasured::writes>("writes", "",
                                                                 "writes that it sent to all copies"),
    measure<ReplicaTableMeasured, &ReplicaTableMeasured::stalls>(
        "stalls", "", "writes that found no entry free when they came"),
    measure<ReplicaTableMeasured, &ReplicaTableMeasured::entries_mean>(
        "entries_mean", "", "writes that not all copies have answered, mean over time"),
    measure<ReplicaTableMeasured, &ReplicaTableMeasured::waiting_mean>(
        "waiting_mean", "", "writes that wait for an entry, mean over time"),
};

class ReplicaTable final : public EventHandler, public RequestTaker, private Replicator::Way, private Waiter {
 public:
  ReplicaTable(ReplicaSets& sets, SwitchCore& core, Component& owner, SystemContext& system_context);

  std::string name() const override { return component_.name(); }
  /// Entries of one more region: all regions share the table.
  void add_entries(std::uint32_t entries) { entries_ += entries; }
  /// Takes a message that has come in, charged up to now, if it is for the switch itself.
  bool came(Message& message) {
    if (!owns(message)) return false;
    come(message);
    return true;
  }
  bool owns(const Message& message) const { return message.destination == component_.id(); }
  /// What it sent has found no way, and is its own answer, an error, which comes at the end of what happens
  /// now.
  void answered_here(Message& message);
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  void take(Message& message, Time ready) override;
  void write_on(Message& message, ReplicaSet& set) override;
  void resynchronise(ReplicaSet& set, std::size_t from, std::size_t to) override {
    replicator_.resynchronise(set, from, to);
  }
  /// The switch has failed, and the table is lost; or it works again, with an empty one.
  void set_failed(bool failed);

  Value report() const;
  void resources(ResourceSink& sink) const;
  std::string activity() const;

 private:
  const EventHandler& owner() const override { return component_; }
  void come(Message& message);
  void begin(Message& message);
  void release(const Message& message, Time at);
  void send_replicated(Message& message) override;
  void finish_replicated(Message& answer) override { send_replicated(answer); }
  void write_ended(const ReplicaSet& set) override;
  void lose_replicated(Message& request, bool again) override;

  ReplicaSets& sets_;
  SwitchCore& core_;
  Component& component_;
  SystemContext& system_context_;
  Replicator replicator_;
  std::uint32_t entries_ = 0;
  std::uint32_t used_ = 0;  // entries
  MessageQueue outside_;    // writes that wait for one
  std::uint32_t waiting_ = 0;
  bool failed_ = false;
  WaitList wanted_;
  Windowed<ReplicaTableCounts> counts_;
  LevelMonitor entries_level_;
  LevelMonitor waiting_level_;
};

}  // namespace cxloom
