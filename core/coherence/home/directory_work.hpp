// What is under way in a home: transactions by their lines, snoops and accesses to memory; and how all of it
// ends when the device of the home fails.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/prefetch.hpp"
#include "base/units.hpp"
#include "coherence/common/snoop_for.hpp"
#include "coherence/common/transaction_table.hpp"
#include "kernel/pool.hpp"
#include "protocol/account.hpp"
#include "protocol/message.hpp"
#include "protocol/message_queue.hpp"
#include "protocol/opcode.hpp"
#include "tags/cache_array.hpp"

namespace cxloom {

/// What is under way for a line: a request of a cache, the eviction of its entry, or a write to memory.
struct alignas(kCacheLine) DirectoryTransaction {
  DirectoryTransaction* next = nullptr;
  LineAddress line;
  Message* request = nullptr;  ///< null: an eviction, or a write to memory that nobody waits for
  std::uint32_t index = 0;
  Slot slot = kNoSlot;                 ///< the entry of the line, which is pinned
  MessageQueue waiting;                ///< requests to the line that wait for its end
  std::uint32_t write_backs = 0;       ///< of the line, which came out of turn and are not in memory yet
  bool waits_for_write_backs = false;  ///< its turn goes on behind them,
  bool ends_with_write_backs = false;  ///< or it is over when they are
  bool open = false;                   ///< it is under way, and no object of a pool that is free
  bool asks = false;                   ///< the snoops are those of `ask_first`
  bool shared_outside = false;         ///< a cache that the filter does not follow keeps a shared copy
  bool in_page = false;                ///< its page counts it until it is over (bias)
  bool forwarded = false;              ///< a snoop has brought the data of a modified copy
  bool owed = false;                   ///< ... which memory is to have
  std::uint32_t snoops_left = 0;
  Time asked_at;  ///< by its snoops
  DirectoryTransaction* evicts_for =
      nullptr;  ///< of an eviction: who gets the entry; of its block the first one does it for all
  DirectoryTransaction* block = nullptr;  ///< of an eviction: the next line of the block
  bool buffered = false;  ///< its data were called for, are in the home, and are on their way to memory

  /// What is under way, for people: "+evict".
  std::string described() const;
};

/// A snoop under way.
struct DirectorySnoop {
  DirectorySnoop* next = nullptr;
  std::uint32_t index = 0;
  std::uint32_t peer = 0;
  DirectoryTransaction* transaction = nullptr;  ///< null: its home has failed since, or has given it up
  SnoopFor purpose = SnoopFor::kInvalidate;
  LineState left = LineState::kInvalid;  ///< what the answer says that the cache keeps
  bool brings_data = false;              ///< ... and that data come in a message of their own,
  bool data_in = false;                  ///< which are in
  bool rest = false;  ///< it was given up, and no more than one part of the answer is under way
  Message message;
  Account account;
  Message data;
  Account data_account;

  /// This part of the answer, the first, is in or lost. Whether the other one is under way.
  bool other_part_comes(const Message& part) const {
    if (&part == &data) return !brings_data;
    return data.opcode == Opcode::kD2HData && !data_in;
  }
};

/// An access to the memory.
struct alignas(kCacheLine) DirectoryAccess {
  Message message;  ///< first, so that a hop within the device touches one cache line
  DirectoryAccess* next = nullptr;
  std::uint32_t index = 0;
  Message* answers = nullptr;  ///< the message of the cache that is answered by it; null: nobody waits
  DirectoryTransaction* transaction = nullptr;  ///< null: a write-back that came out of turn, or it is done
  DirectoryTransaction* behind = nullptr;       ///< ... whose line has this under way
  bool gone = false;  ///< its home has failed since: what it answers is lost when it ends
};

struct DirectoryWork {
  TransactionTable<DirectoryTransaction> lines;
  Pool<DirectoryTransaction> transactions;
  Pool<DirectorySnoop> snoops;
  Pool<DirectoryAccess> accesses;

  void give_back(DirectoryAccess& access) {
    access.answers = nullptr;
    access.transaction = nullptr;
    accesses.give_back(access);
  }
  /// A part of the answer to a snoop that was given up is in, or is lost.
  void rest_came(DirectorySnoop& snoop, const Message& part) {
    snoop.rest = !snoop.rest && snoop.other_part_comes(part);
    if (!snoop.rest) snoops.give_back(snoop);
  }
  /// The device has failed: nothing is under way any more. Gives each message of a cache that waits here to
  /// `lose`, but for those of accesses, which are lost when memory has ended these. Nobody waits for the
  /// answers of snoops.
  void abandon(const std::function<void(Message&)>& lose);
};

}  // namespace cxloom
