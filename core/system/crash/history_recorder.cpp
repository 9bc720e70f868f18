#include "system/crash/history_recorder.hpp"

#include "component/component.hpp"
#include "device/switch/persist_domain.hpp"
#include "system/model/system.hpp"
#include "system/run/simulation.hpp"

namespace cxloom {

namespace {

using What = HistoryStep::What;

}  // namespace

std::string_view to_text(HistoryStep::What what) {
  switch (what) {
    case What::kReads: return "reads";
    case What::kWrites: return "writes";
    case What::kGets: return "gets";
    case What::kAnswered: return "is answered for";
    case What::kHolds: return "holds";
    case What::kDrains: return "drains";
    case What::kReleases: return "releases";
    default: return "stores";
  }
}

HistoryRecorder::HistoryRecorder(const Simulation& simulation) : simulation_(simulation) {
  for (const auto& [component, buffer] : simulation.system().roles().all<PersistDomain>()) {
    const PersistEntries& entries = buffer->entries();
    buffers_.push_back({component->id(), &entries, entries.changes(), std::vector<Seen>(entries.count())});
  }
}

void HistoryRecorder::look() {
  for (Buffer& buffer : buffers_) {
    if (buffer.entries->changes() == buffer.changes) continue;
    buffer.changes = buffer.entries->changes();
    look_at(buffer);
  }
}

void HistoryRecorder::look_at(Buffer& buffer) {
  std::size_t i = 0;
  buffer.entries->each([&](const PersistEntry& entry) {
    Seen& seen = buffer.seen[i++];
    const Seen now{entry.state, entry.version, entry.line};
    if (now.state == seen.state && now.version == seen.version && now.line == seen.line) return;
    if (now.state == PersistEntry::State::kEmpty) {
      note(What::kReleases, buffer.node, seen.line, seen.version);
    } else {
      const bool drains = now.state == PersistEntry::State::kDrain;
      // One event may store a line and begin to drain it.
      if (drains && (seen.state == PersistEntry::State::kEmpty || now.version != seen.version))
        note(What::kHolds, buffer.node, now.line, now.version);
      note(drains ? What::kDrains : What::kHolds, buffer.node, now.line, now.version);
    }
    seen = now;
  });
}

void HistoryRecorder::leaves(const Message& message) {
  const bool write = message.opcode == Opcode::kMemWr;
  note(write ? What::kWrites : What::kReads, message.requester, LineAddress::of(message.address),
       write ? message.version : 0);
}

void HistoryRecorder::returns(const Message& message) {
  if (message.failed) return;
  const bool write = message.opcode == Opcode::kCmp;
  note(write ? What::kAnswered : What::kGets, message.requester, LineAddress::of(message.address),
       message.version);
}

void HistoryRecorder::stored(const Message& message) {
  note(What::kStored, message.destination, LineAddress::of(message.address), message.version);
}

void HistoryRecorder::note(What what, NodeId node, LineAddress line, std::uint32_t version) {
  steps_.push_back({simulation_.now(), what, node, line, version});
}

}  // namespace cxloom
