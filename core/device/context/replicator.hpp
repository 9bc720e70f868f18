// Sends the writes of replicated regions to all copies, and reads to one that is whole: at a host, or in a
// switch. docs/model/replication.md has the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/flat_table.hpp"
#include "base/units.hpp"
#include "component/replica_set.hpp"
#include "kernel/event_source.hpp"
#include "kernel/pool.hpp"
#include "protocol/account.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class Kernel;
class ReplicaResync;

class Replicator {
 public:
  /// The device that it is in.
  class Way {
   public:
    /// Sends a message of its own, which is ready now.
    virtual void send_replicated(Message& message) = 0;
    /// Gives a request back as its answer, to who sent it.
    virtual void finish_replicated(Message& answer) = 0;
    /// A write of that set has its last answer.
    virtual void write_ended(const ReplicaSet& /*set*/) {}
    /// The device has failed, and with it a request that it had: its requester waits for its timeout.
    /// `again`: the message is lost already.
    virtual void lose_replicated(Message& /*request*/, bool /*again*/) {}

   protected:
    ~Way() = default;
  };

  Replicator(ReplicaSets& sets, Kernel& kernel, NodeId node, RequestTaker& taker, Way& way);
  ~Replicator();

  /// A read, or a write, charged up to now.
  void request(Message& message, ReplicaSet& set);
  /// A write that nobody holds up any more.
  void write(Message& message, ReplicaSet& set);
  /// An answer to what it has sent, charged up to now and with its buffer released.
  void answer(Message& message);
  void resynchronise(ReplicaSet& set, std::size_t from, std::size_t to);
  /// The device has failed: it knows nothing of what it has sent, and loses the requests that this was for.
  void fail();

  /// Writes that have not been answered by all copies.
  std::uint64_t writes_under_way() const { return writes_.live(); }

  // For its resynchronisations.

  Kernel& kernel() { return kernel_; }
  EventSource& source() { return source_; }
  ReplicaSets& sets() { return sets_; }
  NodeId node() const { return node_; }
  /// Sends a line's message of `resync`, which has its answer by `answer`.
  void send_line(Message& message) { way_.send_replicated(message); }
  /// Addresses a message to a copy.
  void address(Message& message, const ReplicaSet& set, std::size_t copy, Opcode opcode) const;

 private:
  /// A request that it has sent on itself, with what its answer must restore.
  struct Read {
    const Message* message = nullptr;  // null: the cell is empty
    NodeId source;
    std::uint16_t size = 0;
    std::uint64_t tried = 0;  // copies, bit by bit
    VersionFloors floors;
    std::size_t copy = 0;
    std::uint32_t life = 0;  // in which it was sent
    bool met_failure = false;
    std::uint64_t key() const { return key_of(message); }
  };
  /// A write, which waits for its copies.
  struct Write {
    Write* next = nullptr;
    std::uint32_t index = 0;
    Message* message = nullptr;  // null: it was answered, or nobody knows of it any more
    ReplicaSet* set = nullptr;   // null: there is no write here
    LineAddress line;
    std::uint16_t size = 0;
    std::size_t counted = 0;  // the copy at which it counts, once it is answered
    std::uint32_t pending = 0;
    std::uint64_t stored = 0;  // by these copies, bit by bit
    bool met_failure = false;
    bool forgotten = false;     // the device has failed since
    std::optional<Time> early;  // it was answered then, before all copies had it
  };
  struct Copy {
    Copy* next = nullptr;  // of its write, until it is sent
    std::uint32_t index = 0;
    Message message;
    Account account;
    Write* write = nullptr;
    std::size_t replica = 0;
  };

  static std::uint64_t key_of(const Message* message) { return reinterpret_cast<std::uintptr_t>(message); }
  void read(Message& message, ReplicaSet& set);
  void send_read(Message& message, const ReplicaSet& set, Read& read);
  void was_read(Message& message);
  void forgotten(Message& message, const Read& read);
  void forgotten(Copy& copy);
  Copy& copy_of(Write& write, std::size_t replica);
  void copied(Copy& copy);
  bool is_enough(const Write& write) const;
  void answer_write(Write& write, const Copy& by, bool stored);
  void count_copies(const Write& write) const;
  void end_write(Write& write);
  void check_kept(const Write& write) const;
  std::optional<std::size_t> reader(const ReplicaSet& set, LineAddress line, std::uint64_t tried) const;

  ReplicaSets& sets_;
  Kernel& kernel_;
  EventSource source_;
  NodeId node_;
  RequestTaker& taker_;
  Way& way_;
  std::uint32_t life_ = 0;  // how often it has failed
  FlatTable<Read> reads_;   // under way
  Pool<Write> writes_;
  std::unordered_map<std::uint64_t, std::vector<const Write*>> by_line_;  // writes that may be answered early
  Pool<Copy> copies_;
  std::vector<std::unique_ptr<ReplicaResync>> resyncs_;  // all that were begun
};

}  // namespace cxloom
