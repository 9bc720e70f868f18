#include "system/events/player.hpp"

#include <algorithm>
#include <map>

#include "component/system_context.hpp"
#include "kernel/kernel.hpp"
#include "protocol/address_map.hpp"
#include "system/events/binding_actions.hpp"
#include "system/events/extent_actions.hpp"
#include "system/events/failure_actions.hpp"
#include "system/events/offline_actions.hpp"
#include "system/events/page_move_actions.hpp"
#include "system/events/spare_actions.hpp"
#include "system/events/viral_actions.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

/// Something breaks by it, or works again. So it is with coherent memory that is removed by surprise.
bool is_counted(const EventParams& event, const System& system) {
  const bool removes = event.unbind && event.unbind->surprise;
  return event.breaks_or_mends() || (removes && system.address_map().has_coherent());
}

std::string path_of(std::size_t event) { return "events[" + std::to_string(event) + "]"; }

}  // namespace

EventPlayer::Source::Source(Kernel& kernel) : events(kernel.new_source()) {}

EventPlayer::EventPlayer(Kernel& kernel, const std::vector<EventParams>& events) : kernel_(kernel) {
  if (events.empty()) return;
  source_ = std::make_unique<Source>(kernel);
  std::map<std::string, int> times;
  for (const EventParams& event : events) {
    const std::string name = to_text(event.at) + " " + event.described();
    const int time = ++times[name];
    entries_.push_back({&event, time == 1 ? name : name + " (" + std::to_string(time) + ")", false, {}});
  }
}

void EventPlayer::attach(System& system) {
  for (PlannedEvent& entry : entries_) entry.counted = is_counted(*entry.params, system);
  const bool anything_fails = std::ranges::any_of(entries_, [](const PlannedEvent& entry) {
    return entry.params->fail || (entry.counted && entry.params->unbind);
  });
  check_answer_timeouts(system);
  if (!anything_fails) check_no_timeouts(system);
  if (entries_.empty()) return;
  system_ = &system;
  check_order();
  std::vector<EventParams> events;
  for (const PlannedEvent& entry : entries_) events.push_back(*entry.params);
  auto bindings = std::make_unique<BindingActions>(system);
  auto failures = std::make_unique<FailureActions>(kernel_, source_->events, system, events.size(),
                                                   [this, &binding = *bindings] {
                                                     binding.end_recalls();
                                                     memory_changed();
                                                   });
  FailureActions& failing = *failures;
  failures_ = failures.get();
  actions_.push_back(std::move(failures));
  actions_.push_back(std::move(bindings));
  actions_.push_back(std::make_unique<ExtentActions>(kernel_, system));
  actions_.push_back(std::make_unique<PageMoveActions>(system));
  actions_.push_back(std::make_unique<SpareActions>(system));
  actions_.push_back(std::make_unique<ViralActions>(kernel_, system));
  auto offlines = std::make_unique<OfflineActions>(kernel_, system, [this] { memory_changed(); });
  offlines_ = offlines.get();
  actions_.push_back(std::move(offlines));
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    PlannedEvent& entry = entries_[i];
    entry.actions = &actions_of(*entry.params);
    with_path(path_of(i), [&] { entry.actions->expect(i, *entry.params); });
  }
  lost_ = std::make_unique<LostMessages>(kernel_, source_->events, system, entries_.front().cost);
  // A home hears of what its memory has lost.
  const bool loses_lines =
      system.address_map().has_coherent() &&
      std::ranges::any_of(events, [](const EventParams& event) { return event.viral.has_value(); });
  if (anything_fails || loses_lines) system.system_context().failures = lost_.get();
  failing.foretell(events);
  for (std::size_t i = 0; i < entries_.size(); ++i)
    kernel_.schedule_background(entries_[i].params->at, source_->events, *this, 0, i);
}

void EventPlayer::expect_work() {
  for (std::size_t i = 0; i < entries_.size(); ++i)
    with_path(path_of(i), [&] { entries_[i].actions->expect_work(*entries_[i].params); });
}

const Crashes::Crash* EventPlayer::crash(std::size_t number) const {
  return failures_ ? failures_->crashes().find(number) : nullptr;
}

const Removal* EventPlayer::removal(std::size_t number) const {
  return offlines_ ? offlines_->removal(number) : nullptr;
}

bool EventPlayer::unsettled() const {
  return std::ranges::any_of(actions_, [](const auto& actions) { return actions->unsettled(); });
}

void EventPlayer::check_order() const {
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    if (entries_[i].params->at >= entries_[i - 1].params->at) continue;
    throw InputError({"events stand in the order in which they happen",
                      to_text(entries_[i].params->at),
                      "at least " + to_text(entries_[i - 1].params->at) + ", the time of the one before",
                      {}},
                     "events[" + std::to_string(i) + "].at");
  }
}

EventActions& EventPlayer::actions_of(const EventParams& event) const {
  const auto found = std::ranges::find_if(actions_, [&](const auto& actions) { return actions->has(event); });
  ensure(found != actions_.end(), "an event that does nothing");
  return **found;
}

void EventPlayer::wake(std::uint8_t /*kind*/, std::uint64_t number) {
  PlannedEvent& entry = entries_[number];
  entry.happened = true;
  if (entry.counted) {
    entry.answered = answered_so_far(*system_);
    lost_->count_in(entry.cost);
  }
  entry.actions->act(number, *entry.params);
  if (!entry.params->move_pages) memory_changed();
}

}  // namespace cxloom
