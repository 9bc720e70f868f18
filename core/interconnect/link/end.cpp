#include "interconnect/link/end.hpp"

#include "base/arena.hpp"
#include "base/error.hpp"
#include "interconnect/channel/virtual_channels.hpp"
#include "interconnect/link/ordering_transmitter.hpp"
#include "interconnect/wire/cut_credits.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

static_assert(sizeof(LinkEnd) == 448,
              "a large fabric is mostly ends of links: what they take is measured (docs/speed.md)");

LinkEnd::LinkEnd(Kernel& kernel, const LinkPath::Setup& setup) : path_(kernel, setup) {}

LinkEnd::~LinkEnd() = default;

PortQueues* LinkEnd::queues() const { return channels(); }

void LinkEnd::set_transmitter(InArena<Transmitter> transmitter) {
  transmitter_ = std::move(transmitter);
  queues_ = transmitter_->flits() ? nullptr : transmitter_->channels();
}

void LinkEnd::connect(LinkEnd& opposite) {
  VirtualChannels* far = opposite.channels();
  far_credits_ = far ? far->credit_lines() : nullptr;
  returns_credits_ = far_credits_ != nullptr;
  if (returns_credits_ && path_.cut()) {
    cut_credits_ =
        std::make_unique<CutCredits>(path_.kernel(), far->kernel(), far_credits_, far->credit_line_count());
    far_credits_ = cut_credits_->lines.data();
  }
  if (!transmitter_) return;
  transmitter_->connect(far_credits_, opposite.transmitter_ ? opposite.transmitter_->retries() : nullptr);
  carries_credits_ = transmitter_->carries_credits();
}

// Transmitters take messages in any order, and on a wire without a limit none waits for another.
void LinkEnd::share() {
  if (!transmitter_ && !unlimited()) transmitter_ = path_.kernel().arena().make<OrderingTransmitter>(path_);
}

void LinkEnd::return_credit(ClassVc vc, Time at) {
  if (carries_credits_) {
    transmitter_->return_credit(class_of(vc), at);
    return;
  }
  CreditLine& line = far_credits_[vc];
  if (line.limited()) line.give(at);
}

PortMemory LinkEnd::memory() const {
  PortMemory memory{.end = this, .credits = carries_credits_ ? nullptr : far_credits_};
  if (VirtualChannels* const own = channels()) {
    memory.turns = transmitter_.get();
    memory.vcs = &own->channel(ClassVc{0});
  }
  return memory;
}

Transmitter& LinkEnd::may_fail() {
  ensure(transmitter_ != nullptr, "a link that was not made to fail");
  return *transmitter_;
}

std::uint32_t LinkEnd::load(Channel which) {
  // Where messages have the wire one after the other, those that wait are counted as they come and go.
  if (!queues_) return booked_load(which);
  const std::uint32_t passing = path_.wire().free_at() > path_.kernel().now() ? 1 : 0;
  return static_cast<std::uint32_t>(monitor().queue().level()) + passing + queues_->credits_in_use(which);
}

// From what is booked ahead of time, up to now.
std::uint32_t LinkEnd::booked_load(Channel which) {
  const Time now = path_.kernel().now();
  catch_up(now);
  const auto waiting = static_cast<std::uint32_t>(monitor().waiting(now));
  const std::uint32_t passing = path_.wire().free_at() > now ? 1 : 0;
  VirtualChannels* const own = channels();
  return waiting + passing + (own ? own->credits_in_use(which) : 0);
}

Time LinkEnd::line_time() const {
  if (transmitter_) return transmitter_->line_time();
  return RateMeter(rate()).advance(message_bytes(kLineBytes));
}

void LinkEnd::catch_up(Time now) {
  if (transmitter_) transmitter_->catch_up(now);
}

void LinkEnd::open_window(Time now) {
  catch_up(now);
  monitor().open(now);
  if (WireMonitor* const turns = path_.own_turns()) turns->open(now);
  if (transmitter_) transmitter_->open_window(now);
}

void LinkEnd::close_window(Time now) {
  catch_up(now);
  monitor().close(now);
  if (WireMonitor* const turns = path_.own_turns()) turns->close(now);
  if (transmitter_) transmitter_->close_window(now);
}

Time LinkEnd::credit_blocked(Channel which) const {
  const VirtualChannels* own = channels();
  return own ? own->credit_blocked(which) : Time{};
}

Time LinkEnd::total_credit_blocked() const {
  Time total;
  for (std::size_t i = 0; i < kChannelCount; ++i) total += credit_blocked(static_cast<Channel>(i));
  return total;
}

}  // namespace cxloom
