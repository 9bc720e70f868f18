// The entries of a persist buffer: which lines they hold, in which state, and in which order they were used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/intrusive_list.hpp"
#include "base/intrusive_queue.hpp"
#include "base/units.hpp"
#include "coherence/common/line_table.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// Bytes of a line, a bit each.
using LineBytes = std::uint64_t;

/// The bytes of an access that lies within a line.
constexpr LineBytes bytes_of(Address address, std::uint64_t size) {
  const std::uint64_t all = size >= kLineBytes ? ~LineBytes{0} : (LineBytes{1} << size) - 1;
  return all << (address.value() % kLineBytes);
}

struct PersistEntry {
  enum class State : std::uint8_t {
    kEmpty,
    kDirty,  ///< it has the newest data of its line, and alone
    kDrain,  ///< they were sent to memory, which has not answered yet
  };

  PersistEntry* next = nullptr;
  PersistEntry* previous = nullptr;
  LineAddress line;
  LineBytes bytes = 0;            ///< that it holds
  PersistEntry* older = nullptr;  ///< of the same line, in Drain: that one is answered first
  Time stored;                    ///< the data are there from then on
  IntrusiveQueue<Message> held;   ///< reads that wait until it is Empty
  Message drain;                  ///< carries the data to memory, and the answer back
  State state = State::kEmpty;
  bool wanted = false;        ///< it is to drain as soon as it may
  bool stuck = false;         ///< Dirty: its drain has failed, and nothing has changed since
  std::uint32_t version = 0;  ///< of what it holds, where versions are kept
  NodeId home;                ///< where it drains to
  std::uint64_t changes = 0;  ///< of the system, that its buffer had heard of when its drain began
};

/// The contents of an entry's line, for its drain.
struct KeptLine {
  LineAddress line;
  LineBytes bytes = 0;
  std::uint32_t version = 0;
  NodeId home;  ///< where it drains to
  NodeId requester;
  std::uint8_t ld = 0;
};

/// A line has at most one Dirty entry and, beside it, one in Drain, which is older.
class PersistEntries {
 public:
  explicit PersistEntries(std::uint32_t count);

  /// The newest entry of a line; null if none holds it.
  PersistEntry* newest(LineAddress line) const { return lines_.find(line); }
  PersistEntry& at(std::uint32_t index) { return entries_[index]; }
  std::uint32_t index_of(const PersistEntry& entry) const {
    return static_cast<std::uint32_t>(&entry - entries_.data());
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(entries_.size()); }
  bool has_empty() const { return !empty_.empty(); }
  std::uint32_t dirty() const { return dirty_.size(); }
  std::uint32_t draining() const { return draining_; }
  /// The entry whose drain this message is.
  PersistEntry& entry_of_drain(const Message& message) {
    const auto* const begin = reinterpret_cast<const std::byte*>(entries_.data());
    const auto* const at = reinterpret_cast<const std::byte*>(&message);
    return entries_[static_cast<std::size_t>(at - begin) / sizeof(PersistEntry)];
  }
  /// The message of one of its drains.
  bool owns(const Message& message) const {
    const auto* const at = reinterpret_cast<const std::byte*>(&message);
    return at >= reinterpret_cast<const std::byte*>(entries_.data()) &&
           at < reinterpret_cast<const std::byte*>(entries_.data() + entries_.size());
  }

  /// The Empty entry that was used least recently becomes Dirty, for a line without a Dirty one. There is an
  /// Empty one.
  PersistEntry& take(LineAddress line);
  /// A Dirty entry is used.
  void touch(PersistEntry& entry) {
    ++changes_;
    dirty_.remove(entry);
    dirty_.push_back(entry);
  }
  /// The Dirty entry that was used least recently and may drain: nothing older of its line is on its way, and
  /// it is not stuck. Null: none may.
  PersistEntry* victim() const;
  /// A Dirty entry is in Drain from now on.
  void begin_drain(PersistEntry& entry);
  /// An entry in Drain is Empty from now on. Gives the newer one of its line, which may drain now; null if
  /// there is none.
  PersistEntry* end_drain(PersistEntry& entry);
  /// An entry in Drain whose data memory may not have is Dirty again. If a newer one of its line is, that
  /// takes the bytes that it lacks, and this one is Empty. Gives the Dirty one.
  PersistEntry& take_back(PersistEntry& entry);
  /// How many are Dirty or in Drain, and drain to this memory.
  std::uint32_t count_of(NodeId memory) const;
  /// Grows with every change of what they hold, or of their states.
  std::uint64_t changes() const { return changes_; }
  /// All of them, whatever their state. One that is Empty has what it held last.
  template <class Visit>
  void each(Visit visit) const {
    for (const PersistEntry& entry : entries_) visit(entry);
  }

 private:
  std::vector<PersistEntry> entries_;
  LineTable<PersistEntry> lines_;       // the newest of each
  IntrusiveQueue<PersistEntry> empty_;  // the first has been Empty for longest
  IntrusiveList<PersistEntry> dirty_;   // the first was used least recently
  std::uint32_t draining_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace cxloom
