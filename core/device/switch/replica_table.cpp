#include "device/switch/replica_table.hpp"

#include <algorithm>
#include <utility>

#include "component/component_time.hpp"
#include "component/endpoint.hpp"
#include "component/failures.hpp"
#include "component/resource.hpp"
#include "device/switch/core.hpp"
#include "protocol/error_answer.hpp"
#include "protocol/protocol_observer.hpp"

namespace cxloom {

ReplicaTable::ReplicaTable(ReplicaSets& sets, SwitchCore& core, Component& owner,
                           SystemContext& system_context)
    : sets_(sets),
      core_(core),
      component_(owner),
      system_context_(system_context),
      replicator_(sets, owner.kernel(), owner.id(), *this, *this),
      wanted_(owner.kernel(), "an entry of the table of replicated writes", owner),
      counts_(owner.kernel()) {
  owner.kernel().measure(entries_level_, waiting_level_);
}

// What it was answered itself has come in by no port.
void ReplicaTable::release(const Message& message, Time at) {
  if (message.port < component_.port_count()) core_.release(vc_of(message), message.port, at);
}

void ReplicaTable::come(Message& message) {
  if (is_request(message)) {
    if (!failed_) return take(message, component_.now());
    release(message, component_.now() + message.tail);
    return system_context_.failures->lose(message, component_.now());
  }
  release(message, component_.now() + message.tail);
  replicator_.answer(message);
}

// A write that finds the table full keeps the receive buffer of its port.
void ReplicaTable::take(Message& message, Time /*ready*/) {
  message.since = component_.now() + message.tail;  // then it is whole
  if (message.opcode == Opcode::kMemWr && used_ == entries_) {
    ++counts_->stalls;
    if (outside_.empty()) wanted_.join(*this, component_.now());
    outside_.push(message);
    ++waiting_;
    waiting_level_.change(component_.now(), +1);
    return;
  }
  begin(message);
}

void ReplicaTable::begin(Message& message) {
  release(message, component_.now() + message.tail);
  message.port = Endpoint::kInside;
  if (message.opcode == Opcode::kMemWr) {
    ++used_;
    ++counts_->writes;
    entries_level_.change(component_.now(), +1);
  }
  replicator_.request(message, *sets_.find(message.address));
}

void ReplicaTable::write_on(Message& message, ReplicaSet& set) {
  message.tail = std::max(Time{}, message.since - component_.now());
  replicator_.write(message, set);
}

void ReplicaTable::write_ended(const ReplicaSet& /*set*/) {
  --used_;
  entries_level_.change(component_.now(), -1);
  if (outside_.empty()) return;
  Message& next = outside_.pop();
  --waiting_;
  waiting_level_.change(component_.now(), -1);
  if (outside_.empty()) wanted_.leave(*this);
  next.charge(Segment::kSwitchQueue, component_.now());
  next.tail = std::max(Time{}, next.since - component_.now());
  begin(next);
}

// Copies may differ in the lines of writes that it has lost, and it does not know which these are.
void ReplicaTable::set_failed(bool failed) {
  if (std::exchange(failed_, failed) == failed) return;
  sets_.set_failed(component_.id(), failed);
  if (!failed) return;
  const Time now = component_.now();
  if (!outside_.empty()) wanted_.leave(*this);
  while (!outside_.empty()) {
    Message& message = outside_.pop();
    release(message, now);
    message.port = Endpoint::kInside;
    message.charge(Segment::kSwitchQueue, now);
    lose_replicated(message, false);
  }
  replicator_.fail();
  for (const auto& set : sets_.all()) {
    if (set->taker_at(component_.id()) != this) continue;
    for (Message* const message : set->abandon_waiting()) lose_replicated(*message, false);
    set->switch_failed(now);
  }
  waiting_level_.change(now, -static_cast<int>(std::exchange(waiting_, 0)));
  entries_level_.change(now, -static_cast<int>(std::exchange(used_, 0)));
}

void ReplicaTable::lose_replicated(Message& request, bool again) {
  if (again) return system_context_.failures->ends_later(request, component_.now());
  system_context_.failures->lose_inside(request, component_.now());
}

void ReplicaTable::answered_here(Message& message) {
  message.port = Endpoint::kInside;
  component_.kernel().schedule(component_.now(), replicator_.source(), *this, 0, payload_of(message));
}

void ReplicaTable::wake(std::uint8_t /*kind*/, std::uint64_t payload) { come(object_of<Message>(payload)); }

void ReplicaTable::send_replicated(Message& message) {
  if (system_context_.observer) [[unlikely]]
    system_context_.observer->sent(message, component_.now());
  core_.inject(message);
}

Value ReplicaTable::report() const {
  ReplicaTableMeasured measured{counts_.window()};
  measured.entries_mean = entries_level_.mean();
  measured.waiting_mean = waiting_level_.mean();
  return map_of(kReplicaTableMeasures, measured);
}

void ReplicaTable::resources(ResourceSink& sink) const {
  sink.add({.name = "the table of replicated writes of",
            .stage = Stage::kWay,
            .capacity = entries_,
            .occupancy = Occupancy::kLevel,
            .measures = {"per_switch.*.replication.entries_mean"},
            .wait = Segment::kSwitchQueue,
            .counts = Traffic::kWrites,
            .part = "switch"});
}

std::string ReplicaTable::activity() const {
  if (used_ == 0 && waiting_ == 0) return {};
  return counted(used_, "write") + " under way to all copies, " + std::to_string(waiting_) +
         " waiting for an entry";
}

}  // namespace cxloom
