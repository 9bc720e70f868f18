// A request: what a requester waits for. It lives at its requester and owns the account of its latency. An
// access of several lines has a request for each of them, too: a line goes to the device that serves it, and
// to no other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.hpp"
#include "protocol/account.hpp"
#include "protocol/message.hpp"

namespace cxloom {

enum class AccessKind : std::uint8_t {
  kRead,
  kWrite,
  kAtomic,  ///< reads 4 or 8 aligned bytes and writes them with nobody else's access between
  kFlush,   ///< makes its lines durable
};

inline constexpr std::size_t kAccessKinds = 4;
/// The operand sizes of an atomic operation.
constexpr bool is_atomic_size(std::uint64_t bytes) { return bytes == 4 || bytes == 8; }

/// A hop touches the first line of the message and the line of the mark; a requester the four lines around
/// these two. What few requests have, an access of several lines, a thread or rare segments, lies between: it
/// is touched where there is some.
struct alignas(64) Request {
  /// `lines` of one line of an access of several.
  static constexpr std::uint16_t kPart = 0xffff;
  /// `lines` of a line of a page that is being moved, which is no access of the program.
  static constexpr std::uint16_t kCopy = 0;
  /// `lines` of what a combining buffer writes: stores whose requests are over.
  static constexpr std::uint16_t kCombined = 0xfffe;

  Message message;          ///< carries it there and the answer back
  Request* next = nullptr;  ///< link of the list it waits in
  std::uint64_t id = 0;     ///< number of the request at its requester, from zero, warm-up included

  Request* parent = nullptr;     ///< of a part: the access
  std::uint32_t its_thread = 0;  ///< if it has one
  std::uint16_t pending = 0;     ///< of an access of several lines: lines without an answer yet
  alignas(32) Account account;

  Address address;
  NodeId target;  ///< the device that answered, also that it failed; the requester itself for a cache hit
  std::uint32_t index = 0;  ///< its place in the requester's pool: the tag of its messages
  std::uint16_t lines = 1;  ///< of the access, or kPart, kCopy or kCombined
  std::uint16_t size = 0;   ///< bytes
  AccessKind kind = AccessKind::kRead;
  bool failed = false;      ///< answered with an error
  bool keeps : 1 = false;   ///< of a flush: the line stays in the cache
  bool brings : 1 = false;  ///< of a flush: the line's data come with it, whatever the cache has
  bool has_thread : 1 = false;
  bool past : 1 = false;     ///< goes past the caches, and leaves no copy of its line there
  bool through : 1 = false;  ///< of memory that is written through: a write goes on to it

  bool is_part() const { return lines == kPart; }
  bool is_copy() const { return lines == kCopy; }
  bool is_combined() const { return lines == kCombined; }
  /// Nothing of what the line had is left.
  bool writes_whole_line() const { return kind == AccessKind::kWrite && size == kLineBytes; }
  /// A copy in a cache is of no use to it.
  bool wants_memory() const { return past || (through && kind != AccessKind::kRead); }
  /// Bytes exchanged with memory, known once it is answered; of several lines each has its own.
  std::uint16_t moved() const { return lines == 1 || is_part() ? message.size : std::uint16_t{0}; }
  /// What the whole access exchanged; of several lines all count, though a cache may have had some.
  std::uint16_t moved_in_all() const { return lines > 1 && lines < kCombined ? size : moved(); }
  std::uint32_t thread() const { return has_thread ? its_thread : 0; }
  void set_thread(std::uint32_t number) {
    has_thread = number != 0;
    if (has_thread) its_thread = number;
  }
  /// An atomic operation that the memory has made: of one in a cache a line is moved, or nothing.
  bool made_by_memory() const { return kind == AccessKind::kAtomic && moved() == size; }
  /// When the clock of its latency started.
  Time created() const { return message.age; }
  NodeId requester() const { return message.requester; }
  /// To be called first: it exists from now on.
  void begin(NodeId requester, Time now) {
    message.requester = requester;
    message.virtual_channel = 0;
    message.age = now;
    account.open(now);
  }
  /// Makes it new. Fields guarded by a flag keep their old value.
  void renew() {
    account.renew(account.mark() - message.age);
    message = {};
    next = nullptr;
    id = 0;
    address = {};
    target = {};
    lines = 1;
    size = 0;
    kind = AccessKind::kRead;
    failed = keeps = brings = has_thread = past = through = false;
  }

  /// Accounts for the time up to `until`.
  void charge(Segment segment, Time until) { account.charge(segment, until); }
};

static_assert((offsetof(Request, account) + Account::kMarkOffset) % 64 == 0,
              "the mark of a request's account, and the segments of hops behind it, begin a cache line");
static_assert(sizeof(Request) == 384,
              "a request in flight costs six cache lines, its message included: who adds one measures it "
              "(make bench-against) and writes the new size here");

}  // namespace cxloom
