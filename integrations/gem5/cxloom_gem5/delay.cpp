#include "delay.hpp"

#include <algorithm>

#include <base/logging.hh>
#include "host.hpp"

namespace gem5::cxl {

namespace {

Addr line_of(Addr address) { return address & ~Addr{63}; }

}  // namespace

Delay::Delay(const CxlDelayParams& params)
    : Path(params),
      shortest_(params.shortest),
      longest_(params.longest),
      snoop_interval_(params.snoop_interval),
      snooped_lines_(params.snooped_lines),
      answer_event_([this] { answer_due(); }, name() + ".answer"),
      snoop_event_([this] { snoop_one(); }, name() + ".snoop") {
  fatal_if(longest_ < shortest_, "%s: longest is below shortest.", name());
  fatal_if(snooped_lines_ == 0, "%s: snooped_lines is 0.", name());
}

Path::Seat Delay::seat(Host& host) {
  hosts_.push_back(&host);
  // It does not know which host has a copy, and takes it from the one that asked for it: with several, two
  // might write.
  fatal_if(hosts_.size() > 1 && snoop_interval_ != 0, "%s: snoops are for a single host.", name());
  return {static_cast<unsigned>(hosts_.size() - 1), snoop_interval_ != 0};
}

void Delay::give(unsigned host, const Access& access) {
  if (snoop_interval_ != 0 && access.intent == Intent::kOwn) {
    last_.emplace_back(host, line_of(access.address));
    if (last_.size() > snooped_lines_) last_.pop_front();
    schedule_snoop();
  }
  const Tick delay = std::uniform_int_distribution<Tick>(shortest_, longest_)(random_);
  answer_at(access.ready + delay, {host, access});
}

void Delay::answer_at(Tick time, const Due& due) {
  due_.emplace(time, due);
  reschedule(answer_event_, std::max(curTick(), due_.begin()->first), true);
}

void Delay::answer_due() {
  while (!due_.empty() && due_.begin()->first <= curTick()) {
    const Due due = due_.begin()->second;
    due_.erase(due_.begin());
    const Addr line = line_of(due.access.address);
    if (snooped_.count(line) != 0) {
      behind_snoop_.emplace(line, due);
      continue;
    }
    const auto latency = static_cast<std::int64_t>(curTick() - due.access.ready);
    hosts_[due.host]->answered(
        {due.access.held, due.access.intent, curTick() - due.access.ready, &latency, false});
  }
  if (!due_.empty()) reschedule(answer_event_, std::max(curTick(), due_.begin()->first), true);
}

void Delay::schedule_snoop() {
  if (snoop_event_.scheduled() || drainState() != DrainState::Running) return;
  schedule(snoop_event_, curTick() + std::uniform_int_distribution<Tick>(1, 2 * snoop_interval_)(random_));
}

void Delay::snoop_one() {
  if (drainState() != DrainState::Running) return;
  const auto [host, line] = last_[std::uniform_int_distribution<std::size_t>(0, last_.size() - 1)(random_)];
  if (snooped_.insert(line).second) hosts_[host]->snoop(line, line, false);
  schedule_snoop();
}

void Delay::snooped(unsigned /*host*/, std::uint64_t number, Snooped /*held*/) {
  snooped_.erase(number);
  const auto [first, last] = behind_snoop_.equal_range(number);
  for (auto it = first; it != last; ++it) answer_at(curTick(), it->second);
  behind_snoop_.erase(number);
}

Tick Delay::estimate(unsigned /*host*/, const Access& /*access*/) { return (shortest_ + longest_) / 2; }

// A drain does not wait for it: what is under way belongs to the hosts, which wait.
void Delay::drainResume() {
  if (!last_.empty()) schedule_snoop();
}

}  // namespace gem5::cxl
