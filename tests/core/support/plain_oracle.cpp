#include "core/support/plain_oracle.hpp"

#include "protocol/opcode.hpp"

namespace cxloom::test {

bool PlainOracle::plain(LineAddress line) const {
  const auto place = map_.find(line.address());
  return place && !place->coherent();
}

const CacheAgent* PlainOracle::cache_at(NodeId node) const {
  const auto found = caches_.find(node.index());
  return found == caches_.end() ? nullptr : found->second;
}

PlainOracle::Line& PlainOracle::line_of(LineAddress address, NodeId user) {
  Line& line = lines_[address.number()];
  if (!line.used) line.user = user;
  line.used = true;
  if (line.user != user) fail(address, "a line of one requester is used by another");
  return line;
}

// A write of a cache that nobody waits for is a write-back.
void PlainOracle::sent(const Message& message, Time /*at*/) {
  const LineAddress address = LineAddress::of(message.address);
  if (message.opcode != Opcode::kMemWr || message.account || !plain(address)) return;
  if (!cache_at(message.source)) return;
  Line& line = line_of(address, message.source);
  if (line.leaving) fail(address, "two write-backs of a line at the same time");
  carried_[&message] = line.copies[message.source.index()];
  line.leaving = true;
}

void PlainOracle::handling(const Message& message, NodeId node, Time /*now*/, const std::string& /*state*/) {
  const LineAddress address = LineAddress::of(message.address);
  if (message.channel == Channel::kIo || !plain(address)) return;
  if (is_downstream(message.channel)) {
    if (map_.find(message.address)->target == node) came_to_memory(message);
    return;
  }
  const auto found = carried_.find(&message);
  if (message.opcode != Opcode::kMemData || found == carried_.end()) return;
  if (!message.failed) lines_[address.number()].copies[node.index()] = found->second;
  carried_.erase(found);
}

// What its user asks for must find the write-back in memory. Others have no part in the line: one that asks
// for it ahead of a use that never comes may find anything.
void PlainOracle::comes_behind_write_back(const Line& line, const Message& message) {
  if (line.leaving && line.user == message.source)
    fail(LineAddress::of(message.address), "what asks for a line overtakes its write-back");
}

void PlainOracle::came_to_memory(const Message& message) {
  const LineAddress address = LineAddress::of(message.address);
  if (message.opcode == Opcode::kMemRd && cache_at(message.source)) {
    const Line& line = lines_[address.number()];
    comes_behind_write_back(line, message);
    carried_[&message] = line.memory;
    return;
  }
  Line& line = line_of(address, message.source);
  if (message.opcode == Opcode::kMemRd) return;
  const auto found = carried_.find(&message);
  if (found != carried_.end()) {
    if (found->second < line.memory)
      fail(address, "a write-back of version " + std::to_string(found->second) + " over version " +
                        std::to_string(line.memory));
    line.memory = found->second;
    line.leaving = false;
    carried_.erase(found);
    return;
  }
  comes_behind_write_back(line, message);
  if (message.opcode == Opcode::kMemAtomic && line.memory != line.latest)
    fail(address, "an atomic operation comes to memory without the latest write");
  line.memory = ++line.latest;
}

void PlainOracle::performed(NodeId node, LineAddress address, AccessKind kind, Time now) {
  if (!plain(address)) return;
  ++accesses_;
  Line& line = line_of(address, node);
  Version& copy = line.copies[node.index()];
  log_.note(to_text(now) + "  " + std::to_string(node.index()) + " uses " + to_text(address.address()) +
            ", version " + std::to_string(copy) + " of " + std::to_string(line.latest));
  if (copy != line.latest)
    fail(address, "node " + std::to_string(node.index()) + " uses version " + std::to_string(copy) +
                      ", and the latest is " + std::to_string(line.latest));
  const LineState held = cache_at(node)->held(address);
  if (held == LineState::kInvalid || (kind != AccessKind::kRead && held != LineState::kDirty))
    fail(address, "node " + std::to_string(node.index()) + " has no right to what it does");
  if (kind != AccessKind::kRead) copy = ++line.latest;
}

void PlainOracle::idle() {
  for (auto& [number, line] : lines_) {
    if (!line.used) continue;
    const LineAddress address{number};
    const CacheAgent* const cache = cache_at(line.user);
    const bool dirty = cache && cache->held(address) == LineState::kDirty;
    if ((dirty ? line.copies[line.user.index()] : line.memory) != line.latest)
      fail(address, "the latest write is lost");
  }
  if (!carried_.empty())
    fail(LineAddress::of(carried_.begin()->first->address), "data that have not arrived");
}

void PlainOracle::fail(LineAddress address, const std::string& what) {
  const std::string text = to_text(address.address()) + ": " + what;
  log_.note("VIOLATION " + text);
  if (violation_.empty()) violation_ = text;
}

}  // namespace cxloom::test
