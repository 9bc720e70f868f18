#include "workload/placement/placed_stream.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/schema.hpp"
#include "core/support/errors.hpp"
#include "workload/placement/first_touch.hpp"

namespace cxloom {
namespace {

using test::input_error;

/// These addresses, one access after the other.
class ListedAccesses final : public AccessStream {
 public:
  ListedAccesses(std::vector<std::uint64_t> addresses, std::uint16_t size)
      : addresses_(std::move(addresses)), size_(size) {}
  bool next(Access& access) override {
    if (at_ == addresses_.size()) return false;
    access.address = Address{addresses_[at_++]};
    access.size = size_;
    return true;
  }

 private:
  std::vector<std::uint64_t> addresses_;
  std::uint16_t size_;
  std::size_t at_ = 0;
};

std::vector<std::uint64_t> placed(std::vector<std::uint64_t> addresses, const Frames& frames,
                                  std::uint16_t size = 64, Division division = {}, Bytes page = Bytes{4096},
                                  const PageRuns& touched = {}) {
  const std::vector<NumaNode> nodes(1);
  const PlacementRegistry kinds("placement");
  const PlacementContext context{nodes, page, kinds};
  PlacedStream stream(std::make_unique<ListedAccesses>(std::move(addresses), size),
                      std::make_unique<FirstTouchPlacement>(FirstTouchPlacement::Params{}, context),
                      ProgramMemory({{{std::make_shared<FrameOrder>(frames, page), 0, count_of(frames)}}}),
                      {"m"}, page, division, "workload.h");
  stream.touch(touched);
  std::vector<std::uint64_t> all;
  for (Access access; stream.next(access);) all.push_back(access.address.value());
  return all;
}

TEST(PlacedStream, FramesFollowTheOrderOfTouch) {
  const Frames frames{{Address{1U << 20U}, 2}, {Address{1U << 30U}, 1}};
  EXPECT_EQ(
      placed({0x7fff'0000'0ff0, 0x1000, 0x7fff'0000'0040, 0x9000}, frames),
      (std::vector<std::uint64_t>{(1U << 20U) + 0xff0, (1U << 20U) + 0x1000, (1U << 20U) + 0x40, 1U << 30U}));
}

TEST(PlacedStream, PagesHaveTheirSize) {
  const Frames frames{{Address{1U << 30U}, 2}};
  EXPECT_EQ(
      placed({0x40'0010, 0x5f'ff00, 0x10}, frames, 64, {}, Bytes{2U << 20U}),
      (std::vector<std::uint64_t>{(1U << 30U) + 0x10, (1U << 30U) + 0x1f'ff00, (1U << 30U) + 0x20'0010}));
}

TEST(PlacedStream, StaysInItsFrames) {
  // The last page has no frame behind it: an access across its end ends with it.
  const Frames frames{{Address{0}, 2}, {Address{1U << 20U}, 1}};
  EXPECT_EQ(placed({0x0, 0x1ff0, 0x2000}, frames), (std::vector<std::uint64_t>{0x0, 0x1fc0, 1U << 20U}));
  EXPECT_EQ(placed({0x0ff0, 0x1000}, frames), (std::vector<std::uint64_t>{0x0ff0, 0x1000}));
}

// Touched before: frames go by the addresses of pages, whatever the order of accesses. Page 9 is none of
// them.
TEST(PlacedStream, PagesTouchedBeforeHaveFramesInTheirOrder) {
  const Frames frames{{Address{1U << 20U}, 8}};
  const PageRuns touched{{2, 3}, {6, 1}};
  EXPECT_EQ(placed({0x6010, 0x9000, 0x4000, 0x2000, 0x6020}, frames, 64, {}, Bytes{4096}, touched),
            (std::vector<std::uint64_t>{(1U << 20U) + 0x3010, (1U << 20U) + 0x4000, (1U << 20U) + 0x2000,
                                        1U << 20U, (1U << 20U) + 0x3020}));
}

TEST(PlacedStream, ReportsPagesTouchedBeforeThatHaveNoFrame) {
  const Frames frames{{Address{0}, 2}};
  const InputError error = input_error([&] { placed({0}, frames, 64, {}, Bytes{4096}, {{0, 3}}); });
  EXPECT_EQ(error.path(), "addresses");
  EXPECT_EQ(error.detail().found, "page 3 of 4KiB");
  EXPECT_EQ(error.detail().allowed, "at most 2 pages (8KiB)");
}

FrameSlice slice_of(std::uint64_t base, std::uint64_t count) {
  const Frames frames{{Address{base}, count}};
  return {std::make_shared<FrameOrder>(frames, Bytes{4096}), 0, count};
}

// Two parts of two frames each; the second one goes, and comes back with what was taken of it.
TEST(ProgramMemory, GivesWhatItIsOffered) {
  constexpr std::uint64_t kSecond = 1U << 20U;
  ProgramMemory memory({{slice_of(0, 2), slice_of(kSecond, 2)}});
  EXPECT_EQ(memory.free()[0], 4U);
  EXPECT_EQ(memory.take(0).base.value(), 0U);
  memory.offer(0, {false, true});
  EXPECT_EQ(memory.free()[0], 2U);
  EXPECT_EQ(memory.take(0).base.value(), kSecond);
  memory.offer(0, {false, false});
  EXPECT_EQ(memory.free()[0], 0U);
  EXPECT_FALSE(memory.offers(0));
  EXPECT_FALSE(memory.take_spare(0));
  memory.offer(0, {true, true});
  EXPECT_EQ(memory.free()[0], 2U);
  EXPECT_EQ(memory.take(0).base.value(), 4096U);
  EXPECT_EQ(memory.take(0).base.value(), kSecond + 4096U);
  EXPECT_EQ(memory.free()[0], 0U);
  EXPECT_TRUE(memory.offers(0));  // full, and yet there
}

TEST(ProgramMemory, PlacesPagesInSpareFramesOnlyIfMemoryChanges) {
  const ProgramMemory::Parts own{{slice_of(0, 1)}};
  const ProgramMemory::Parts spare{{slice_of(1U << 20U, 1)}};
  ProgramMemory fixed(own, spare);
  ProgramMemory changing(own, spare, true);
  EXPECT_EQ(fixed.free()[0], 1U);
  EXPECT_EQ(changing.free()[0], 2U);
  EXPECT_EQ(changing.take(0).base.value(), 0U);
  EXPECT_EQ(changing.take(0).base.value(), 1U << 20U);
  EXPECT_EQ(fixed.take_spare(0)->base.value(), 1U << 20U);
  EXPECT_EQ(fixed.free()[0], 1U);
}

TEST(PlacedStream, ReportsWhatHasNoFrame) {
  const Frames frames{{Address{0}, 2}};
  const InputError error = input_error([&] { placed({0, 4096, 8192}, frames); });
  EXPECT_EQ(error.path(), "workload.h");
  EXPECT_NE(error.detail().problem.find("out of memory"), std::string::npos);
  EXPECT_EQ(error.detail().found, "page 3 of 4KiB");
  EXPECT_EQ(error.detail().allowed, "at most 2 pages (8KiB)");
  const InputError none = input_error([&] { placed({0}, {}); });
  EXPECT_NE(none.detail().problem.find("none is there for it"), std::string::npos);
  const InputError shared = input_error([&] { placed({0, 4096, 8192}, frames, 64, {4096, 3}); });
  EXPECT_EQ(shared.detail().allowed, "at most 2 pages (8KiB), its share of 4096 frames among 3 programs");
}

TEST(PlacedStream, ReportsAnAccessThatIsLongerThanItsMemory) {
  const Frames frames{{Address{0}, 2}, {Address{1U << 20U}, 4}};
  const InputError error = input_error([&] { placed({0, 4096}, frames, 8192); });
  EXPECT_EQ(error.path(), "workload.h");
  EXPECT_EQ(error.detail().problem, "the access is longer than the memory that follows on its first byte");
  EXPECT_EQ(error.detail().found, "8KiB from 0x1000 on, in pages of 4KiB");
  EXPECT_EQ(error.detail().allowed,
            "at most 4KiB in frames that lie side by side; larger with a larger page, or frames: contiguous");
}

}  // namespace
}  // namespace cxloom
