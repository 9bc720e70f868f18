#include "workload/trace/non_access_filter.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "workload/trace/stream.hpp"

namespace cxloom {
namespace {

Access record(std::uint64_t address, AccessRole role = AccessRole::kDemand, std::uint32_t dependence = 0,
              std::uint32_t thread = 1) {
  Access made;
  made.address = Address{address};
  made.role = role;
  made.dependence = dependence;
  made.thread = thread;
  made.instruction_gap = 10;
  made.cycles = 100;
  return made;
}

// Two calls and a thread that goes on behind one, between accesses of two threads.
std::vector<Access> records() {
  return {record(0),
          record(5, AccessRole::kCall),
          record(1, AccessRole::kDemand, 2),  // needs 0
          record(5, AccessRole::kGoOn, 0, 2),
          record(2, AccessRole::kDemand, 2, 2),  // needs 1
          record(3, AccessRole::kDemand, 1, 2),  // needs 2
          record(6, AccessRole::kCall),
          record(4, AccessRole::kDemand, 7),  // needs 0
          record(5, AccessRole::kDemand, kAllBefore, 2)};
}

TEST(NonAccessFilter, WithCoresNothingChanges) {
  NonAccessFilter filter(true);
  std::vector<Access> batch = records();
  filter.apply(batch);
  ASSERT_EQ(batch.size(), 9U);
  EXPECT_EQ(filter.count(), 3U);
  EXPECT_EQ(batch[7].dependence, 7U);
}

TEST(NonAccessFilter, WithoutThemAccessesAreLeftWhateverTheBatches) {
  for (const std::size_t size : {1U, 2U, 5U, 9U}) {
    NonAccessFilter filter(false);
    std::vector<Access> left;
    const std::vector<Access> all = records();
    for (std::size_t at = 0; at < all.size(); at += size) {
      std::vector<Access> batch(all.begin() + static_cast<std::ptrdiff_t>(at),
                                all.begin() + static_cast<std::ptrdiff_t>(std::min(at + size, all.size())));
      filter.apply(batch);
      left.insert(left.end(), batch.begin(), batch.end());
    }
    ASSERT_EQ(left.size(), 6U);
    EXPECT_EQ(filter.count(), 3U);
    const std::vector<std::uint32_t> needs{0, 1, 1, 1, 4, kAllBefore};
    // What was left out lies before the next access of its thread.
    const std::vector<std::uint32_t> instructions{10, 20, 20, 10, 20, 10};
    for (std::size_t i = 0; i < left.size(); ++i) {
      EXPECT_EQ(left[i].address.value(), i);
      EXPECT_EQ(left[i].dependence, needs[i]) << i;
      EXPECT_EQ(left[i].instruction_gap, instructions[i]) << i;
      EXPECT_EQ(left[i].cycles, 10 * instructions[i]) << i;
    }
  }
}

TEST(NonAccessFilter, AFenceThatIsLeftOutStandsBeforeTheNextAccessOfItsThread) {
  NonAccessFilter filter(false);
  std::vector<Access> batch{record(0), record(0, AccessRole::kProgress, kAllBefore),
                            record(1, AccessRole::kDemand, 0, 2), record(2, AccessRole::kDemand, 3),
                            record(3, AccessRole::kDemand, 1)};
  filter.apply(batch);
  std::vector<std::uint32_t> needs;
  for (const Access& access : batch) needs.push_back(access.dependence);
  EXPECT_EQ(needs, (std::vector<std::uint32_t>{0, 0, kAllBefore, 1}));
}

TEST(NonAccessFilter, AStreamOfAccessesIsAsLongAsTheyAre) {
  for (const bool cores : {false, true}) {
    bool given = false;
    TraceStream stream(
        [&](std::vector<Access>& batch) {
          if (given) return false;
          given = true;
          batch = records();
          return true;
        },
        9, cores);
    std::size_t count = 0;
    for (Access access; stream.next(access);) ++count;
    EXPECT_EQ(count, cores ? 9U : 6U);
    EXPECT_EQ(stream.length(), 6U);
  }
}

}  // namespace
}  // namespace cxloom
