#include "device/switch/persist_entries.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace cxloom {

PersistEntries::PersistEntries(std::uint32_t count) : entries_(count) {
  for (PersistEntry& entry : entries_) empty_.push(entry);
}

PersistEntry& PersistEntries::take(LineAddress line) {
  ++changes_;
  PersistEntry& entry = empty_.pop();
  PersistEntry* const before = lines_.find(line);
  ensure(!before || before->state == PersistEntry::State::kDrain, "a second Dirty entry of a line");
  if (before) lines_.remove(line);
  lines_.add(line, entry);
  entry.line = line;
  entry.bytes = 0;
  entry.older = before;
  entry.wanted = entry.stuck = false;
  entry.state = PersistEntry::State::kDirty;
  dirty_.push_back(entry);
  return entry;
}

PersistEntry* PersistEntries::victim() const {
  if (dirty_.size() == 0) return nullptr;
  for (PersistEntry* entry = &dirty_.front(); entry; entry = entry->next) {
    if (!entry->older && !entry->stuck) return entry;
  }
  return nullptr;
}

void PersistEntries::begin_drain(PersistEntry& entry) {
  ensure(entry.state == PersistEntry::State::kDirty && !entry.older, "a drain of an entry that may not");
  ++changes_;
  dirty_.remove(entry);
  entry.state = PersistEntry::State::kDrain;
  ++draining_;
}

PersistEntry* PersistEntries::end_drain(PersistEntry& entry) {
  ensure(entry.state == PersistEntry::State::kDrain, "the end of a drain that was not begun");
  ++changes_;
  PersistEntry* newer = lines_.find(entry.line);
  if (newer == &entry) {
    lines_.remove(entry.line);
    newer = nullptr;
  } else {
    newer->older = nullptr;
  }
  entry.state = PersistEntry::State::kEmpty;
  --draining_;
  empty_.push(entry);
  return newer;
}

PersistEntry& PersistEntries::take_back(PersistEntry& entry) {
  ensure(entry.state == PersistEntry::State::kDrain, "the end of a drain that was not begun");
  ++changes_;
  --draining_;
  PersistEntry& newest = *lines_.find(entry.line);
  if (&newest == &entry) {
    entry.wanted = false;
    entry.state = PersistEntry::State::kDirty;
    dirty_.push_back(entry);
  } else {
    newest.bytes |= entry.bytes;
    newest.older = nullptr;
    entry.state = PersistEntry::State::kEmpty;
    empty_.push(entry);
  }
  return newest;
}

std::uint32_t PersistEntries::count_of(NodeId memory) const {
  return static_cast<std::uint32_t>(std::ranges::count_if(entries_, [&](const PersistEntry& entry) {
    return entry.state != PersistEntry::State::kEmpty && entry.home == memory;
  }));
}

}  // namespace cxloom
