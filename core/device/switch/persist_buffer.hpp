// A persist buffer: the part of a switch that makes writes to persistent memory durable on their way, answers
// them, and writes memory in the background. docs/model/persist.md says what it does with which message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/flat_table.hpp"
#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "component/component.hpp"
#include "device/switch/persist_domain.hpp"
#include "device/switch/persist_entries.hpp"
#include "device/switch/persist_params.hpp"
#include "kernel/distribution.hpp"
#include "kernel/wait_list.hpp"
#include "kernel/windowed.hpp"
#include "protocol/error_answer.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class ResourceSink;
class SwitchCore;
struct SystemContext;
class RequestObserver;

/// What a persist buffer counts.
struct PersistCounts {
  std::uint64_t persists = 0;
  std::uint64_t coalesced = 0;
  std::uint64_t drains = 0;
  std::uint64_t drained = 0;
  std::uint64_t read_hits = 0;
  std::uint64_t detours = 0;
  std::uint64_t held_reads = 0;
  std::uint64_t stalls = 0;
};

struct PersistMeasured : PersistCounts {
  std::uint64_t resident_before = 0;
  std::uint64_t resident = 0;
  double full_mean = 0;
  double dirty_mean = 0;
  double drain_mean = 0;
  double queue_mean = 0;
  double queue_max = 0;
};

inline constexpr std::array kPersistMeasures{
    measure<PersistMeasured, &PersistMeasured::persists>("persists", "", "writes that it took"),
    measure<PersistMeasured, &PersistMeasured::coalesced>(
        "coalesced", "", "writes that it took to a line that was Dirty there"),
    measure<PersistMeasured, &PersistMeasured::drains>("drains", "",
                                                       "lines that it began to write to memory"),
    measure<PersistMeasured, &PersistMeasured::drained>("drained", "", "lines that memory has answered for"),
    measure<&PersistMeasured::resident_before>("resident_before", "",
                                               "entries that were not Empty when the window opened"),
    measure<&PersistMeasured::resident>(
        "resident", "",
        "entries that were not Empty when it closed: resident_before + persists = coalesced + drained + "
        "resident"),
    measure<PersistMeasured, &PersistMeasured::read_hits>("read_hits", "", "reads that it answered"),
    measure<PersistMeasured, &PersistMeasured::detours>(
        "detours", "",
        "reads and atomic operations that came for a line which was gone when their turn came"),
    measure<PersistMeasured, &PersistMeasured::held_reads>(
        "held_reads", "",
        "reads of a line of which it had a part, and atomic operations, that waited until it was drained"),
    measure<PersistMeasured, &PersistMeasured::stalls>(
        "stalls", "", "writes that found no Empty entry when their turn came"),
    measure<PersistMeasured, &PersistMeasured::full_mean>("entries_mean", "",
                                                          "entries that are not Empty, mean over time"),
    measure<PersistMeasured, &PersistMeasured::dirty_mean>("dirty_mean", "", "Dirty entries, mean over time"),
    measure<PersistMeasured, &PersistMeasured::drain_mean>("drain_mean", "",
                                                           "entries in Drain, mean over time"),
    measure<PersistMeasured, &PersistMeasured::queue_mean>(
        "queue_mean", "", "messages that wait in its input queue, mean over time"),
    measure<PersistMeasured, &PersistMeasured::queue_max>(
        "queue_max", "", "messages that wait in its input queue, largest number"),
};

class PersistBuffer : public EventHandler, public PersistDomain, private Waiter {
 public:
  /// What leaves it passes the pipeline of its switch, which takes `switching_time`, and the core's queues.
  PersistBuffer(const PersistBufferParams& params, Time switching_time, SwitchCore& core, Component& owner,
                SystemContext& system_context);

  std::string name() const override { return component_.name(); }
  /// Takes a message that has come in by a port, charged up to now, if it is the buffer's; all others go on.
  bool take(Message& message) {
    if (!entries_.owns(message) && (!message.persistent || !is_request(message) || !concerns(message)))
      return false;
    take_in(message);
    return true;
  }
  /// It is one of the buffer's own.
  bool owns(const Message& message) const { return entries_.owns(message); }
  void report_drains_to(RequestObserver& observer) override { observer_ = &observer; }

  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void open(Time at);
  void close(Time at);
  Value report() const;
  void resources(ResourceSink& sink) const;
  std::string activity() const;
  const PersistEntries& entries() const override { return entries_; }
  void begin_recovery() override { recovering_ = true; }
  void recover(const KeptLine& kept) override;

 protected:
  // Rules without which a buffer loses data or gives old ones: docs/model/persist.md says why. Each has a
  // function.

  /// It has to do with a request to persistent memory: a read waits also behind a write of its line in the
  /// input queue.
  virtual bool concerns(const Message& message) const;
  /// A whole message comes that is the buffer's. A read is answered from entries alone: what is queued may be
  /// lost.
  virtual void come(Message& message);
  /// The Dirty entry of its line, or an Empty one beside one in Drain; null: there is none.
  virtual PersistEntry* entry_for(const Message& message);
  /// Notes in the entry the bytes that are written, and gives its drain a tag of the buffer's.
  virtual void store(const Message& message, PersistEntry& entry, Time at);
  virtual void drain_if_due(PersistEntry& stored);
  /// The entry stays in Drain until memory has answered.
  virtual void drain_sent(PersistEntry& entry);
  virtual PersistEntry& entry_of(const Message& answer);
  /// The answer needs no turn in the input queue.
  virtual void drain_answered(Message& answer);
  /// It is the turn of the first in the input queue. False: it waits for an entry.
  virtual bool serve_next(Message& first);

  PersistEntries& own_entries() { return entries_; }
  const MessageQueue& queue() const { return queue_; }
  void enqueue(Message& message);
  void leave_queue(Message& message);
  void serve();
  void answer(Message& message, Opcode opcode, Time at);
  void end_drain(PersistEntry& entry);

 private:
  enum Wake : std::uint8_t { kWhole, kServe, kDepart, kDrainDepart };
  /// A line of writes in the input queue.
  struct Queued {
    std::uint64_t line = 0;  // and one; 0: the cell is empty
    std::uint32_t writes = 0;
    std::uint64_t key() const { return line; }
  };

  const EventHandler& owner() const override { return component_; }
  void take_in(Message& message);
  void arrive(Message& message);
  void admit(Message& message);
  bool write(Message& message);
  void read(Message& message);
  void hold(Message& message, PersistEntry& newest);
  void drain(PersistEntry& entry, Time at);
  void answered(Message& message);
  void served_until(Message& message, Time end);
  void depart_at(Message& message, Time at, Wake how = kDepart);
  void note_queued(const Message& message, bool joins);
  void count_entries();
  void leave(Message& message);

  PersistBufferParams params_;
  std::uint32_t drain_from_;
  std::uint32_t drain_to_;
  Time switching_time_;
  SwitchCore& core_;
  Component& component_;
  SystemContext& system_context_;
  Kernel& kernel_;
  EventSource source_;
  RequestObserver* observer_ = nullptr;

  PersistEntries entries_;
  MessageQueue queue_;               // the input queue
  std::uint32_t queued_ = 0;         // messages in it
  FlatTable<Queued> queued_writes_;  // lines of writes there
  MessageQueue outside_;             // what waits for a place in it
  std::uint32_t outside_count_ = 0;
  Time free_at_;          // the controller is busy until then
  bool awaited_ = false;  // an event comes at that time
  bool stalled_ = false;  // the first in the queue waits for an Empty entry
  bool recovering_ = false;
  WaitList empty_wanted_;
  WaitList place_wanted_;
  struct Outside final : public Waiter {
    explicit Outside(const Component& device) : component(device) {}
    const EventHandler& owner() const override { return component; }
    const Component& component;
  } waits_outside_;

  Windowed<PersistCounts> counts_{kernel_};
  std::uint64_t resident_before_ = 0;  // when the window opened
  std::uint64_t resident_ = 0;         // when it closed
  LevelMonitor full_level_;
  LevelMonitor dirty_level_;
  LevelMonitor drain_level_;
  LevelMonitor queue_level_;
};

}  // namespace cxloom
