#include "core/support/coherence_losses.hpp"

#include <algorithm>

#include "coherence/cache/agent.hpp"
#include "coherence/common/coherence_home.hpp"
#include "core/support/coherence_state.hpp"
#include "protocol/error_answer.hpp"
#include "protocol/protocol_observer.hpp"

namespace cxloom::test {

CoherenceLosses::CoherenceLosses(MessageBench& bench, const FailureSetup& setup)
    : bench_(bench),
      setup_(setup),
      transactions_(bench.system_context().roles, *bench.system_context().map, *this) {
  bench.system_context().failures = this;
}

// ---- What may happen

std::vector<CoherenceLosses::Choice> CoherenceLosses::choices() const {
  std::vector<Choice> all;
  for (const auto& [key, queue] : bench_.queues()) {
    if (const auto sent = sent_.find(key); sent != sent_.end()) {
      if (!sent->second.cut) all.push_back({Happening::kArrives, key});
      all.push_back({Happening::kIsLost, key});
      continue;
    }
    const bool down = link_ != Link::kUp && over_link(key);
    const auto found = may_have_crossed_.find(key);
    const bool crosses = down && found != may_have_crossed_.end();
    if (!down || crosses) all.push_back({Happening::kArrives, key});
    if (crosses && setup_.in_switch) all.push_back({Happening::kIsLost, key});
    if (down && link_ == Link::kKnown) all.push_back({Happening::kIsAnswered, key});
  }
  if (!setup_.never_times_out) {
    for (std::size_t i = 0; i < lost_.size(); ++i) all.push_back({Happening::kTimesOut, {}, i});
  }
  if (link_ == Link::kDown) all.push_back({Happening::kIsKnown, {}});
  return all;
}

void CoherenceLosses::take(const Choice& choice) {
  if (const auto sent = sent_.find(choice.queue); sent != sent_.end()) {
    sent->second.cut |= choice.what == Happening::kIsLost;
    if (--sent->second.left == 0) sent_.erase(sent);
  }
  const auto crossing = may_have_crossed_.find(choice.queue);
  switch (choice.what) {
    case Happening::kArrives:
      if (crossing != may_have_crossed_.end() && --crossing->second == 0) may_have_crossed_.erase(crossing);
      bench_.deliver(choice.queue);
      return;
    case Happening::kIsLost:
      may_have_crossed_.erase(choice.queue);
      lose(bench_.take(choice.queue), Time{});
      break;
    case Happening::kIsAnswered: {
      may_have_crossed_.erase(choice.queue);
      Message& message = bench_.take(choice.queue);
      if (answers(message, message.source, Time{})) bench_.put(message);
      break;
    }
    case Happening::kTimesOut: time_out(choice.number); break;
    case Happening::kIsKnown:
      link_ = Link::kKnown;
      for (std::size_t i = 0; i < caches_.size(); ++i) {
        const bool cut_off = i == setup_.host || setup_.home;
        if (caches_[i] && cut_off && !setup_.keeps_lines)
          lines_lost(caches_[i]->cut_off(home_->endpoint().id()), NodeId{static_cast<std::uint32_t>(i)});
      }
      break;
  }
  bench_.settle();
}

void CoherenceLosses::turn() {
  if (turned_) {
    link_ = Link::kUp;
    may_have_crossed_.clear();
    setup_.repairs = false;
    if (setup_.home) home_->work_again();
  } else {
    fail();
  }
  bench_.settle();
}

void CoherenceLosses::fail() {
  turned_ = true;
  link_ = Link::kDown;
  for (const auto& [key, queue] : bench_.queues()) {
    if (!over_link(key)) continue;
    if (setup_.home && key.source == node()) {
      sent_[key] = {queue.messages.size()};
    } else {
      may_have_crossed_[key] = queue.messages.size();
    }
  }
  if (cache() && (setup_.crashes || setup_.home)) lines_lost(cache()->crashed(), node());
  if (setup_.home) fail_home();
}

void CoherenceLosses::fail_home() {
  home_->failed();
  memory_lost_();
  if (setup_.keeps_lines) return;
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    const NodeId at{static_cast<std::uint32_t>(i)};
    if (caches_[i]) caches_[i]->presumed_dead(node(), home_->answers_sent(at));
  }
}

void CoherenceLosses::lines_lost(const std::vector<LineAddress>& lines, NodeId at) {
  if (setup_.trusts_lost_data) return;
  for (const LineAddress line : lines) gives_up(line, at);
}

void CoherenceLosses::gives_up(LineAddress line, NodeId node) {
  const auto place = bench_.system_context().map->find(line.address());
  bench_.system_context().roles.of<CoherenceHome>(place->home)->data_lost(line, node);
}

// ---- What becomes of messages

bool CoherenceLosses::answers(Message& message, NodeId node, Time now) {
  if (!transactions_.is_answered(message)) {
    lose(message, now);
    return false;
  }
  transactions_.gone(message);
  make_error_answer(message, node);
  bench_.system_context().observer->sent(message, now);
  return true;
}

void CoherenceLosses::lose(Message& message, Time /*now*/) {
  bench_.system_context().observer->lost(message);
  transactions_.gone(message);
  if (Message* const pull = LostTransactions::pull_of(message)) keep(*pull);
  keep(message);
}

// Which was lost first is of no matter.
void CoherenceLosses::keep(Message& message) {
  const auto text = [&](const Message* each) { return bench_.describe(*each); };
  lost_.insert(std::ranges::upper_bound(lost_, text(&message), {}, text), &message);
}

void CoherenceLosses::time_out(std::size_t number) {
  Message& message = *lost_[number];
  lost_.erase(lost_.begin() + static_cast<std::ptrdiff_t>(number));
  if (!transactions_.ends(message, Time{})) return;
  bench_.system_context().observer->sent(message, Time{});
  bench_.hand_over(message);
}

// ---- For people, and for the explorer

std::string CoherenceLosses::describe(const Choice& choice) const {
  if (choice.what == Happening::kIsKnown) return "it is known that the link has failed";
  if (choice.what == Happening::kTimesOut)
    return "nobody waits any longer for " + bench_.describe(*lost_[choice.number]);
  const std::string message = bench_.describe(*bench_.queues().at(choice.queue).messages.front());
  if (choice.what == Happening::kArrives) return message + " arrives";
  return message + (choice.what == Happening::kIsLost ? " is lost" : " finds no way");
}

std::string CoherenceLosses::describe_turn() const {
  const std::string host = bench_.name_of(node());
  if (setup_.home) return host + (turned_ ? " works again" : " fails");
  return turned_ ? "the link of " + host + " is repaired"
                 : host + (setup_.crashes ? " crashes" : "'s link fails");
}

void CoherenceLosses::write(StateText& text) const {
  text << "link" << static_cast<std::uint64_t>(link_);
  text.flag(turned_, 't').flag(setup_.repairs, 'r');
  for (const Message* const message : lost_) (text << '-').message(*message).flag(given_up(*message), 'g');
  text << '\n';
}

// Nobody waits for it, as the home has given up its snoop, of whose answer it is the other part.
bool CoherenceLosses::given_up(const Message& message) const {
  const Channel channel = message.channel;
  if (channel != Channel::kH2DReq && channel != Channel::kD2HRsp && channel != Channel::kD2HData)
    return false;
  const auto place = bench_.system_context().map->find(message.address);
  CoherenceHome* const home = bench_.system_context().roles.of<CoherenceHome>(place->home);
  return !home->awaits(message);
}

void CoherenceLosses::write(const QueueKey& key, StateText& text) const {
  const auto found = may_have_crossed_.find(key);
  if (found != may_have_crossed_.end()) text << 'x' << std::uint64_t{found->second};
  const auto sent = sent_.find(key);
  if (sent != sent_.end()) text << (sent->second.cut ? 'l' : 's') << std::uint64_t{sent->second.left};
}

}  // namespace cxloom::test
