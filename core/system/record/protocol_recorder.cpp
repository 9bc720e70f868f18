#include "system/record/protocol_recorder.hpp"

#include <algorithm>
#include <utility>

namespace cxloom {

ProtocolRecorder::ProtocolRecorder(const AddressMap& map, std::vector<LineAddress> lines,
                                   std::vector<NodeId> divided)
    : map_(map), lines_(std::move(lines)), divided_(std::move(divided)) {
  std::ranges::sort(lines_);
}

bool ProtocolRecorder::wanted(const Message& message) const {
  if (lines_.empty()) return true;
  if (message.channel == Channel::kIo) return false;
  const LineAddress first = LineAddress::of(message.address);
  const LineAddress last{first.number() + std::max<std::uint64_t>(message.lines, 1) - 1};
  const auto found = std::ranges::lower_bound(lines_, first);
  return found != lines_.end() && *found <= last;
}

// Only then SnpType and MetaValue say anything.
bool ProtocolRecorder::asks_home(const Message& message) const {
  if (message.channel != Channel::kM2SReq && message.channel != Channel::kM2SRwD) return false;
  if (message.opcode == Opcode::kBIConflict) return false;
  const auto place = map_.find(message.address);
  if (!place || place->home != message.destination) return false;
  return place->coherence == Coherence::kHdmDb || place->coherence == Coherence::kHdmD;
}

// Messages to other memory have an LD-ID of zero that says nothing.
bool ProtocolRecorder::names_ld(const Message& message) const {
  if (divided_.empty() || message.channel == Channel::kIo) return false;
  const auto place = map_.find(message.address);
  return place && std::ranges::find(divided_, place->target) != divided_.end();
}

void ProtocolRecorder::sent(const Message& message, Time at) {
  if (wanted(message)) on_the_way_[&message] = at;
}

void ProtocolRecorder::handling(const Message& message, NodeId node, Time now, const std::string& state) {
  const LineAddress line = LineAddress::of(message.address);
  // What an agent begins within another message to the same line is the end of that: each state follows on
  // the one before.
  if (!open_.empty() && open_.back().node == node && open_.back().line == line) complete(open_.back(), state);
  open_.push_back({std::nullopt, node, line});
  if (!wanted(message)) return;
  open_.back().row = table_.time_ps.size();
  const auto sent = on_the_way_.find(&message);
  const bool io = message.channel == Channel::kIo;
  const bool asks = asks_home(message);
  table_.time_ps.push_back(now.ps());
  table_.sent_ps.push_back(sent == on_the_way_.end() ? ProtocolTable::kNever : sent->second.ps());
  table_.from.push_back(message.source.index());
  table_.to.push_back(node.index());
  table_.requester.push_back(message.requester.index());
  table_.opcode.push_back(static_cast<std::uint8_t>(message.opcode));
  table_.address.push_back(io ? 0 : message.address.value());
  table_.lines.push_back(io ? std::uint8_t{0} : std::max<std::uint8_t>(message.lines, 1));
  table_.payload.push_back(static_cast<std::uint16_t>(message.payload()));
  table_.snp.push_back(asks ? static_cast<std::uint8_t>(message.snp) : ProtocolTable::kNone);
  table_.meta.push_back(asks ? static_cast<std::uint8_t>(message.meta) : ProtocolTable::kNone);
  table_.ld.push_back(names_ld(message) ? message.ld() : ProtocolTable::kNone);
  table_.failed.push_back(message.failed ? 1 : 0);
  table_.part.push_back(static_cast<std::uint8_t>(part_));
  table_.before.push_back(number_of(state));
  table_.after.push_back(0);
  if (sent != on_the_way_.end()) on_the_way_.erase(sent);
}

void ProtocolRecorder::handled(const std::string& state) {
  complete(open_.back(), state);
  open_.pop_back();
}

void ProtocolRecorder::complete(Open& open, const std::string& state) {
  if (const auto row = std::exchange(open.row, std::nullopt)) table_.after[*row] = number_of(state);
}

std::uint32_t ProtocolRecorder::number_of(const std::string& state) {
  if (table_.states.empty()) {
    table_.states.emplace_back();
    numbers_.emplace(std::string(), 0);
  }
  const auto [found, is_new] = numbers_.emplace(state, static_cast<std::uint32_t>(table_.states.size()));
  if (is_new) table_.states.push_back(state);
  return found->second;
}

ProtocolTable ProtocolRecorder::take() {
  numbers_.clear();
  return std::exchange(table_, {});
}

}  // namespace cxloom
