#include "workload/stream/batch_times.hpp"

#include <gtest/gtest.h>

#include "workload/trace/stream.hpp"

namespace cxloom {
namespace {

using namespace literals;

TEST(BatchTimes, HaveTheLatestAnswerOfEachBatchInWhateverOrder) {
  BatchTimes times;
  times.append(2);
  times.append(1);
  times.append(3);
  times.answered(5, 70_ns);
  times.answered(0, 30_ns);
  times.answered(1, 20_ns);
  times.answered(3, 40_ns);
  EXPECT_EQ(times.latest(), (std::vector<Time>{30_ns, Time{}, 70_ns}));
}

TEST(BatchTimes, AStreamTellsThemOfReadsAlone) {
  const auto times = std::make_shared<BatchTimes>();
  int batches = 0;
  TraceStream stream(
      [&](std::vector<Access>& batch) {
        batch.resize(2);
        return batches++ < 2;
      },
      std::nullopt, true, times);
  EXPECT_TRUE(stream.wants_answers());
  EXPECT_FALSE(TraceStream([](std::vector<Access>&) { return false; }).wants_answers());
  for (Access access; stream.next(access);) {
  }
  Request request;
  request.kind = AccessKind::kWrite;
  stream.answered(0, request, 50_ns);
  request.kind = AccessKind::kRead;
  stream.answered(1, request, 20_ns);
  request.kind = AccessKind::kAtomic;
  stream.answered(3, request, 30_ns);
  EXPECT_EQ(times->latest(), (std::vector<Time>{20_ns, 30_ns}));
}

}  // namespace
}  // namespace cxloom
