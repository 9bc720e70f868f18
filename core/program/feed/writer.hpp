// The writer's end of a ring. It is compiled into the emulator's plug-in: no exceptions, nothing of the rest
// of cxloom.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "program/feed/ring.hpp"

namespace cxloom {

/// Writes words into a ring that it makes. Before it is opened, and after it is closed, it has no room.
class FeedWriter {
 public:
  /// What a ring tells its reader of itself: whose it is, and where it comes from.
  struct RingIdentity {
    FeedRingHead::Kind kind = FeedRingHead::kThread;
    std::uint32_t number = 0;
    std::uint32_t process = 0;
    std::uint32_t parent = 0;
    std::uint32_t inherited = 0;
    std::uint32_t replaces = 0;
    std::uint32_t creator = 0;
    std::uint64_t creation = 0;
    bool is_machine = false;
    const char* name = "";
  };

  /// Makes the file `folder/number` and maps it. 0, or what errno says.
  int open(const char* folder, FeedControl& control, const RingIdentity& ring) {
    char name[kLongestName];
    const int length = std::snprintf(name, sizeof name, "%s/%u", folder, ring.number);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof name) return ENAMETOOLONG;
    const std::uint32_t words =
        ring.kind == FeedRingHead::kThread ? control.thread_words : control.process_words;
    const std::size_t bytes = kFeedHeadBytes + std::size_t{words} * sizeof(std::uint64_t);
    const int file = above_standard_streams(::open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file < 0) return errno;
    // A page that the disk has no room for would kill the program when it is touched: all room is taken now.
    int error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
    void* memory = MAP_FAILED;
    if (error == 0) {
      memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (memory == MAP_FAILED) error = errno;
    }
    ::close(file);
    if (error != 0) {
      ::unlink(name);
      return error;
    }
    head_ = static_cast<FeedRingHead*>(memory);
    slots_ = reinterpret_cast<std::uint64_t*>(static_cast<char*>(memory) + kFeedHeadBytes);
    mask_ = words - 1;
    at_ = 0;
    limit_ = words;
    head_->kind = ring.kind;
    head_->words = words;
    head_->process = ring.process;
    head_->parent = ring.parent;
    head_->inherited = ring.inherited;
    head_->pid = static_cast<std::uint32_t>(getpid());
    head_->replaces = ring.replaces;
    head_->creator = ring.creator;
    head_->creation = ring.creation;
    head_->is_machine = ring.is_machine ? 1 : 0;
    std::snprintf(head_->name, sizeof head_->name, "%s", ring.name);
    if (ring.kind == FeedRingHead::kThread) head_->begun = next_in_order(control);
    head_->mark.store(FeedRingHead::kMark, std::memory_order_release);
    return 0;
  }

  /// Whether words find a place, be it that of the muted.
  bool is_open() const { return head_ != nullptr; }
  bool full() const { return at_ == limit_; }
  std::uint64_t room() const { return limit_ - at_; }

  /// There must be room.
  void put(std::uint64_t word) {
    slots_[at_ & mask_] = word;
    ++at_;
    head_->written.store(at_, std::memory_order_release);
  }
  /// The i-th word behind the end, which nobody sees before `publish`.
  std::uint64_t& ahead(std::uint64_t i) { return slots_[(at_ + i) & mask_]; }
  void publish(std::uint64_t count) {
    at_ += count;
    head_->written.store(at_, std::memory_order_release);
  }

  /// The offset from the process's addresses to this machine's.
  void note_offset(std::uint64_t offset) { head_->offset.store(offset, std::memory_order_relaxed); }
  /// This is the thread that writes.
  void note_thread() {
    if (head_->tid.load(std::memory_order_relaxed) == 0)
      head_->tid.store(static_cast<std::uint32_t>(gettid()), std::memory_order_relaxed);
  }

  /// Nobody looks for a number that was taken and not written: what has it must follow at once.
  static std::uint64_t next_in_order(FeedControl& control) {
    return control.order.fetch_add(1, std::memory_order_acq_rel) + 1;
  }

  /// Waits until there is room for so many words; false if nobody reads any longer.
  bool wait_for(std::uint64_t count, FeedControl& control) {
    for (unsigned turn = 1;; ++turn) {
      const std::uint32_t wakings = head_->wakings.load(std::memory_order_acquire);
      if (has_room(count)) return true;
      if (control.stop.load(std::memory_order_relaxed) != 0) return false;
      const bool look = turn % 10 == 0;  // ten times per second
      if (look && kill(static_cast<pid_t>(control.reader), 0) != 0 && errno == ESRCH) {
        control.orphaned.store(1);
        control.stop.store(1);
      }
      head_->rests.fetch_add(1);  // from now on the reader wakes it
      if (!has_room(count)) sleep_until_woken(wakings);
      head_->rests.fetch_add(1);
    }
  }

  /// A fork of this process is about to begin.
  void count_fork() {
    if (head_ != nullptr) head_->forks.fetch_add(1, std::memory_order_release);
  }
  /// Nothing will follow.
  void close() {
    if (head_ == nullptr) return;
    mark_closed();
    forget();
  }
  /// The ring is somebody else's from now on: that of the parent, after a fork.
  void forget() {
    if (head_ != nullptr && !muted_) munmap(head_, kFeedHeadBytes + (mask_ + 1) * sizeof(std::uint64_t));
    *this = {};
  }
  /// Takes words and drops them from now on.
  void mute() {
    forget();
    static FeedRingHead nowhere;
    static std::uint64_t nothing;
    head_ = &nowhere;
    slots_ = &nothing;
    limit_ = ~std::uint64_t{0};
    muted_ = true;
  }
  bool muted() const { return muted_; }
  /// Only says that nothing will follow, for the moment in which other threads may still write.
  void mark_closed() {
    if (head_ != nullptr) head_->closed.store(1, std::memory_order_release);
  }

 private:
  static constexpr std::size_t kLongestName = 4096;
  static constexpr timespec kLongestRest{0, 10'000'000};

  bool has_room(std::uint64_t count) {
    limit_ = head_->read.load() + mask_ + 1;
    return room() >= count;
  }
  // However many wait for their reader, they leave this computer to it.
  void sleep_until_woken(std::uint32_t wakings) {
    const int error = errno;
    syscall(SYS_futex, &head_->wakings, FUTEX_WAIT, wakings, &kLongestRest, nullptr, 0);
    errno = error;
  }

  // A program whose standard output is closed may write there at any time, and would write into the ring.
  static int above_standard_streams(int file) {
    if (file < 0 || file > STDERR_FILENO) return file;
    const int above = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    ::close(file);
    errno = error;
    return above;
  }

  FeedRingHead* head_ = nullptr;
  std::uint64_t* slots_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t limit_ = 0;
  bool muted_ = false;
};

}  // namespace cxloom
