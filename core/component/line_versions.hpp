// The versions of the lines of persistent memory: each write has a number, so that data that are too old can
// be recognised. Hosts, persist buffers and memories carry the numbers; the rules that they obey are known
// here, and to no part of the model.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/measure_table.hpp"
#include "base/units.hpp"
#include "component/version_floor.hpp"
#include "kernel/ordered_notes.hpp"
#include "kernel/shared_state.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class Kernel;

struct VersionsMeasured {
  std::uint64_t stale_reads = 0;
  std::uint64_t lost_updates = 0;
  std::uint64_t unreachable_lines = 0;
};

inline constexpr std::array kVersionMeasures{
    measure<&VersionsMeasured::stale_reads>(
        "stale_reads", "",
        "reads that got, from memory, a buffer or a cache, a version which another had followed for certain "
        "when the read was made: a write that was answered, or a version that a read had brought"),
    measure<&VersionsMeasured::lost_updates>(
        "lost_updates", "",
        "writes to memory over a version that was written after this one had been answered"),
    measure<&VersionsMeasured::unreachable_lines>(
        "unreachable_lines", "",
        "lines with a write that was answered, or read, of whose memory nobody had a way when the run ended"),
};

/// Sees what becomes of the versions of lines, to record their history.
class VersionWatcher {
 public:
  virtual ~VersionWatcher() = default;
  virtual void leaves(const Message& message) = 0;   ///< a read, or a write with its version
  virtual void returns(const Message& message) = 0;  ///< the answer to it
  virtual void stored(const Message& message) = 0;   ///< in memory
};

/// Messages and buffers carry a name of each version, which says nothing but which one it is: its number in
/// its line, or in a divided system, where the order of the writes of a line is known later, one that the
/// part of its writer has made.
class LineVersions final : public SharedState {
 public:
  LineVersions() : LineVersions(std::vector<const Kernel*>{}) {}
  /// The system is divided into parts with these kernels.
  explicit LineVersions(const std::vector<const Kernel*>& parts);

  // What happens in the event at hand of a kernel.

  /// A read or write of persistent memory leaves its requester. A write gets the next version of its line.
  void leaves(const Kernel& at, Message& message);
  /// The message is answered, and the answer is with the requester.
  void returns(const Kernel& at, const Message& message);
  /// A write is in memory.
  void stored(const Kernel& at, const Message& message);
  /// The name of the version that memory has, which is in that part; 0 was there at first.
  std::uint32_t brought(const Kernel& at, LineAddress line) const;

  /// A cache now has this version of a line, clean: a read brought it, or a flush that keeps the line was
  /// answered.
  void cached(const Kernel& at, NodeId cache, LineAddress line, std::uint32_t version);
  /// A store changed the line in that cache. It has no version until it leaves, and its place among the
  /// others is not known.
  void changed(const Kernel& at, NodeId cache, LineAddress line);
  /// A read found the line there.
  void hit(const Kernel& at, NodeId cache, LineAddress line);

  void gather() override { notes_.gather(); }
  void tell() override;
  /// Versions have names beside their numbers.
  bool divided() const { return !parts_.empty(); }

  // What is known of it, by numbers. In a divided system, between windows.

  /// The version of a line in memory: 0 was there at first.
  std::uint32_t in_memory(LineAddress line) const;

  /// The rule that is broken if this version is what is left of a line.
  BrokenRule broken_by(LineAddress line, std::uint32_t version) const;
  /// The version that stands against it, if something is wrong.
  std::uint32_t needed_beside(LineAddress line, std::uint32_t version) const;
  /// Lines of which memory has what would be wrong if it was all that is left, in order.
  const std::set<std::uint64_t>& behind() const { return behind_; }
  /// How many lines that are `in` something have more that is settled than what was there at first.
  std::uint64_t settled_lines(const std::function<bool(LineAddress)>& in) const;
  /// Grows with all that changes what the other functions return.
  std::uint64_t changes() const { return happened_; }

  /// Memory has this version of a line from before: what it takes to bring up a system whose past is known
  /// elsewhere.
  void begin_with(LineAddress line, std::uint32_t version) { lines_[line.number()].in_memory = version; }
  /// Shows all from now on to `watcher`: not of a divided system.
  void watch(VersionWatcher* watcher);

  /// Counts of the whole run.
  const VersionsMeasured& measured() const { return measured_; }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  struct Version {
    std::uint64_t written = 0;  // when, by the count of what has happened
    std::uint64_t answered = 0;
    std::uint64_t settled = 0;  // answered, or brought by a read: the first of both
  };
  struct Line {
    std::vector<Version> versions{{}};
    std::uint32_t in_memory = 0;
    VersionFloor floor;
    std::map<std::uint32_t, std::uint32_t> cached;  // versions in caches, by node
  };
  /// A read under way.
  struct Read {
    std::uint64_t begun;
    VersionFloor floor;  // as it was then
  };

  enum class What : std::uint8_t { kReadLeaves, kWriteLeaves, kReturns, kStored, kCached, kChanged, kHit };
  struct Happening {
    What what;
    bool failed = false;
    NodeId cache;
    std::uint32_t version = 0;  // its name
    LineAddress line;
    const Message* message = nullptr;  // which read it is, and no more
  };
  /// What belongs to a part alone.
  struct alignas(128) Part {
    const Kernel* kernel;
    std::uint32_t named = 0;                                     // versions that writers have made
    std::unordered_map<std::uint64_t, std::uint32_t> in_memory;  // names, by number of the line
  };

  std::size_t part_of(const Kernel& kernel) const;
  std::uint32_t new_version(const Kernel& at, LineAddress line);
  std::uint32_t number_of(std::uint32_t name) const;
  void happens(const Kernel& at, const Happening& what);
  void take_in(const Happening& what);
  void write_leaves(Line& line, std::uint32_t name);
  void returns(Line& line, const Happening& answer, std::uint32_t number);
  void stored(Line& line, std::uint32_t number);
  void hit(const Line& line, NodeId cache);
  void update_behind(LineAddress line, const Line& known);

  std::vector<Part> parts_;  // none: the system is not divided
  // By part and the number of the name there, the number in the line. Names of a part are told in their
  // order.
  std::vector<std::vector<std::uint32_t>> numbers_;
  OrderedNotes<Happening> notes_;
  std::unordered_map<std::uint64_t, Line> lines_;  // by number; in no order that matters
  std::unordered_map<const Message*, Read> reads_;
  std::set<std::uint64_t> behind_;
  std::uint64_t happened_ = 0;
  VersionsMeasured measured_;
  VersionWatcher* watcher_ = nullptr;
};

}  // namespace cxloom
