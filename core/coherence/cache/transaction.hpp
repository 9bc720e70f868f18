// A transaction of a cache: a miss or an eviction of a line, and a snoop that is being answered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/intrusive_queue.hpp"
#include "base/prefetch.hpp"
#include "base/units.hpp"
#include "coherence/common/snoop_for.hpp"
#include "protocol/address_map.hpp"
#include "protocol/message.hpp"
#include "protocol/request.hpp"
#include "tags/cache_array.hpp"

namespace cxloom {

class HomeProtocol;

/// The transaction that is under way for a line.
enum class Doing : std::uint8_t {
  kNothing,     ///< it is served; a snoop still waits for the answer to its BIConflict
  kRead,        ///< a read of the line, to share it or have it alone
  kOwn,         ///< a read of the line, to have it alone
  kUpgrade,     ///< ownership of a line that is here as a shared copy
  kWrite,       ///< a write past the cache
  kWriteBack,   ///< the write of a dirty line
  kCleanEvict,  ///< the notice that a line has left, whose data nobody needs
  kOperate,     ///< an atomic operation on a line that is here alone
  kAtomic,      ///< an atomic operation of which the home has been asked
  kFlush,       ///< the write of a dirty line that a flush waits for
  kCurrent,     ///< a read of the current value, without a copy
};

/// A snoop that is being answered, of one line or of a block.
struct CacheSnoop {
  CacheSnoop* next = nullptr;
  Message* message = nullptr;
  HomeProtocol* protocol = nullptr;
  std::uint32_t lines_left = 0;
  SnoopFor purpose = SnoopFor::kInvalidate;
  LineState was = LineState::kInvalid;   ///< the line before it
  LineState left = LineState::kInvalid;  ///< the most that it leaves of one of its lines
  bool forwards = false;                 ///< the answer brings the data of a dirty line
  Time ready;                            ///< when its lines are cleared
};

/// The state in which a snoop leaves a line. A modified copy is clean then if its data go to memory.
LineState left_of(LineState held, const CacheSnoop& snoop);
/// The more of the two that a cache holds.
LineState more_of(LineState a, LineState b);

/// What is wrong with the answer to a read, in a system parts of which fail: the later ones outdo the others.
enum class Flaw : std::uint8_t {
  kNone,
  kPoisoned,  ///< the latest data of the line are lost
  kInVain,    ///< the home has taken back what it granted: the line is asked for again
  kError,     ///< a part of the answer was lost, or is an error
};

/// What each access touches of a transaction: one cache line.
struct CacheTransactionState {
  LineAddress line;
  HomeProtocol* protocol = nullptr;
  IntrusiveQueue<Request> waiting;  ///< the first is the one that asked
  NodeId target;
  NodeId home;
  Doing doing = Doing::kNothing;
  LineState granted = LineState::kInvalid;
  Flaw flaw = Flaw::kNone;
  std::uint8_t ld = 0;  ///< the logical device of the target
  bool coherent = false;
  bool persistent = false;
  bool miss = false;  ///< it has a miss register
  bool data_in = false;
  bool asked = false;          ///< a BIConflict is without its answer
  bool snooped_first = false;  ///< a snoop was answered before the request
  bool handed_out = false;     ///< the snoop is with a cache outside of the simulation
};

static_assert(sizeof(CacheTransactionState) <= kCacheLine);

/// A miss register, or a line on its way out. A line has one at a time.
struct alignas(kCacheLine) CacheTransaction : CacheTransactionState {
  // Its messages begin cache lines, and one with an account has the account's mark as far behind as in a
  // Request. They and the accounts are made new where they are filled in: a transaction needs one or two.
  alignas(kCacheLine) Message completion;  ///< the second part of the answer to a read
  CacheTransaction* next = nullptr;
  std::uint32_t index = 0;
  std::uint32_t grant = 0;      ///< the number of the home's answer that granted the line
  std::uint32_t snooped = 0;    ///< snooped first: answers up to this number were sent before that
  CacheSnoop* snoop = nullptr;  ///< waits for this transaction
  Request* prefetch = nullptr;  ///< it began ahead of an access, with this request, which still waits
  alignas(32) Account completion_account;
  Request* operation = nullptr;       ///< the atomic operation that is being made
  alignas(kCacheLine) Message evict;  ///< notifies the home that the line leaves
  Message conflict;                   ///< BIConflict
  Account snoop_account;              ///< of a snoop: what passes between its arrival and its answer

  /// Makes it new, but for its messages and accounts.
  void renew() {
    static_cast<CacheTransactionState&>(*this) = {};
    grant = snooped = 0;
    snoop = nullptr;
    prefetch = operation = nullptr;
  }
  /// It is of this line from now on, at that place of the address map.
  void begin(LineAddress of, const AddressMap::DecodedAddress& place, HomeProtocol& by) {
    line = of;
    target = place.target;
    home = place.home;
    protocol = &by;
    coherent = place.coherent();
    persistent = place.persistent;
    ld = place.ld;
  }
  /// That is wrong with the answer to its read, too.
  void worsen(Flaw by) { flaw = std::max(flaw, by); }
  /// What it reads is of no matter: it will own the line, and who waits first writes all of it.
  bool overwrites() const {
    return (doing == Doing::kOwn || !coherent) && waiting.front().writes_whole_line();
  }
  /// The home has sent the second part of an answer, which is neither here nor lost. An error has none.
  bool completion_comes() const {
    return coherent && granted == LineState::kInvalid && completion.opcode != Opcode::kMemRd;
  }
  /// The transaction in words, behind the state of the line.
  std::string described() const;
};

/// The letter of MESI.
std::string_view name_of(LineState state);

}  // namespace cxloom
