#include "component/line_versions.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace cxloom {

void LineVersions::leaves(Message& message) {
  Line& line = lines_[LineAddress::of(message.address).number()];
  if (message.opcode == Opcode::kMemWr) {
    message.version = static_cast<std::uint32_t>(line.versions.size());
    line.versions.push_back({++happened_, kNever, kNever});
  } else {
    reads_[&message] = {++happened_, line.floor};
  }
  if (watcher_) watcher_->leaves(message);
}

void LineVersions::returns(const Message& message) {
  const LineAddress address = LineAddress::of(message.address);
  Line& line = lines_[address.number()];
  Version& version = line.versions[message.version];
  if (const auto read = reads_.find(&message); read != reads_.end()) {
    if (!message.failed) {
      const auto [begun, floor] = read->second;
      if (floor.broken_by(message.version, version.settled) != BrokenRule::kNone) ++measured_.stale_reads;
      version.settled = std::min(version.settled, ++happened_);
      line.floor.read(message.version, version.written, begun);
    }
    reads_.erase(read);
  } else if (!message.failed) {
    version.answered = ++happened_;
    version.settled = std::min(version.settled, version.answered);
    line.floor.answered(message.version, version.written);
  }
  update_behind(address, line);
  if (watcher_) watcher_->returns(message);
}

void LineVersions::stored(const Message& message) {
  const LineAddress address = LineAddress::of(message.address);
  Line& line = lines_[address.number()];
  ++happened_;
  // What came before `begin_with` is not known.
  if (message.version < line.versions.size() && line.in_memory < line.versions.size() &&
      line.versions[message.version].answered < line.versions[line.in_memory].written)
    ++measured_.lost_updates;
  line.in_memory = message.version;
  update_behind(address, line);
  if (watcher_) watcher_->stored(message);
}

void LineVersions::cached(NodeId cache, LineAddress line, std::uint32_t version) {
  lines_[line.number()].cached[cache.index()] = version;
}

void LineVersions::changed(NodeId cache, LineAddress line) {
  const auto found = lines_.find(line.number());
  if (found != lines_.end()) found->second.cached.erase(cache.index());
}

// A hit settles no version: memory must have what other requesters were answered with. This cache may hold an
// older line.
void LineVersions::hit(NodeId cache, LineAddress line) {
  const auto found = lines_.find(line.number());
  if (found == lines_.end()) return;
  const Line& known = found->second;
  const auto version = known.cached.find(cache.index());
  if (version == known.cached.end()) return;
  if (known.floor.broken_by(version->second, known.versions[version->second].settled) != BrokenRule::kNone)
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
