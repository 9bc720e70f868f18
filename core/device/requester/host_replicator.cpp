#include "device/requester/host_replicator.hpp"

#include "component/component_time.hpp"

namespace cxloom {

HostReplicator::HostReplicator(Endpoint& endpoint, ReplicaSets& sets)
    : Agent(endpoint),
      sets_(sets),
      replicator_(sets, endpoint.kernel(), endpoint.id(), *this, *this),
      completions_(endpoint.put_before(Channel::kS2MNDR, *this)),
      data_(endpoint.put_before(Channel::kS2MDRS, *this)) {
  endpoint.send_as_ready();
}

void HostReplicator::take(Message& message, Time ready) {
  if (ready > endpoint().now()) {
    endpoint().kernel().schedule(ready, replicator_.source(), *this, 0, payload_of(message));
  } else {
    replicator_.request(message, *sets_.find(message.address));
  }
}

void HostReplicator::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  Message& message = object_of<Message>(payload);
  replicator_.request(message, *sets_.find(message.address));
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
