#include "device/context/replicator.hpp"

#include <utility>

#include "base/error.hpp"
#include "device/context/replica_resync.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

Replicator::Replicator(ReplicaSets& sets, Kernel& kernel, NodeId node, RequestTaker& taker, Way& way)
    : sets_(sets), kernel_(kernel), source_(kernel.new_source()), node_(node), taker_(taker), way_(way) {}

Replicator::~Replicator() = default;

void Replicator::request(Message& message, ReplicaSet& set) {
  if (message.opcode == Opcode::kMemAtomic) {
    throw InputError({"an atomic operation of a memory that is replicated",
                      to_text(message.address),
                      "atomics: cache at its requester, or a region without replicas",
                      {}});
  }
  if (message.opcode == Opcode::kMemWr) {
    ++set.counts().writes;
    if (set.begin_write(LineAddress::of(message.address), message, taker_)) write(message, set);
  } else {
    ++set.counts().reads;
    read(message, set);
  }
}

void Replicator::address(Message& message, const ReplicaSet& set, std::size_t copy, Opcode opcode) const {
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  message.source = node_;
  message.destination = set.node(copy);
  message.failed = message.poisoned = false;
  message.virtual_channel = 0;
  message.via = kViaUndecided;
  message.set_ld(0);
}

// ---- Reads

void Replicator::read(Message& message, ReplicaSet& set) {
  const LineAddress line = LineAddress::of(message.address);
  Read& read = reads_.place(key_of(&message));
  read = {&message, message.source, message.size, 0, set.floors_of(line), *set.reader(line, 0), life_, false};
  send_read(message, set, read);
}

void Replicator::send_read(Message& message, const ReplicaSet& set, Read& read) {
  read.tried |= std::uint64_t{1} << read.copy;
  address(message, set, read.copy, Opcode::kMemRd);
  message.size = read.size;
  way_.send_replicated(message);
}

// What one copy has not given another may.
void Replicator::was_read(Message& message) {
  ReplicaSet& set = *sets_.find(message.address);
  Read& read = reads_.at(key_of(&message));
  if (read.life != life_) return forgotten(message, read);
  if (message.failed) {
    if (!std::exchange(read.met_failure, true)) ++set.counts().met_failure;
    if (const auto other = set.reader(LineAddress::of(message.address), read.tried)) {
      read.copy = *other;
      message.tail = Time{};
      send_read(message, set, read);
      return;
    }
    ++set.counts().failed;
  }
  set.was_read(message, read.floors);
  message.destination = read.source;
  message.virtual_channel = 0;
  reads_.erase(key_of(&message));
  way_.finish_replicated(message);
}

// It is the request again that came: its requester waits for it.
void Replicator::forgotten(Message& message, const Read& read) {
  const bool lost = message.failed;
  message.opcode = Opcode::kMemRd;
  message.channel = channel_of(Opcode::kMemRd);
  message.source = read.source;
  message.destination = node_;
  message.size = read.size;
  message.failed = message.poisoned = false;
  reads_.erase(key_of(&message));
  way_.lose_replicated(message, lost);
}

// ---- Writes

Replicator::Copy& Replicator::copy_of(Write& write, std::size_t replica) {
  Copy& copy = copies_.take();
  const Message& of = *write.message;
  copy.write = &write;
  copy.replica = replica;
  Message& message = copy.message;
  message.address = of.address;
  message.size = of.size;
  message.tail = of.tail;
  // The clock of its timeout starts with the issue of the request, as that has it.
  message.age = of.age + (of.account ? of.account->of(Segment::kRequesterQueue) : Time{});
  message.requester = of.requester;
  message.version = of.version;
  message.tag = copy.index;
  message.hops = of.hops;
  address(message, *write.set, replica, Opcode::kMemWr);
  if (of.account) {
    copy.account.open(of.account->mark());
    message.account = &copy.account;
  }
  return copy;
}

// What is sent may be answered at once, with an error: all copies are made before.
void Replicator::write(Message& message, ReplicaSet& set) {
  message.charge(Segment::kRetry, kernel_.now());  // its line was being copied
  set.begin_version(message);
  Write& write = writes_.take();
  write.message = &message;
  write.set = &set;
  Copy* first = nullptr;
  Copy** last = &first;
  for (std::size_t replica = 0; replica < set.size(); ++replica) {
    if (set.gets_writes(replica)) {
      *last = &copy_of(write, replica);
      last = &(*last)->next;
      ++write.pending;
    } else {
      set.still_lacks(replica, LineAddress::of(message.address));
    }
  }
  set.counts().copies += write.pending;
  while (first) {
    Message& copy = first->message;
    first = first->next;
    way_.send_replicated(copy);
  }
}

void Replicator::copied(Copy& copy) {
  Write& write = *copy.write;
  if (!write.message) return forgotten(copy);
  ReplicaSet& set = *write.set;
  if (!copy.message.failed) {
    write.stored |= std::uint64_t{1} << copy.replica;
  } else {
    write.met_failure = true;
    if (set.missed(copy.replica, LineAddress::of(copy.message.address), kernel_.now()))
      sets_.has_left(set, copy.replica);
  }
  if (--write.pending == 0) end_write(write, copy);
  copies_.give_back(copy);
}

// The last answer is its answer. It is good if every copy that is whole now has the write.
void Replicator::end_write(Write& write, const Copy& last) {
  ReplicaSet& set = *write.set;
  Message& message = *write.message;
  const std::size_t counted = set.first_whole();  // the write counts there, and elsewhere as a further copy
  bool stored = true;
  for (std::size_t replica = 0; replica < set.size(); ++replica) {
    const bool has = (write.stored >> replica & 1U) != 0;
    if (set.state(replica) == ReplicaSet::State::kWhole && !has) stored = false;
    if (has && replica != counted) sets_.written(node_, set.node(replica), message.size);
  }
  if (message.account) message.account->join(last.account);
  message.tail = last.message.tail;
  message.hops = last.message.hops;
  message.opcode = Opcode::kCmp;
  message.channel = channel_of(Opcode::kCmp);
  message.destination = message.source;
  message.source = set.node(counted);
  message.virtual_channel = 0;
  message.failed = !stored;
  if (!stored) message.size = 0;
  set.counts().met_failure += write.met_failure ? 1 : 0;
  if (stored) {
    set.acknowledged(message);
  } else {
    ++set.counts().failed;
    set.write_failed(message);
  }
  const LineAddress line = LineAddress::of(message.address);
  write.message = nullptr;
  writes_.give_back(write);
  way_.finish_replicated(message);
  set.end_write(line);
  way_.write_ended();
}

// ---- Failure of the device

// What it has sent comes to its end, or is lost, and nobody hears of it. Until then its line is not copied.
void Replicator::fail() {
  ++life_;
  for (std::uint32_t index = 0; Write* const write = writes_.find(index); ++index) {
    if (write->message) way_.lose_replicated(*std::exchange(write->message, nullptr), false);
  }
}

void Replicator::forgotten(Copy& copy) {
  Write& write = *copy.write;
  ReplicaSet& set = *write.set;
  if (!copy.message.failed) sets_.written(node_, set.node(copy.replica), copy.message.size);
  if (--write.pending == 0) {
    set.write_failed(copy.message);
    set.end_write(LineAddress::of(copy.message.address));
    writes_.give_back(write);
  }
  copies_.give_back(copy);
}

// ---- Answers

void Replicator::answer(Message& message) {
  if (message.tag == ReplicaResync::kTag) return ReplicaResync::answered(message);
  if (message.channel == Channel::kS2MNDR) return copied(copies_.at(message.tag));
  was_read(message);
}

void Replicator::resynchronise(ReplicaSet& set, std::size_t from, std::size_t to) {
  resyncs_.push_back(std::make_unique<ReplicaResync>(*this, set, from, to));
  resyncs_.back()->begin();
}

}  // namespace cxloom
