#include "program/feed/room.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace cxloom {

void note_read(FeedRingHead& head, std::uint64_t words) {
  head.read.store(words);  // before the look at the writer, which looks at it once it says that it rests
  if (head.rests.load() % 2 == 0) return;
  const std::uint64_t left = head.written.load(std::memory_order_relaxed) - words;
  if (left > head.words / 2) return;
  head.wakings.fetch_add(1);
  syscall(SYS_futex, &head.wakings, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace cxloom
