#include "device/requester/host_replicator.hpp"

#include "component/component_time.hpp"

namespace cxloom {

HostReplicator::HostReplicator(Endpoint& endpoint, ReplicaSets& sets)
    : Agent(endpoint),
      sets_(sets),
      replicator_(sets, endpoint.kernel(), endpoint.id(), *this, *this),
      completions_(endpoint.put_before(Channel::kS2MNDR, *this)),
      data_(endpoint.put_before(Channel::kS2MDRS, *this)),
      wanted_(endpoint.kernel(), "an entry for a write that copies lack", *this) {
  endpoint.send_as_ready();
}

void HostReplicator::take(Message& message, Time ready) {
  if (ready > endpoint().now()) {
    endpoint().kernel().schedule(ready, replicator_.source(), *this, 0, payload_of(message));
  } else {
    begin(message);
  }
}

void HostReplicator::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  begin(object_of<Message>(payload));
}

// A host that is answered early goes on, and would write ever more that a slow copy lacks.
void HostReplicator::begin(Message& message) {
  ReplicaSet& set = *sets_.find(message.address);
  if (message.opcode == Opcode::kMemWr && set.answers_early()) {
    if (used_ == entries_) {
      if (outside_.empty()) wanted_.join(*this, endpoint().now());
      outside_.push(message);
      return;
    }
    ++used_;
  }
  replicator_.request(message, set);
}

void HostReplicator::write_ended(const ReplicaSet& set) {
  if (!set.answers_early()) return;
  --used_;
  if (outside_.empty()) return;
  Message& next = outside_.pop();
  if (outside_.empty()) wanted_.leave(*this);
  next.charge(Segment::kRequesterQueue, endpoint().now());
  begin(next);
}

void HostReplicator::receive(Message& message) {
  const ReplicaSet* const set = sets_.find(message.address);
  if (!set || !set->params().by_hosts()) {
    (message.channel == Channel::kS2MNDR ? completions_ : data_)->receive(message);
    return;
  }
  endpoint().release(message, endpoint().now());
  replicator_.answer(message);
}

void HostReplicator::send_replicated(Message& message) { transmit(message, endpoint().now()); }

void HostReplicator::finish_replicated(Message& answer) {
  Endpoint::send_within(answer, answer.channel == Channel::kS2MNDR ? *completions_ : *data_);
}

}  // namespace cxloom
