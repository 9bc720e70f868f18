// Which thread waits for which: by futexes, by the ends of threads and of processes.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "program/feed/program_sink.hpp"

namespace cxloom {

/// Follows the system calls of all threads in order, and finds the calls that let waiting threads go on.
///
/// A futex wakes its waiters in the order in which they came. How many it woke is known when its call is
/// back, and a woken thread may be back before. Until then it counts as waking as many as it may.
class FutexTracker {
 public:
  /// By the call `by`, if anybody knows it.
  void begins(const ProgramThread& thread, const Release& by);
  /// `pid` is the number that the system gives the thread's process.
  void calls(const ProgramThread& thread, std::uint32_t pid, const SystemCall& call);
  /// The call that the ended call waited for.
  Release ends(const ProgramThread& thread, const SystemCallEnd& end);
  /// It does nothing more.
  void gone(const ProgramThread& thread);

  /// A thread that waits will go on behind a call that was made; or not, if it was taken to and is not.
  struct Resumption {
    ProgramThread thread;
    Release by;  ///< of nobody: it waits again
  };
  /// The resumptions since this was asked last.
  std::vector<Resumption> take_resumptions() { return std::exchange(resumptions_, {}); }
  bool has_resumptions() const { return !resumptions_.empty(); }

  /// A read at this address may show that a thread has ended.
  bool may_join(std::uint64_t address) const { return watched_[place_of(address)]; }
  /// The end of another thread that a read at this address shows; each is given once.
  Release joins(const ProgramThread& thread, std::uint64_t address);
  /// The other thread whose end a read at this address would show, if it has not ended as far as is known; 0:
  /// none.
  std::uint32_t living_at(const ProgramThread& thread, std::uint64_t address) const;

 private:
  // A futex, or what the kernel clears when a thread ends, which is one, too.
  struct Word {
    std::uint32_t process = 0;
    std::uint64_t address = 0;
    bool shared = false;  // with other processes that have it at this address

    bool is(const Word& other) const {
      return address == other.address && (process == other.process || (shared && other.shared));
    }
  };
  struct Waiter {
    ProgramThread thread;
    Word word;
    Release by;  // the call taken to have woken it
  };
  struct Wake {
    Release by;
    Word word;
    Word onto;                // of a requeue: where the others wait from then on
    std::uint64_t most = 0;   // wakes so many
    bool counts = true;       // its result is how many it woke and moved
    std::uint64_t woken = 0;  // so far
  };
  struct End {
    Word word;
    Release by;
    bool told = false;
  };

  // Words of threads lie at one place of their pages.
  static constexpr std::size_t kPlaces = 1024;
  static std::size_t place_of(std::uint64_t address) { return address / 4 % kPlaces; }
  void futex(const ProgramThread& thread, const SystemCall& call);
  void waits(const ProgramThread& thread, const Word& word);
  void resume(Waiter& waiter, const Release& by);
  void take_over(Waiter& waiter);
  void ends_thread(const ProgramThread& thread, const Release& by);
  void hand_out(Wake& wake);
  void settle(std::uint32_t thread, std::uint64_t result);
  const End* end_at(const Word& word) const;
  Release changed_by(const Waiter& waiter) const;
  void watch();

  std::vector<Waiter> waiters_;            // in the order of their calls
  std::vector<Wake> wakes_;                // whose calls are not back
  std::deque<Wake> recent_;                // the latest wakes, back or not
  std::vector<End> ended_;                 // threads whose words nobody has taken again
  std::map<std::uint32_t, Word> cleared_;  // by living thread: what its end clears
  std::unordered_map<std::uint64_t, std::uint64_t>
      made_;                                          // by the order of a clone: what the child's end clears
  std::unordered_map<std::uint32_t, Release> exits_;  // by the system's number of the process
  std::bitset<kPlaces> watched_;
  std::vector<Resumption> resumptions_;
};

}  // namespace cxloom
