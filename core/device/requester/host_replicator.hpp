// The requests of a host or an accelerator to replicated regions: it sends one write for each copy itself.
#pragma once

#include <cstdint>
#include <string>

#include "component/endpoint.hpp"
#include "component/replica_set.hpp"
#include "device/context/replicator.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class HostReplicator final : public Agent, public RequestTaker, private Replicator::Way, private Waiter {
 public:
  /// Takes the answers that come to the device, and passes on what is not its own.
  HostReplicator(Endpoint& endpoint, ReplicaSets& sets);
  /// So many more writes may be under way that are answered before all copies have them.
  void add_entries(std::uint32_t entries) { entries_ += entries; }

  void take(Message& message, Time ready) override;
  void write_on(Message& message, ReplicaSet& set) override { replicator_.write(message, set); }
  void resynchronise(ReplicaSet& set, std::size_t from, std::size_t to) override {
    replicator_.resynchronise(set, from, to);
  }
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  const EventHandler& owner() const override { return *this; }
  void begin(Message& message);
  void write_ended(const ReplicaSet& set) override;
  void send_replicated(Message& message) override;
  void finish_replicated(Message& answer) override;

  ReplicaSets& sets_;
  Replicator replicator_;
  Agent* completions_;  // answers without data that are not its own go there
  Agent* data_;         // answers with data do
  std::uint32_t entries_ = 0;
  std::uint32_t used_ = 0;  // of these
  MessageQueue outside_;    // writes that wait for one
  WaitList wanted_;
};

}  // namespace cxloom
