// An access stream that is fed in batches: a trace too large for memory, or one that only the outside can
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "workload/stream/access_stream.hpp"
#include "workload/stream/batch_times.hpp"
#include "workload/stream/rounds.hpp"
#include "workload/trace/non_access_filter.hpp"

namespace cxloom {

class TraceStream final : public AccessStream {
 public:
  /// Appends the next batch to the vector, which it gets empty, and returns true; false at the end, without a
  /// batch. An empty batch is not the end. Called from next() and the constructor only, and never again after
  /// the end.
  using Refill = std::function<bool(std::vector<Access>&)>;
  /// Told which thread's records are waited for.
  using Want = std::function<void(std::uint32_t)>;
  /// What gives the trace from its beginning.
  using Again = std::function<Refill()>;

  /// `length` is the number of records where it is known beforehand. With `cores` calls and what goes on
  /// behind them are given as well, without it accesses alone. `times`, if there are any, hear of batches and
  /// of answers to reads and atomic operations. Reads the first batch.
  explicit TraceStream(Refill refill, std::optional<std::uint64_t> length = std::nullopt, bool cores = false,
                       std::shared_ptr<BatchTimes> times = nullptr, Want want = {});
  /// A trace played so often. The times of a round go on from the last one of the round before.
  TraceStream(const Again& again, Rounds rounds, std::optional<std::uint64_t> length, bool cores);

  /// Throws InputError if the trace ends before or goes on after its length, or what the refill throws.
  bool next(Access& access) override;
  void want(std::uint32_t thread) override {
    if (want_ && thread != std::exchange(wanted_, thread)) want_(thread);
  }
  bool repeats() const override { return rounds_begun_ > 1; }
  bool wants_answers() const override { return times_ != nullptr; }
  void answered(std::uint64_t number, const Request& request, Time now) override;
  /// The number of accesses: known beforehand, or once the last batch is in, or the first round is over and
  /// others of the same follow, unless they do so for ever. Other records do not count.
  std::optional<std::uint64_t> length() const override {
    if (of_all_rounds_) return of_all_rounds_;
    return length_ ? std::optional(*length_ - notes_.count()) : std::nullopt;
  }

  /// The accesses of the batch at hand.
  std::uint64_t left_at_least() const override { return batch_.size() - at_; }
  bool may_store_past() const override { return batch_stores_past_; }

  /// Records given so far.
  std::uint64_t count() const { return before_ + at_; }
  /// True as soon as the last access has been given: no call of next() is needed to find out.
  bool exhausted() const { return at_ == batch_.size(); }

 private:
  void refill();
  bool begin_round();
  void know_length();
  void check_repeatable(const std::vector<Access>& batch) const;
  void go_on_in_time(std::vector<Access>& batch);

  Refill refill_;
  Again again_;
  Rounds rounds_;
  bool cores_;
  std::uint64_t rounds_begun_ = 1;
  std::uint64_t read_before_round_ = 0;
  Time round_start_;  // what its timestamps count from
  Time latest_;       // timestamp, from the start of the stream
  Want want_;
  std::uint32_t wanted_ = 0;
  std::vector<Access> batch_;
  std::size_t at_ = 0;  // in the batch; less than its size except at the end
  bool batch_stores_past_ = false;
  std::uint64_t before_ = 0;                    // given from batches before this one
  std::uint64_t read_ = 0;                      // records
  std::optional<std::uint64_t> length_;         // records
  std::optional<std::uint64_t> of_all_rounds_;  // accesses
  NonAccessFilter notes_;
  std::shared_ptr<BatchTimes> times_;
};

}  // namespace cxloom
