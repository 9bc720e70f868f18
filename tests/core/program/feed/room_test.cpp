// A writer that rests is woken once half of its ring is free.
#include "program/feed/room.hpp"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>

#include "program/feed/ring.hpp"

namespace cxloom {
namespace {

std::unique_ptr<FeedRingHead> full_ring() {
  auto head = std::make_unique<FeedRingHead>();
  head->words = 16;
  head->written = 16;
  return head;
}

TEST(RoomTest, WhoDoesNotRestIsNotWoken) {
  const auto head = full_ring();
  note_read(*head, 16);
  EXPECT_EQ(head->read.load(), 16U);
  EXPECT_EQ(head->wakings.load(), 0U);
}

TEST(RoomTest, WhoRestsIsWokenOnceHalfIsFree) {
  const auto head = full_ring();
  head->rests = 1;
  note_read(*head, 7);
  EXPECT_EQ(head->wakings.load(), 0U);
  note_read(*head, 8);
  EXPECT_EQ(head->wakings.load(), 1U);
  head->rests = 2;
  note_read(*head, 16);
  EXPECT_EQ(head->wakings.load(), 1U);
}

TEST(RoomTest, WhoSleepsGoesOn) {
  const auto head = full_ring();
  head->rests = 1;
  int error = 0;
  std::thread writer([&] {
    const timespec longest{60, 0};
    if (syscall(SYS_futex, &head->wakings, FUTEX_WAIT, 0, &longest, nullptr, 0) != 0) error = errno;
  });
  note_read(*head, 16);
  writer.join();
  EXPECT_TRUE(error == 0 || error == EAGAIN) << error;  // it was woken, or came too late to sleep
}

}  // namespace
}  // namespace cxloom
