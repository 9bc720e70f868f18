#include "component/shared_lines.hpp"

#include <algorithm>

#include "protocol/address_map.hpp"

namespace cxloom {

SharedLines::Line& SharedLines::at(LineAddress line) {
  const auto [found, made] = lines_.try_emplace(line.number());
  if (made) {
    if (const auto place = map_.find(line.address())) {
      found->second.followed = !place->persistent;
      found->second.coherent = place->coherent();
    }
  }
  return found->second;
}

void SharedLines::begins(const Request& request) {
  if (request.kind != AccessKind::kRead) return;
  const Line& line = at(LineAddress::of(request.address));
  if (!line.followed || line.coherent) return;
  const Store& needed = line.latest.writer == request.requester() ? line.other : line.latest;
  if (needed.number > 0) reads_[&request] = needed;
}

void SharedLines::ends(const Request& request) {
  Line& line = at(LineAddress::of(request.address));
  if (!line.followed) return;
  if (request.kind == AccessKind::kRead) {
    const auto begun = reads_.find(&request);
    if (begun == reads_.end()) return;
    const Store needed = begun->second;
    reads_.erase(begun);
    if (request.failed || request.message.version >= needed.number) return;
    ++line.counts.stale_reads;
    ++measured_.stale_reads;
    ++pairs_[{request.requester(), needed.writer}].stale_reads;
  } else if (request.kind != AccessKind::kFlush && !request.failed && request.message.version > 0) {
    over(line, {request.message.version, request.requester()});
  }
}

void SharedLines::over(Line& line, Store store) {
  if (store.number > line.latest.number) {
    if (store.writer != line.latest.writer) line.other = line.latest;
    line.latest = store;
  } else if (store.writer != line.latest.writer && store.number > line.other.number) {
    line.other = store;
  }
}

void SharedLines::filled(NodeId cache, LineAddress line, std::uint32_t version) {
  Copy& copy = at(line).copies[cache.index()];
  copy.version = version;
  copy.came_after = copy.asked_after;
}

void SharedLines::performed(NodeId cache, Request& request) {
  Line& line = at(LineAddress::of(request.address));
  if (!line.followed) return;
  Copy& copy = line.copies[cache.index()];
  if (request.kind != AccessKind::kRead) copy.version = ++line.newest;
  request.message.version = line.coherent ? line.newest : copy.version;
}

void SharedLines::leaves(NodeId cache, Message& message) {
  const Line& line = at(LineAddress::of(message.address));
  if (!line.followed || line.coherent) return;
  const auto copy = line.copies.find(cache.index());
  message.version = copy == line.copies.end() ? 0 : copy->second.version;
}

void SharedLines::served(Message& message) {
  Line& line = at(LineAddress::of(message.address));
  if (!line.followed || line.coherent) return;
  const bool write = message.opcode == Opcode::kMemWr;
  if (!write && message.opcode != Opcode::kMemAtomic) {
    message.version = line.in_memory;
    line.copies[message.requester.index()].asked_after = line.writes;
    return;
  }
  if (write && message.version > 0) {
    judge_write(line, message.requester);
  } else {
    message.version = ++line.newest;
  }
  line.in_memory = message.version;
  line.last_write[message.requester.index()] = ++line.writes;
  line.copies[message.requester.index()].came_after = line.writes;
}

// The line as a whole is as the cache has it, whoever wrote to memory since.
void SharedLines::judge_write(Line& line, NodeId cache) {
  const std::uint64_t came_after = line.copies[cache.index()].came_after;
  NodeId writer;
  std::uint64_t last = came_after;
  for (const auto& [node, write] : line.last_write) {
    if (node == cache.index() || write <= last) continue;
    writer = NodeId{node};
    last = write;
  }
  if (last == came_after) return;
  ++line.counts.lost_updates;
  ++measured_.lost_updates;
  ++pairs_[{cache, writer}].lost_updates;
}

std::vector<SharedLines::LineRow> SharedLines::lines() const {
  std::vector<LineRow> rows;
  for (const auto& [number, line] : lines_) {
    if (line.counts.stale_reads + line.counts.lost_updates > 0)
      rows.push_back({LineAddress{number}, line.counts});
  }
  std::ranges::sort(rows, [](const LineRow& a, const LineRow& b) {
    const auto all = [](const LineRow& row) { return row.counts.stale_reads + row.counts.lost_updates; };
    return all(a) != all(b) ? all(a) > all(b) : a.line.number() < b.line.number();
  });
  return rows;
}

}  // namespace cxloom
