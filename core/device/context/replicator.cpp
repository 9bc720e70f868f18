#include "device/context/replicator.hpp"

#include <algorithm>
#include <bit>
#include <ranges>
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
  read = {&message, message.source, message.size, 0, set.floors_of(line), *reader(set, line, 0),
          life_,    false};
  send_read(message, set, read);
}

// A copy that lags behind lacks what others have answered: the newest of a line that is known to be somewhere
// is read, if a copy that has it can be.
std::optional<std::size_t> Replicator::reader(const ReplicaSet& set, LineAddress line,
                                              std::uint64_t tried) const {
  const auto written = by_line_.find(line.number());
  if (written == by_line_.end()) return set.reader(line, tried);
  for (const Write* const write : std::views::reverse(written->second)) {
    const std::uint64_t having = write->stored & set.whole_ones();
    if (having == 0) continue;
    if (const auto found = set.reader(line, tried | ~having, ReplicaReads::kPrimary)) return found;
    break;
  }
  return set.reader(line, tried, ReplicaReads::kPrimary);
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
    if (const auto other = reader(set, LineAddress::of(message.address), read.tried)) {
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
  write.line = LineAddress::of(message.address);
  write.size = message.size;
  if (set.answers_early()) by_line_[write.line.number()].push_back(&write);
  Copy* first = nullptr;
  Copy** last = &first;
  for (std::size_t replica = 0; replica < set.size(); ++replica) {
    if (set.gets_writes(replica)) {
      *last = &copy_of(write, replica);
      last = &(*last)->next;
      ++write.pending;
    } else {
      set.still_lacks(replica, write.line);
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
  if (write.forgotten) return forgotten(copy);
  ReplicaSet& set = *write.set;
  if (!copy.message.failed) {
    write.stored |= std::uint64_t{1} << copy.replica;
  } else {
    write.met_failure = true;
    if (set.missed(copy.replica, write.line, kernel_.now())) sets_.has_left(set, copy.replica);
  }
  --write.pending;
  if (write.message && (write.pending == 0 || is_enough(write)))
    answer_write(write, copy, write.pending > 0 || (set.whole_ones() & ~write.stored) == 0);
  if (write.pending == 0) end_write(write);
  copies_.give_back(copy);
}

// As many copies as are wanted have it, or as many as there are.
bool Replicator::is_enough(const Write& write) const {
  const ReplicaSet& set = *write.set;
  if (!set.answers_early()) return false;
  const std::uint64_t whole = set.whole_ones();
  return std::popcount(write.stored & whole) >=
         std::min(static_cast<int>(*set.params().acknowledge), std::popcount(whole));
}

// The answer of the copy that completes it is its answer. It is good if enough copies have the write, or at
// its end every copy that is whole then.
void Replicator::answer_write(Write& write, const Copy& by, bool stored) {
  ReplicaSet& set = *write.set;
  Message& message = *std::exchange(write.message, nullptr);
  write.counted = set.first_whole();  // the write counts there, and elsewhere as a further copy
  if (write.pending > 0) {
    write.early = kernel_.now();
  } else {
    count_copies(write);
  }
  if (message.account) message.account->join(by.account);
  message.tail = by.message.tail;
  message.hops = by.message.hops;
  message.opcode = Opcode::kCmp;
  message.channel = channel_of(Opcode::kCmp);
  message.destination = message.source;
  message.source = set.node(write.counted);
  message.virtual_channel = 0;
  message.failed = !stored;
  if (!stored) message.size = 0;
  if (stored) {
    set.acknowledged(message);
  } else {
    ++set.counts().failed;
    set.write_failed(message);
  }
  way_.finish_replicated(message);
}

// The request counts at one of them.
void Replicator::count_copies(const Write& write) const {
  for (std::size_t replica = 0; replica < write.set->size(); ++replica) {
    const bool has = (write.stored >> replica & 1U) != 0;
    if (has && replica != write.counted) sets_.written(node_, write.set->node(replica), write.size);
  }
}

void Replicator::end_write(Write& write) {
  ReplicaSet& set = *write.set;
  const LineAddress line = write.line;
  set.counts().met_failure += write.met_failure ? 1 : 0;
  check_kept(write);
  if (write.early) {
    count_copies(write);
    ++set.counts().early;
    set.counts().lag += kernel_.now() - *write.early;
  }
  if (set.answers_early()) {
    const auto written = by_line_.find(line.number());
    std::erase(written->second, &write);
    if (written->second.empty()) by_line_.erase(written);
  }
  write.set = nullptr;
  writes_.give_back(write);
  set.end_write(line);
  way_.write_ended(set);
}

// A write that was answered is lost if no copy that is whole is known to have it.
void Replicator::check_kept(const Write& write) const {
  if (write.early && (write.set->whole_ones() & write.stored) == 0) ++write.set->counts().lost_writes;
}

// ---- Failure of the device

// What it has sent comes to its end, or is lost, and nobody hears of it. Until then its line is not copied.
void Replicator::fail() {
  ++life_;
  by_line_.clear();
  for (std::uint32_t index = 0; Write* const write = writes_.find(index); ++index) {
    if (!write->set) continue;
    write->forgotten = true;
    if (write->message) way_.lose_replicated(*std::exchange(write->message, nullptr), false);
  }
}

void Replicator::forgotten(Copy& copy) {
  Write& write = *copy.write;
  ReplicaSet& set = *write.set;
  if (!copy.message.failed) {
    write.stored |= std::uint64_t{1} << copy.replica;
    sets_.written(node_, set.node(copy.replica), copy.message.size);
  }
  if (--write.pending == 0) {
    check_kept(write);
    if (!write.early) set.write_failed(copy.message);
    write.set = nullptr;
    set.end_write(write.line);
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
