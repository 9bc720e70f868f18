#include "component/line_versions.hpp"

#include <algorithm>

namespace cxloom {

void LineVersions::leaves(Message& message) {
  Line& line = lines_[LineAddress::of(message.address).number()];
  if (message.opcode == Opcode::kMemWr) {
    message.version = static_cast<std::uint32_t>(line.versions.size());
    line.versions.push_back({++happened_, kNever});
  } else {
    reads_[&message] = line.answered_from;
  }
}

void LineVersions::returns(const Message& message) {
  Line& line = lines_[LineAddress::of(message.address).number()];
  Version& version = line.versions[message.version];
  if (const auto read = reads_.find(&message); read != reads_.end()) {
    if (!message.failed && version.answered < read->second) ++measured_.stale_reads;
    reads_.erase(read);
  } else if (!message.failed) {
    version.answered = ++happened_;
    line.answered_from = std::max(line.answered_from, version.written);
  }
}

void LineVersions::stored(const Message& message) {
  Line& line = lines_[LineAddress::of(message.address).number()];
  if (line.versions[message.version].answered < line.versions[line.in_memory].written)
    ++measured_.lost_updates;
  line.in_memory = message.version;
}

std::uint32_t LineVersions::in_memory(LineAddress line) const {
  const auto found = lines_.find(line.number());
  return found == lines_.end() ? 0 : found->second.in_memory;
}

bool LineVersions::too_old(LineAddress line, std::uint32_t version) const {
  const auto found = lines_.find(line.number());
  return found != lines_.end() && found->second.versions[version].answered < found->second.answered_from;
}

}  // namespace cxloom
