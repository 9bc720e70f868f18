#include "component/line_versions.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

LineVersions::LineVersions(const std::vector<const Kernel*>& parts)
    : numbers_(parts.size()), notes_(parts.size()) {
  for (const Kernel* const kernel : parts) parts_.push_back(Part{.kernel = kernel, .in_memory = {}});
}

void LineVersions::watch(VersionWatcher* watcher) {
  ensure(!divided(), "the history of versions in a divided system");
  watcher_ = watcher;
}

// A system has few parts: they are searched.
std::size_t LineVersions::part_of(const Kernel& kernel) const {
  std::size_t part = 0;
  while (parts_[part].kernel != &kernel) ++part;
  return part;
}

// Names of parts take turns; 0 is what was there at first.
std::uint32_t LineVersions::new_version(const Kernel& at, LineAddress line) {
  if (!divided()) return static_cast<std::uint32_t>(lines_[line.number()].versions.size());
  const std::size_t part = part_of(at);
  const std::uint64_t name = std::uint64_t{parts_[part].named++} * parts_.size() + part + 1;
  ensure(name < ~std::uint32_t{0}, "more writes to persistent memory than versions can be told apart");
  return static_cast<std::uint32_t>(name);
}

std::uint32_t LineVersions::number_of(std::uint32_t name) const {
  if (!divided() || name == 0) return name;
  return numbers_[(name - 1) % parts_.size()][(name - 1) / parts_.size()];
}

void LineVersions::leaves(const Kernel& at, Message& message) {
  const LineAddress line = LineAddress::of(message.address);
  const bool write = message.opcode == Opcode::kMemWr;
  if (write) message.version = new_version(at, line);
  happens(at, {.what = write ? What::kWriteLeaves : What::kReadLeaves,
               .cache = message.requester,
               .version = message.version,
               .line = line,
               .message = &message});
  if (watcher_) watcher_->leaves(message);
}

void LineVersions::returns(const Kernel& at, const Message& message) {
  happens(at, {.what = What::kReturns,
               .failed = message.failed,
               .cache = message.requester,
               .version = message.version,
               .line = LineAddress::of(message.address),
               .message = &message});
  if (watcher_) watcher_->returns(message);
}

void LineVersions::stored(const Kernel& at, const Message& message) {
  const LineAddress line = LineAddress::of(message.address);
  if (divided()) parts_[part_of(at)].in_memory[line.number()] = message.version;
  happens(at, {.what = What::kStored, .cache = message.requester, .version = message.version, .line = line});
  if (watcher_) watcher_->stored(message);
}

std::uint32_t LineVersions::brought(const Kernel& at, LineAddress line) const {
  if (!divided()) return in_memory(line);
  const auto& names = parts_[part_of(at)].in_memory;
  const auto found = names.find(line.number());
  return found == names.end() ? 0 : found->second;
}

void LineVersions::cached(const Kernel& at, NodeId cache, LineAddress line, std::uint32_t version) {
  happens(at, {.what = What::kCached, .cache = cache, .version = version, .line = line});
}

void LineVersions::changed(const Kernel& at, NodeId cache, LineAddress line) {
  happens(at, {.what = What::kChanged, .cache = cache, .line = line});
}

void LineVersions::hit(const Kernel& at, NodeId cache, LineAddress line) {
  happens(at, {.what = What::kHit, .cache = cache, .line = line});
}

void LineVersions::happens(const Kernel& at, const Happening& what) {
  if (side_by_side()) notes_.note(part_of(at), at.place(), what);
  else take_in(what);
}

void LineVersions::tell() {
  notes_.tell([this](std::size_t /*part*/, const Happening& what) { take_in(what); });
}

// In the order of the whole run.
void LineVersions::take_in(const Happening& what) {
  if (what.what == What::kChanged || what.what == What::kHit) {
    const auto found = lines_.find(what.line.number());
    if (found == lines_.end()) return;
    if (what.what == What::kHit) hit(found->second, what.cache);
    else found->second.cached.erase(what.cache.index());
    return;
  }
  Line& line = lines_[what.line.number()];
  switch (what.what) {
    case What::kReadLeaves: reads_[what.message] = {++happened_, line.floor}; return;
    case What::kWriteLeaves: write_leaves(line, what.version); return;
    case What::kCached: line.cached[what.cache.index()] = number_of(what.version); return;
    case What::kReturns: returns(line, what, number_of(what.version)); break;
    default: stored(line, number_of(what.version));
  }
  update_behind(what.line, line);
}

void LineVersions::write_leaves(Line& line, std::uint32_t name) {
  if (divided())
    numbers_[(name - 1) % parts_.size()].push_back(static_cast<std::uint32_t>(line.versions.size()));
  line.versions.push_back({++happened_, kNever, kNever});
}

void LineVersions::returns(Line& line, const Happening& answer, std::uint32_t number) {
  Version& version = line.versions[number];
  if (const auto read = reads_.find(answer.message); read != reads_.end()) {
    if (!answer.failed) {
      const auto [begun, floor] = read->second;
      if (floor.broken_by(number, version.settled) != BrokenRule::kNone) ++measured_.stale_reads;
      version.settled = std::min(version.settled, ++happened_);
      line.floor.read(number, version.written, begun);
    }
    reads_.erase(read);
  } else if (!answer.failed) {
    version.answered = ++happened_;
    version.settled = std::min(version.settled, version.answered);
    line.floor.answered(number, version.written);
  }
}

void LineVersions::stored(Line& line, std::uint32_t number) {
  ++happened_;
  // What came before `begin_with` is not known.
  if (number < line.versions.size() && line.in_memory < line.versions.size() &&
      line.versions[number].answered < line.versions[line.in_memory].written)
    ++measured_.lost_updates;
  line.in_memory = number;
}

// A hit settles no version: memory must have what other requesters were answered with. This cache may hold an
// older line.
void LineVersions::hit(const Line& line, NodeId cache) {
  const auto version = line.cached.find(cache.index());
  if (version == line.cached.end()) return;
  if (line.floor.broken_by(version->second, line.versions[version->second].settled) != BrokenRule::kNone)
    ++measured_.stale_reads;
}

void LineVersions::update_behind(LineAddress line, const Line& known) {
  if (known.in_memory >= known.versions.size()) return;
  const bool behind =
      known.floor.broken_by(known.in_memory, known.versions[known.in_memory].settled) != BrokenRule::kNone;
  if (behind) {
    behind_.insert(line.number());
  } else if (!behind_.empty()) {
    behind_.erase(line.number());
  }
}

std::uint32_t LineVersions::in_memory(LineAddress line) const {
  const auto found = lines_.find(line.number());
  return found == lines_.end() ? 0 : found->second.in_memory;
}

BrokenRule LineVersions::broken_by(LineAddress line, std::uint32_t version) const {
  const auto found = lines_.find(line.number());
  if (found == lines_.end()) return BrokenRule::kNone;
  ensure(version < found->second.versions.size(), "a version of a line that nobody wrote");
  return found->second.floor.broken_by(version, found->second.versions[version].settled);
}

std::uint64_t LineVersions::settled_lines(const std::function<bool(LineAddress)>& in) const {
  return static_cast<std::uint64_t>(std::ranges::count_if(lines_, [&](const auto& each) {
    const auto& [number, line] = each;
    return line.floor.broken_by(0, line.versions.front().settled) != BrokenRule::kNone &&
           in(LineAddress{number});
  }));
}

std::uint32_t LineVersions::needed_beside(LineAddress line, std::uint32_t version) const {
  const Line& known = lines_.at(line.number());
  return known.floor.needed_beside(version, known.versions[version].settled);
}

}  // namespace cxloom
