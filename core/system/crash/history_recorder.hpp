// Records the lines of persistent memory, step by step, for the history of a loss.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "component/line_versions.hpp"
#include "device/switch/persist_entries.hpp"

namespace cxloom {

class Simulation;

struct HistoryStep {
  enum class What : std::uint8_t {
    kReads,     ///< a requester sends a read
    kWrites,    ///< a requester sends a write, with that version
    kGets,      ///< a read brings it that version
    kAnswered,  ///< its write of that version is answered
    kHolds,     ///< a persist buffer has that version, in a Dirty entry
    kDrains,    ///< it sends that version to memory
    kReleases,  ///< the entry with that version is Empty
    kStored,    ///< memory has that version
  };
  Time at;
  What what = What::kReads;
  NodeId node;
  LineAddress line;
  std::uint32_t version = 0;
};

/// "writes", "is answered", ...
std::string_view to_text(HistoryStep::What what);

class HistoryRecorder final : public VersionWatcher {
 public:
  /// Records from now on.
  explicit HistoryRecorder(const Simulation& simulation);

  /// An event has happened: looks at the entries.
  void look();
  std::vector<HistoryStep> take() { return std::move(steps_); }

  void leaves(const Message& message) override;
  void returns(const Message& message) override;
  void stored(const Message& message) override;

 private:
  struct Seen {
    PersistEntry::State state = PersistEntry::State::kEmpty;
    std::uint32_t version = 0;
    LineAddress line;
  };
  struct Buffer {
    NodeId node;
    const PersistEntries* entries;
    std::uint64_t changes;
    std::vector<Seen> seen;  // by entry
  };

  void note(HistoryStep::What what, NodeId node, LineAddress line, std::uint32_t version);
  void look_at(Buffer& buffer);

  const Simulation& simulation_;
  std::vector<Buffer> buffers_;
  std::vector<HistoryStep> steps_;
};

}  // namespace cxloom
