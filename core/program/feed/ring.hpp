// The memory that a program under an emulator and cxloom share: a control page, and rings of words with one
// writer and one reader each. A ring is a file in a private folder, mapped by both; no descriptor stays open,
// whatever the program closes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cxloom {

inline constexpr std::uint32_t kFeedVersion = 9;

/// The first page of the folder's file "control".
struct FeedControl {
  static constexpr std::uint64_t kMark = 0x6378'6C6F'6F6D'6331;

  std::uint64_t mark = 0;
  std::uint32_t version = 0;
  std::uint32_t reader = 0;         ///< process of the reader; without it the writers go on and tell nothing
  std::uint32_t thread_words = 0;   ///< of the ring of a thread; a power of two
  std::uint32_t process_words = 0;  ///< of the ring of a process
  std::atomic<std::uint32_t> rings{0};  ///< how many there are; the next one is called by this number
  std::atomic<std::uint32_t> stop{0};   ///< the reader has enough: writers no longer wait for it
  std::atomic<std::uint32_t> failures{0};
  std::atomic<std::uint32_t> failed{0};   ///< `failure` is written
  std::atomic<std::uint32_t> escaped{0};  ///< processes that went on outside of the emulator
  /// Calls of the kernel, their ends and beginnings of threads so far: each takes the next number.
  std::atomic<std::uint64_t> order{0};
  char failure[512] = {};                  ///< what went wrong first, a sentence
  std::atomic<std::uint32_t> orphaned{0};  ///< the reader was killed, or says so: the programs end, too
  std::atomic<std::uint32_t> lacks{0};     ///< instructions that the emulator does not have, and came to
  std::atomic<std::uint32_t> lacked{0};    ///< `lacking` is written
  char lacking[256] = {};                  ///< the first of them
};
inline constexpr std::size_t kFeedControlBytes = 4096;
static_assert(sizeof(FeedControl) <= kFeedControlBytes);

/// In front of the words of a ring. The writer changes the second line, the reader the third.
struct FeedRingHead {
  static constexpr std::uint64_t kMark = 0x6378'6C6F'6F6D'7231;
  /// The ring of a process says what its blocks are; a thread's says what it does with these blocks.
  enum Kind : std::uint32_t { kProcess = 1, kThread = 2 };

  std::atomic<std::uint64_t> mark{0};  ///< written last: the rest of this line is valid
  std::uint32_t kind = 0;
  std::uint32_t words = 0;
  std::uint32_t process = 0;    ///< number of the ring of its process
  std::uint32_t parent = 0;     ///< of a process: whose fork it is; itself if of nobody
  std::uint32_t inherited = 0;  ///< of a fork: the blocks below this number are its parent's
  std::uint32_t pid = 0;
  std::uint32_t replaces = 0;  ///< of a process: in whose place execve put it; itself if in nobody's
  std::uint32_t creator = 0;   ///< of a thread: the ring of the one that began it; itself if nobody did
  std::uint64_t creation = 0;  ///< order of the call that began it
  std::uint64_t begun = 0;     ///< its own place in that order
  /// The process is a machine with all that runs on it. Its threads are processors, which never call the
  /// kernel, and which say where pages are before they access them.
  std::uint32_t is_machine = 0;

  /// Words written so far. The writer stores it with every record, so that nothing is lost when it is killed.
  alignas(64) std::atomic<std::uint64_t> written{0};
  std::atomic<std::uint32_t> closed{0};  ///< nothing will follow
  std::atomic<std::uint32_t> forks{0};   ///< of a process: how many were begun
  std::atomic<std::uint32_t> tid{0};     ///< of a thread: the system's number of it, from its first call on
  std::atomic<std::uint64_t> offset{0};  ///< of a process: from its addresses to this machine's
  std::atomic<std::uint32_t> rests{0};   ///< odd while the writer sleeps until there is room

  alignas(64) std::atomic<std::uint64_t> read{0};
  std::atomic<std::uint32_t> wakings{0};  ///< a futex on which the writer rests

  char name[256] = {};  ///< of a process: its program's, as it is called; of a thread: its own, if it has one
};
inline constexpr std::size_t kFeedHeadBytes = 4096;
static_assert(sizeof(FeedRingHead) <= kFeedHeadBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace cxloom
