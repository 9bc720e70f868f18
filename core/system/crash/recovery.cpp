#include "system/crash/recovery.hpp"
#include "system/build/system_builder.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "component/component.hpp"
#include "component/io_roles.hpp"
#include "component/line_versions.hpp"
#include "device/switch/persist_domain.hpp"
#include "kernel/kernel.hpp"
#include "memory/media/media.hpp"
#include "memory/media/past.hpp"
#include "memory/memory_owner.hpp"
#include "system/kinds/registry.hpp"
#include "system/model/system.hpp"

namespace cxloom {

namespace {

/// A system that comes up again.
class Restart {
 public:
  Restart(const Registry& registry, const Spec& spec, const DurableState& left);
  Time play(const RecoveryOrder& order, const std::function<void(const DurableState&)>& changed,
            const Look& look);

 private:
  enum class Stage : std::uint8_t { kWaits, kDrains, kDone };
  struct RecoveredEntry {
    DurableState::Entry entry;
    Stage stage = Stage::kWaits;
  };

  PersistDomain& buffer_of(const RecoveredEntry& item) const {
    return *system_.roles().of<PersistDomain>(item.entry.buffer);
  }
  std::uint64_t changes() const;
  void begin_drains();
  void end_drains();
  bool drained() const;
  void play_past(const Look& look);
  DurableState left_now(const RecoveryOrder& order) const;

  Kernel kernel_;
  System system_;
  LineVersions* versions_;
  LineContents lines_;  // as they were
  std::vector<RecoveredEntry> items_;
};

Restart::Restart(const Registry& registry, const Spec& spec, const DurableState& left)
    : system_(build_system(kernel_, registry, spec)), lines_(left.memory) {
  system_.system_context().versions = std::make_unique<LineVersions>();
  versions_ = system_.system_context().versions.get();
  for (const auto& [line, version] : lines_) versions_->begin_with(LineAddress{line}, version);
  for (const auto& [component, initiator] : system_.roles().all<IoInitiator>()) initiator->cease();
  for (const auto& each : system_.components()) each->start();
  for (const auto& [component, buffer] : system_.roles().all<PersistDomain>()) buffer->begin_recovery();
  for (const DurableState::Entry& entry : left.entries) items_.push_back({entry});
}

// Nothing goes on but drains, so that it ends with what they have set going.
Time Restart::play(const RecoveryOrder& order, const std::function<void(const DurableState&)>& changed,
                   const Look& look) {
  Time end;
  play_past(look);
  begin_drains();
  std::uint64_t events = 0;
  for (std::uint64_t before = changes(); kernel_.run(Time::max(), 1) > 0;) {
    if (++events % kBetweenLooks == 0) look();
    if (changes() == before) continue;
    end = kernel_.now();
    end_drains();
    changed(left_now(order));
    begin_drains();
    before = changes();
  }
  ensure(drained(), "a recovery that stands still");
  return end;
}

// Its memories are as worn as those that lost their power.
void Restart::play_past(const Look& look) {
  for (const auto& [component, memory] : system_.roles().all<MemoryOwner>()) {
    if (!memory->media()) continue;
    each_medium(*memory->media(), [&](Media& medium) {
      MediaPast* const past = medium.past();
      while (past && past->left() > 0) {
        past->play(kBetweenLooks);
        look();
      }
    });
  }
}

bool Restart::drained() const {
  return std::ranges::all_of(items_, [](const RecoveredEntry& item) { return item.stage == Stage::kDone; });
}

std::uint64_t Restart::changes() const {
  std::uint64_t sum = versions_->changes();
  for (const auto& [component, buffer] : system_.roles().all<PersistDomain>())
    sum += buffer->entries().changes();
  return sum;
}

// Drains the buffers whose turn it is: all lines of which nothing older is on its way.
void Restart::begin_drains() {
  const RecoveredEntry* first = nullptr;
  for (RecoveredEntry& item : items_) {
    if (item.stage == Stage::kDone) continue;
    if (!first) first = &item;
    if (item.entry.links != first->entry.links) return;
    if (item.stage == Stage::kDrains || buffer_of(item).entries().newest(item.entry.kept.line)) continue;
    item.stage = Stage::kDrains;
    buffer_of(item).recover(item.entry.kept);
  }
}

void Restart::end_drains() {
  for (RecoveredEntry& item : items_) {
    if (item.stage == Stage::kDrains && !buffer_of(item).entries().newest(item.entry.kept.line))
      item.stage = Stage::kDone;
  }
}

// An entry that is drained is Empty, and still has what it held.
DurableState Restart::left_now(const RecoveryOrder& order) const {
  DurableState state;
  for (const RecoveredEntry& item : items_) {
    if (item.stage == Stage::kDone && !order.drains(PersistEntry::State::kEmpty)) continue;
    state.entries.push_back(item.entry);
    if (item.stage == Stage::kDone) state.entries.back().state = PersistEntry::State::kEmpty;
  }
  state.sort(order);
  for (const auto& [line, version] : lines_) state.memory[line] = versions_->in_memory(LineAddress{line});
  return state;
}

}  // namespace

Time Recovery::play(const DurableState& left, const std::function<void(const DurableState&)>& changed,
                    const Look& look) const {
  look();
  return Restart(registry_, spec_, left).play(order_, changed, look);
}

}  // namespace cxloom
