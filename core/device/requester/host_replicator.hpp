// The requests of a host or an accelerator to replicated regions: it sends one write for each copy itself.
#pragma once

#include <cstdint>
#include <string>

#include "component/endpoint.hpp"
#include "component/replica_set.hpp"
#include "device/context/replicator.hpp"

namespace cxloom {

class HostReplicator final : public Agent, public RequestTaker, private Replicator::Way {
 public:
  /// Takes the answers that come to the device, and passes on what is not its own.
  HostReplicator(Endpoint& endpoint, ReplicaSets& sets);

  void take(Message& message, Time ready) override;
  void write_on(Message& message, ReplicaSet& set) override { replicator_.write(message, set); }
  void resynchronise(ReplicaSet& set, std::size_t from, std::size_t to) override {
    replicator_.resynchronise(set, from, to);
  }
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  void send_replicated(Message& message) override;
  void finish_replicated(Message& answer) override;

  ReplicaSets& sets_;
  Replicator replicator_;
  Agent* completions_;  // answers without data that are not its own go there
  Agent* data_;         // answers with data do
};

}  // namespace cxloom
