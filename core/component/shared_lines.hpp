// Which stores the requesters of a system have seen: each store to a line has a number, so that a read of an
// older one is recognised, and a write-back over one. The numbers are known here, and to no part of the
// model; a protocol between hosts reads them as the values of its flags.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/measure_table.hpp"
#include "base/units.hpp"
#include "protocol/message.hpp"
#include "protocol/request.hpp"

namespace cxloom {

class AddressMap;

struct SharingCounts {
  std::uint64_t stale_reads = 0;
  std::uint64_t lost_updates = 0;
};

inline constexpr std::array kSharingMeasures{
    measure<&SharingCounts::stale_reads>(
        "stale_reads", "",
        "reads of a line, from memory or a cache, older than a store of another requester that was answered "
        "before the read was made"),
    measure<&SharingCounts::lost_updates>(
        "lost_updates", "",
        "lines that a cache wrote to memory over what another requester had written there since the cache "
        "read them"),
};

/// Lines of volatile memory. Of a line that a home keeps coherent each read sees the latest store: that is
/// shown elsewhere, and taken for granted here. A line is one value, whatever part of it is stored to.
class SharedLines {
 public:
  /// A requester that missed a store, and the one that made it.
  struct Pair {
    NodeId requester;
    NodeId writer;
    auto operator<=>(const Pair&) const = default;
  };
  struct LineRow {
    LineAddress line;
    SharingCounts counts;
  };

  explicit SharedLines(const AddressMap& map) : map_(map) {}

  /// A requester makes an access of one line.
  void begins(const Request& request);
  /// The access is over: a read has what it brought, a store is there for all.
  void ends(const Request& request);

  /// A cache has taken in a line that came with this version.
  void filled(NodeId cache, LineAddress line, std::uint32_t version);
  /// An access is made on the line that a cache has: a read is given the version, a store its number.
  void performed(NodeId cache, Request& request);
  /// A changed line leaves that cache with the message, or goes to memory from it.
  void leaves(NodeId cache, Message& message);

  /// Memory serves a message: a read is given the version, a store that comes from no cache its number. An
  /// atomic operation is given the number of its own store.
  void served(Message& message);

  const SharingCounts& measured() const { return measured_; }
  /// The lines that something befell: most first, then by address.
  std::vector<LineRow> lines() const;
  const std::map<Pair, SharingCounts>& pairs() const { return pairs_; }

 private:
  struct Store {
    std::uint32_t number = 0;
    NodeId writer;
  };
  struct Copy {
    std::uint32_t version = 0;
    std::uint64_t came_after = 0;  // so many writes of memory
    std::uint64_t asked_after = 0;
  };
  struct Line {
    bool followed = false;  // its memory is volatile
    bool coherent = false;
    std::uint32_t newest = 0;                           // the number of the latest store
    std::uint32_t in_memory = 0;                        // the version there
    Store latest;                                       // the store with the highest number that is over
    Store other;                                        // `latest` of other writers than that one's
    std::uint64_t writes = 0;                           // of memory
    std::map<std::uint32_t, std::uint64_t> last_write;  // by writer's node: which of these
    std::map<std::uint32_t, Copy> copies;               // by node
    SharingCounts counts;
  };

  Line& at(LineAddress line);
  void over(Line& line, Store store);
  void judge_write(Line& line, NodeId cache);

  const AddressMap& map_;
  std::unordered_map<std::uint64_t, Line> lines_;    // by number; in no order that matters
  std::unordered_map<const Request*, Store> reads_;  // under way: the store that each may not miss
  std::map<Pair, SharingCounts> pairs_;
  SharingCounts measured_;
};

}  // namespace cxloom
