#include "device/switch/persist_buffer.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "component/component_time.hpp"
#include "component/resource.hpp"
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
      waits_outside_(owner) {
  kernel_.measure(*this, full_level_, dirty_level_, drain_level_, queue_level_);
}

// ---- Into the input queue

bool PersistBuffer::concerns(const Message& message) const {
  if (recovering_) return false;
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
  queue_level_.change(kernel_.now(), +1);
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
  queue_level_.change(kernel_.now(), -1);
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
    ++counts_->coalesced;
    return newest;
  }
  return entries_.has_empty() ? &entries_.take(line) : nullptr;
}

bool PersistBuffer::write(Message& message) {
  PersistEntry* const entry = entry_for(message);
  if (!entry) {
    if (std::exchange(stalled_, true)) return false;
    ++counts_->stalls;
    empty_wanted_.join(*this, kernel_.now());
    if (PersistEntry* const victim = entries_.victim()) {
      drain(*victim, kernel_.now());
      count_entries();
    }
    return false;
  }
  if (std::exchange(stalled_, false)) empty_wanted_.leave(*this);
  leave_queue(message);
  ++counts_->persists;
  const Time end = kernel_.now() + params_.tag_time + params_.data_time;
  store(message, *entry, end);
  served_until(message, end);
  answer(message, Opcode::kCmp, end);
  drain_if_due(*entry);
  count_entries();
  return true;
}

void PersistBuffer::store(const Message& message, PersistEntry& entry, Time at) {
  entry.bytes |= bytes_of(message.address, message.size);
  entry.stored = at;
  entry.version = message.version;
  entries_.touch(entry);
  Message& drain = entry.drain;
  drain.destination = message.destination;
  drain.requester = message.requester;
  drain.tag = entries_.index_of(entry);
  drain.set_ld(message.ld());
}

void PersistBuffer::drain_if_due(PersistEntry& stored) {
  if (params_.policy == DrainPolicy::kDrain) {
    if (!stored.older) drain(stored, stored.stored);
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
    ++counts_->detours;
    served_until(message, now + params_.tag_time);
    depart_at(message, now + params_.tag_time);
    return;
  }
  const LineBytes wanted = bytes_of(message.address, message.size);
  const LineBytes here = newest->bytes | (newest->older ? newest->older->bytes : 0);
  if (message.opcode == Opcode::kMemAtomic || (wanted & ~here) != 0) return hold(message, *newest);
  ++counts_->read_hits;
  const Time end = now + params_.tag_time + params_.data_time;
  if (newest->state == PersistEntry::State::kDirty) entries_.touch(*newest);
  message.version = newest->version;
  served_until(message, end);
  answer(message, Opcode::kMemData, end);
}

void PersistBuffer::hold(Message& message, PersistEntry& newest) {
  ++counts_->held_reads;
  const Time end = kernel_.now() + params_.tag_time;
  served_until(message, end);
  newest.held.push(message);
  newest.wanted = true;
  if (newest.state == PersistEntry::State::kDirty && !newest.older) drain(newest, end);
  count_entries();
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
  ++counts_->drains;
  Message& message = entry.drain;
  const auto first = static_cast<unsigned>(std::countr_zero(entry.bytes));
  message.address = Address{entry.line.address().value() + first};
  const auto beyond = static_cast<unsigned>(std::countl_zero(entry.bytes));
  message.size = static_cast<std::uint16_t>(kLineBytes - first - beyond);
  message.opcode = Opcode::kMemWr;
  message.channel = Channel::kM2SRwD;
  message.source = component_.id();
  message.age = kernel_.now();
  message.tail = Time{};
  message.virtual_channel = 0;
  message.hops = 0;
  message.failed = false;
  message.persistent = true;
  message.version = entry.version;
  depart_at(message, std::max(at, entry.stored), kDrainDepart);
}

void PersistBuffer::drain_sent(PersistEntry& entry) { leave(entry.drain); }

void PersistBuffer::recover(const KeptLine& kept) {
  PersistEntry& entry = entries_.take(kept.line);
  entry.bytes = kept.bytes;
  entry.version = kept.version;
  entry.stored = kernel_.now();
  entry.drain.destination = kept.home;
  entry.drain.requester = kept.requester;
  entry.drain.tag = entries_.index_of(entry);
  entry.drain.set_ld(kept.ld);
  drain(entry, kernel_.now());
}

PersistEntry& PersistBuffer::entry_of(const Message& answer) { return entries_.at(answer.tag); }

void PersistBuffer::answered(Message& message) {
  core_.release(vc_of(message), message.port, kernel_.now());
  ensure(!message.failed, "a drain that was answered with an error");
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
  ++counts_->drained;
  if (newer && (newer->wanted || params_.policy == DrainPolicy::kDrain)) drain(*newer, kernel_.now());
  count_entries();
  while (!held.empty()) {
    Message& message = held.pop();
    const Time at =
        std::max(kernel_.now(), message.account ? message.account->mark() : Time{});  // its look-up ends
    message.charge(Segment::kPersistQueue, at);
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

// ---- Measuring

void PersistBuffer::count_entries() {
  const Time now = kernel_.now();
  const auto set = [now](LevelMonitor& monitor, std::uint32_t level) {
    monitor.change(now, static_cast<std::int32_t>(level) - static_cast<std::int32_t>(monitor.level()));
  };
  set(full_level_, entries_.dirty() + entries_.draining());
  set(dirty_level_, entries_.dirty());
  set(drain_level_, entries_.draining());
}

void PersistBuffer::open(Time /*at*/) { resident_before_ = entries_.dirty() + entries_.draining(); }

void PersistBuffer::close(Time /*at*/) { resident_ = entries_.dirty() + entries_.draining(); }

void PersistBuffer::resources(ResourceSink& sink) const {
  const auto places = [&](std::string name, const char* parameter, std::uint32_t count, const char* measure) {
    sink.add({.name = std::move(name),
              .stage = Stage::kWay,
              .capacity = count,
              .occupancy = Occupancy::kLevel,
              .measures = {std::string("per_switch.*.persist_buffer.") + measure},
              .wait = Segment::kPersistQueue,
              .counts = Traffic::kWrites,
              .part = "switch",
              .twice = {doubled(std::string("persist_buffer.") + parameter, count)},
              .twice_text = std::to_string(2 * std::uint64_t{count}) + " places"});
  };
  places("the persist buffer of", "entries", params_.entries, "entries_mean");
  if (params_.queue)
    places("the input queue of the persist buffer of", "queue", *params_.queue, "queue_mean");
}

Value PersistBuffer::report() const {
  PersistMeasured measured{counts_.window()};
  measured.resident_before = resident_before_;
  measured.resident = resident_;
  measured.full_mean = full_level_.mean();
  measured.dirty_mean = dirty_level_.mean();
  measured.drain_mean = drain_level_.mean();
  measured.queue_mean = queue_level_.mean();
  measured.queue_max = queue_level_.maximum();
  return map_of(kPersistMeasures, measured);
}

std::string PersistBuffer::activity() const {
  const std::uint32_t waiting = queued_ + outside_count_;
  if (waiting == 0 && entries_.draining() == 0) return {};
  return counted(waiting, "message") + " waiting for its persist buffer, " +
         counted(entries_.draining(), "line") + " being written to memory";
}

}  // namespace cxloom
