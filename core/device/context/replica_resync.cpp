#include "device/context/replica_resync.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "device/context/replicator.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

ReplicaResync::ReplicaResync(Replicator& replicator, ReplicaSet& set, std::size_t from, std::size_t to)
    : replicator_(replicator), set_(set), from_(from), to_(to), next_(replicator.kernel().now()) {
  if (set.params().resync_rate) meter_ = RateMeter(set.params().resync_rate->rate);
}

// Lines begin one after the other, at their rate; what is written meanwhile goes to both copies.
void ReplicaResync::go_on() {
  const Time now = replicator_.kernel().now();
  while (!given_up_ && used_ < kAtOnce) {
    given_up_ = set_.state(to_) != ReplicaSet::State::kBack;
    if (given_up_ || !set_.lacks(to_)) break;
    given_up_ = !replicator_.sets().at_work();
    if (given_up_) break;
    if (next_ > now) {
      if (!std::exchange(awaited_, true))
        replicator_.kernel().schedule(next_, replicator_.source(), *this, kNext, 0);
      return;
    }
    const auto line = set_.next_lacking(to_);
    Slot& slot = *std::ranges::find_if(slots_, [](const Slot& each) { return !each.used; });
    slot.line = *line;
    slot.used = true;
    slot.resync = this;
    ++used_;
    if (set_.params().resync_rate) next_ = now + meter_.advance(kLineBytes);
    if (set_.begin_copy(*line, *this)) begin_line(slot);
  }
  rest();
}

void ReplicaResync::quiet(LineAddress line) {
  begin_line(*std::ranges::find_if(slots_, [&](const Slot& slot) { return slot.used && slot.line == line; }));
}

// It leaves at an event of its own: who ends a write, or an answer, is not held up by it.
void ReplicaResync::begin_line(Slot& slot) {
  slot.message = {};
  send(slot, from_, Opcode::kMemRd);
}

void ReplicaResync::send(Slot& slot, std::size_t copy, Opcode opcode) {
  Message& message = slot.message;
  message.address = slot.line.address();
  message.size = kLineBytes;
  message.tag = kTag;
  message.tail = Time{};
  message.age = replicator_.kernel().now();
  message.requester = set_.params().by_hosts() ? replicator_.node() : set_.requester();
  replicator_.address(message, set_, copy, opcode);
  replicator_.kernel().schedule(replicator_.kernel().now(), replicator_.source(), *this, kSend,
                                payload_of(slot));
}

void ReplicaResync::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kSend) return replicator_.send_line(object_of<Slot>(payload).message);
  awaited_ = false;
  go_on();
}

void ReplicaResync::answered(Message& message) {
  static_assert(std::is_standard_layout_v<Message>);
  Slot& slot = reinterpret_cast<Slot&>(message);
  slot.resync->came_back(slot);
}

// What was read is the latest if its copy is whole still: nobody has written the line meanwhile.
void ReplicaResync::came_back(Slot& slot) {
  const bool read = slot.message.channel == Channel::kS2MDRS;
  if (read && !slot.message.failed) replicator_.sets().read_for_copy(set_.node(from_), kLineBytes);
  const bool good = !slot.message.failed && set_.state(to_) == ReplicaSet::State::kBack &&
                    (!read || set_.state(from_) == ReplicaSet::State::kWhole);
  if (read && good) return send(slot, to_, Opcode::kMemWr);
  if (!good && !given_up_) {
    given_up_ = true;
    if (set_.state(to_) == ReplicaSet::State::kBack) set_.leave(to_, replicator_.kernel().now());
  }
  end(slot, good);
}

void ReplicaResync::end(Slot& slot, bool copied) {
  if (copied) {
    set_.counts().resynced_bytes += kLineBytes;
    replicator_.sets().written(replicator_.node(), set_.node(to_), kLineBytes);
  } else {
    set_.still_lacks(to_, slot.line);
  }
  slot.used = false;
  --used_;
  set_.end_copy(slot.line);
  go_on();
}

// It is over when nothing is under way.
void ReplicaResync::rest() {
  if (used_ > 0 || over_) return;
  over_ = true;
  if (given_up_) {
    ++set_.counts().given_up;
  } else {
    set_.become_whole(to_, replicator_.kernel().now());
  }
  replicator_.sets().resync_ended(set_, to_);
}

}  // namespace cxloom
