// A persist buffer: the part of a switch that makes writes to persistent memory durable on their way, answers
// them, and writes memory in the background. docs/model/persist.md says what it does with which message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/flat_table.hpp"
#include "base/value.hpp"
#include "component/component.hpp"
#include "device/switch/emptied_memories.hpp"
#include "device/switch/persist_domain.hpp"
#include "device/switch/persist_entries.hpp"
#include "device/switch/persist_measures.hpp"
#include "device/switch/persist_params.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/error_answer.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class ResourceSink;
class SwitchCore;
struct SystemContext;
class RequestObserver;

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
  void open(Time at) { measures_.open(at, entries_); }
  void close(Time at) { measures_.close(at, entries_); }
  Value report() const { return measures_.report(lines_lost()); }
  void resources(ResourceSink& sink) const { PersistMeasures::resources(params_, sink); }
  std::string activity() const {
    const std::uint32_t waiting = queued_ + outside_count_;
    if (waiting == 0 && entries_.draining() == 0) return {};
    return counted(waiting, "message") + " waiting for its persist buffer, " +
           counted(entries_.draining(), "line") + " being written to memory";
  }
  const PersistEntries& entries() const override { return entries_; }
  void begin_recovery() override { recovering_ = true; }
  void recover(const KeptLine& kept) override;
  void empty_of(NodeId memory, LinesLeaving& leaving) override;
  void end_emptying(NodeId memory) override { emptied_.remove(memory); }

  // Where something fails (docs/model/failures.md).

  /// The routes have changed. `failed`: its switch loses what it holds, but for the entries.
  void routes_changed(bool failed);
  void try_again() override;
  std::uint64_t lines_lost() const override { return failed_ ? entries_.dirty() + entries_.draining() : 0; }
  /// No way leads on for one of its own messages.
  void has_no_way(const Message& drain) { drain_failed(entries_.entry_of_drain(drain), false); }

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
  virtual void drain_sent(PersistEntry& entry) { leave(entry.drain); }
  virtual PersistEntry& entry_of(const Message& answer) { return entries_.at(answer.tag); }
  /// The answer needs no turn in the input queue.
  virtual void drain_answered(Message& answer);
  /// The answer is an error: the entry has its data still, and is drained again when that may end otherwise.
  /// `may_help`: at once, if something has changed since it began.
  virtual void drain_failed(PersistEntry& entry, bool may_help);
  /// Its switch fails: the entries survive.
  virtual void lose_contents();
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
  bool stall();
  void read(Message& message);
  void hold(Message& message, PersistEntry& newest);
  Time held_until(Message& message) const;
  void drain(PersistEntry& entry, Time at);
  /// Its line does not stay for reads and for coalescing.
  bool drains_soon(const PersistEntry& entry) const {
    return params_.policy == DrainPolicy::kDrain || emptied_.has(entry.home);
  }
  void answered(Message& message);
  void served_until(Message& message, Time end);
  void depart_at(Message& message, Time at, Wake how = kDepart);
  void note_queued(const Message& message, bool joins);
  void leave(Message& message);
  void refuse(Message& message);
  void refuse_held(PersistEntry& entry);
  void lose(Message& message);

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
  EmptiedMemories emptied_;
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

  bool failed_ = false;        // its switch has
  std::uint64_t changes_ = 0;  // after which a drain that has failed may end otherwise
  PersistMeasures measures_;
};

}  // namespace cxloom
