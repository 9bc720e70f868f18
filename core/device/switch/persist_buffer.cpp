#include "device/switch/persist_buffer.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "component/component_time.hpp"
#include "component/failures.hpp"
#include "component/system_context.hpp"
#include "device/switch/core.hpp"
#include "device/switch/persist_domain.hpp"
#include "kernel/event_handler.hpp"
#include "protocol/protocol_observer.hpp"
#include "protocol/request_observer.hpp"

namespace cxloom {

namespace {

bool is_write(const Message& message) { return message.opcode == Opcode::kMemWr; }

std::uint64_t queued_key(const Message& message) { return LineAddress::of(message.address).number() + 1; }

}  // namespace

PersistBuffer::PersistBuffer(const PersistBufferParams& params, Time switching_time, SwitchCore& core,
                             Component& owner, SystemContext& system_context)
    : params_(params),
      drain_from_(params.share(params.drain_from)),
      drain_to_(params.share(params.drain_to)),
      switching_time_(switching_time),
      core_(core),
      component_(owner),
      system_context_(system_context),
      kernel_(owner.kernel()),
      source_(kernel_.new_source()),
      entries_(params.entries),
      empty_wanted_(kernel_, "an Empty entry of the persist buffer", owner),
      place_wanted_(kernel_, "a place in the input queue of the persist buffer", owner),
      waits_outside_(owner),
      measures_(kernel_) {
  measures_.join_window(*this);
}

// ---- Into the input queue

bool PersistBuffer::concerns(const Message& message) const {
  if (recovering_ || failed_) return false;
  if (is_write(message) || entries_.newest(LineAddress::of(message.address))) return true;
  return queued_ > 0 && queued_writes_.find(queued_key(message)) != nullptr;
}

// It needs the last byte.
void PersistBuffer::take_in(Message& message) {
  if (message.tail == Time{}) return come(message);
  const Time whole = kernel_.now() + std::exchange(message.tail, Time{});
  message.charge(Segment::kSerialization, whole);
  kernel_.schedule(whole, source_, *this, kWhole, payload_of(message));
}

void PersistBuffer::come(Message& message) {
  if (entries_.owns(message)) {
    answered(message);
  } else {
    arrive(message);
  }
}

void PersistBuffer::arrive(Message& message) {
  if (failed_) {  // while its last bytes came
    core_.release(vc_of(message), message.port, kernel_.now());
    return lose(message);
  }
  if (params_.queue && queued_ >= *params_.queue) {
    if (outside_.empty()) place_wanted_.join(waits_outside_, kernel_.now());
    outside_.push(message);
    ++outside_count_;
    return;
  }
  admit(message);
  serve();
}

void PersistBuffer::admit(Message& message) {
  core_.release(vc_of(message), message.port, kernel_.now());
  enqueue(message);
}

void PersistBuffer::enqueue(Message& message) {
  ++queued_;
  measures_.queued(+1);
  note_queued(message, true);
  queue_.push(message);
}

void PersistBuffer::note_queued(const Message& message, bool joins) {
  if (!is_write(message)) return;
  const std::uint64_t key = queued_key(message);
  if (joins) {
    Queued& line = queued_writes_.place(key);
    line.line = key;
    ++line.writes;
  } else if (--queued_writes_.at(key).writes == 0) {
    queued_writes_.erase(key);
  }
}

// ---- The controller

void PersistBuffer::serve() {
  while (!queue_.empty()) {
    if (free_at_ > kernel_.now()) {
      if (!std::exchange(awaited_, true)) kernel_.schedule(free_at_, source_, *this, kServe, 0);
      return;
    }
    if (!serve_next(queue_.front())) return;
  }
}

bool PersistBuffer::serve_next(Message& first) {
  if (is_write(first)) return write(first);
  leave_queue(first);
  read(first);
  return true;
}

void PersistBuffer::leave_queue(Message& message) {
  queue_.pop();
  --queued_;
  measures_.queued(-1);
  note_queued(message, false);
  if (outside_.empty()) return;
  Message& next = outside_.pop();
  --outside_count_;
  if (outside_.empty()) place_wanted_.leave(waits_outside_);
  next.charge(Segment::kPersistQueue, kernel_.now());
  admit(next);
}

PersistEntry* PersistBuffer::entry_for(const Message& message) {
  const LineAddress line = LineAddress::of(message.address);
  PersistEntry* const newest = entries_.newest(line);
  if (newest && newest->state == PersistEntry::State::kDirty) {
    ++measures_->coalesced;
    return newest;
  }
  return entries_.has_empty() ? &entries_.take(line) : nullptr;
}

bool PersistBuffer::write(Message& message) {
  PersistEntry* const entry = entry_for(message);
  if (!entry && stall()) return false;
  if (std::exchange(stalled_, false)) empty_wanted_.leave(*this);
  leave_queue(message);
  if (!entry) {
    refuse(message);
    return true;
  }
  ++measures_->persists;
  const Time end = kernel_.now() + params_.tag_time + params_.data_time;
  store(message, *entry, end);
  served_until(message, end);
  answer(message, Opcode::kCmp, end);
  drain_if_due(*entry);
  measures_.count(entries_);
  return true;
}

// The first in the queue waits for an Empty entry. False: none becomes Empty, as all drains have failed.
bool PersistBuffer::stall() {
  const bool begins = !stalled_;
  PersistEntry* const victim = begins || entries_.draining() == 0 ? entries_.victim() : nullptr;
  if (!victim && entries_.draining() == 0) return false;
  if (begins) {
    stalled_ = true;
    ++measures_->stalls;
    empty_wanted_.join(*this, kernel_.now());
  }
  if (victim) {
    drain(*victim, kernel_.now());
    measures_.count(entries_);
  }
  return true;
}

void PersistBuffer::store(const Message& message, PersistEntry& entry, Time at) {
  entry.bytes |= bytes_of(message.address, message.size);
  entry.stored = at;
  entry.version = message.version;
  entries_.touch(entry);
  Message& drain = entry.drain;
  entry.home = message.destination;
  drain.requester = message.requester;
  drain.tag = entries_.index_of(entry);
  drain.set_ld(message.ld());
}

void PersistBuffer::drain_if_due(PersistEntry& stored) {
  if (drains_soon(stored)) {
    if (!stored.older && !stored.stuck) drain(stored, stored.stored);
    return;
  }
  if (entries_.dirty() <= drain_from_) return;
  while (entries_.dirty() > drain_to_) {
    PersistEntry* const victim = entries_.victim();
    if (!victim) return;
    drain(*victim, stored.stored);
  }
}

void PersistBuffer::read(Message& message) {
  const Time now = kernel_.now();
  PersistEntry* const newest = entries_.newest(LineAddress::of(message.address));
  if (!newest) {
    ++measures_->detours;
    served_until(message, now + params_.tag_time);
    depart_at(message, now + params_.tag_time);
    return;
  }
  const LineBytes wanted = bytes_of(message.address, message.size);
  const LineBytes here = newest->bytes | (newest->older ? newest->older->bytes : 0);
  if (message.opcode == Opcode::kMemAtomic || (wanted & ~here) != 0)
    return newest->stuck ? refuse(message) : hold(message, *newest);
  ++measures_->read_hits;
  const Time end = now + params_.tag_time + params_.data_time;
  if (newest->state == PersistEntry::State::kDirty) entries_.touch(*newest);
  message.version = newest->version;
  served_until(message, end);
  answer(message, Opcode::kMemData, end);
}

void PersistBuffer::hold(Message& message, PersistEntry& newest) {
  ++measures_->held_reads;
  const Time end = kernel_.now() + params_.tag_time;
  served_until(message, end);
  newest.held.push(message);
  newest.wanted = true;
  if (newest.state == PersistEntry::State::kDirty && !newest.older) drain(newest, end);
  measures_.count(entries_);
}

void PersistBuffer::answer(Message& message, Opcode opcode, Time at) {
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  message.destination = message.source;
  message.source = component_.id();
  depart_at(message, at);
}

// The controller works on it from now on.
void PersistBuffer::served_until(Message& message, Time end) {
  message.charge(Segment::kPersistQueue, kernel_.now());
  message.charge(Segment::kPersistBuffer, end);
  free_at_ = end;
}

// ---- Drains

// One message for all bytes from the first to the last, of which some may be none of the entry's.
void PersistBuffer::drain(PersistEntry& entry, Time at) {
  entries_.begin_drain(entry);
  ++measures_->drains;
  Message& message = entry.drain;
  const auto first = static_cast<unsigned>(std::countr_zero(entry.bytes));
  message.address = Address{entry.line.address().value() + first};
  const auto beyond = static_cast<unsigned>(std::countl_zero(entry.bytes));
  message.size = static_cast<std::uint16_t>(kLineBytes - first - beyond);
  message.opcode = Opcode::kMemWr;
  message.channel = Channel::kM2SRwD;
  message.source = component_.id();
  message.destination = entry.home;
  message.age = kernel_.now();
  message.tail = Time{};
  message.virtual_channel = 0;
  message.hops = 0;
  message.failed = message.poisoned = false;
  message.via = kViaUndecided;
  message.persistent = true;
  message.version = entry.version;
  entry.changes = changes_;
  depart_at(message, std::max(at, entry.stored), kDrainDepart);
}

void PersistBuffer::recover(const KeptLine& kept) {
  PersistEntry& entry = entries_.take(kept.line);
  entry.bytes = kept.bytes;
  entry.version = kept.version;
  entry.stored = kernel_.now();
  entry.home = kept.home;
  entry.drain.requester = kept.requester;
  entry.drain.tag = entries_.index_of(entry);
  entry.drain.set_ld(kept.ld);
  drain(entry, kernel_.now());
}

void PersistBuffer::answered(Message& message) {
  if (message.port < component_.port_count())  // or it is the answer that a lost one is given
    core_.release(vc_of(message), message.port, kernel_.now());
  if (message.failed || failed_) return drain_failed(entry_of(message), true);
  if (observer_) observer_->drained(component_.id(), message.source, message.size);
  drain_answered(message);
}

void PersistBuffer::drain_answered(Message& answer) {
  end_drain(entry_of(answer));
  serve();
}

void PersistBuffer::end_drain(PersistEntry& entry) {
  IntrusiveQueue<Message> held = std::exchange(entry.held, {});
  PersistEntry* const newer = entries_.end_drain(entry);
  ++measures_->drained;
  if (newer && (newer->wanted || drains_soon(*newer))) drain(*newer, kernel_.now());
  measures_.count(entries_);
  while (!held.empty()) {
    Message& message = held.pop();
    depart_at(message, held_until(message));
  }
  emptied_.line_left(entry.home);
}

void PersistBuffer::empty_of(NodeId memory, LinesLeaving& leaving) {
  emptied_.add(memory, leaving);
  for (std::uint32_t i = 0; i < entries_.count(); ++i) {
    PersistEntry& entry = entries_.at(i);
    const bool may = entry.state == PersistEntry::State::kDirty && !entry.older && !entry.stuck;
    if (may && entry.home == memory) drain(entry, kernel_.now());
  }
  measures_.count(entries_);
}

// It waits no longer, once its look-up has ended.
Time PersistBuffer::held_until(Message& message) const {
  const Time at = std::max(kernel_.now(), message.account ? message.account->mark() : Time{});
  message.charge(Segment::kPersistQueue, at);
  return at;
}

// ---- Failures

void PersistBuffer::drain_failed(PersistEntry& entry, bool may_help) {
  ++measures_->drain_errors;
  const bool again = may_help && !failed_ && entry.changes != changes_;
  IntrusiveQueue<Message> held = std::exchange(entry.held, {});
  PersistEntry& left = entries_.take_back(entry);
  if (&left != &entry) ++measures_->coalesced;
  while (!held.empty()) left.held.push(held.pop());
  if (again) {
    drain(left, kernel_.now());
  } else {
    left.stuck = true;
    refuse_held(left);
  }
  measures_.count(entries_);
  serve();
}

void PersistBuffer::try_again() {
  ++changes_;
  if (failed_) return;
  for (std::uint32_t i = 0; i < entries_.count(); ++i) {
    PersistEntry& entry = entries_.at(i);
    if (std::exchange(entry.stuck, false)) drain(entry, kernel_.now());
  }
  measures_.count(entries_);
}

void PersistBuffer::routes_changed(bool failed) {
  if (failed && !std::exchange(failed_, true)) lose_contents();
  failed_ = failed;
  try_again();
}

// What is leaving it finds no way out of the switch. An answer to a drain that comes counts for nothing.
void PersistBuffer::lose_contents() {
  if (std::exchange(stalled_, false)) empty_wanted_.leave(*this);
  if (!outside_.empty()) place_wanted_.leave(waits_outside_);
  outside_count_ = 0;
  while (!outside_.empty()) {
    Message& message = outside_.pop();
    core_.release(vc_of(message), message.port, kernel_.now());
    lose(message);
  }
  while (!queue_.empty()) {
    Message& message = queue_.front();
    leave_queue(message);
    lose(message);
  }
  for (std::uint32_t i = 0; i < entries_.count(); ++i) refuse_held(entries_.at(i));
}

void PersistBuffer::lose(Message& message) {
  message.charge(Segment::kPersistQueue, kernel_.now());
  message.virtual_channel = 0;
  system_context_.failures->lose(message, kernel_.now());
}

void PersistBuffer::refuse(Message& message) {
  ++measures_->refused;
  const Time end = kernel_.now() + params_.tag_time;
  served_until(message, end);
  make_error_answer(message, component_.id());
  depart_at(message, end);
}

void PersistBuffer::refuse_held(PersistEntry& entry) {
  while (!entry.held.empty()) {
    ++measures_->refused;
    Message& message = entry.held.pop();
    const Time at = held_until(message);
    make_error_answer(message, component_.id());
    depart_at(message, at);
  }
}

// ---- Out

void PersistBuffer::depart_at(Message& message, Time at, Wake how) {
  kernel_.schedule(at + switching_time_, source_, *this, how, payload_of(message));
}

// Answers and drains are its own messages; what it lets pass is not.
void PersistBuffer::leave(Message& message) {
  if (system_context_.observer && message.source == component_.id()) [[unlikely]]
    system_context_.observer->sent(message, kernel_.now());
  core_.inject(message);
}

void PersistBuffer::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kServe) {
    awaited_ = false;
    serve();
    return;
  }
  auto& message = object_of<Message>(payload);
  switch (kind) {
    case kWhole: come(message); break;
    case kDepart:
      message.charge(Segment::kSwitching, kernel_.now());
      message.virtual_channel = 0;
      leave(message);
      break;
    default: drain_sent(entries_.entry_of_drain(message)); break;
  }
}

}  // namespace cxloom
