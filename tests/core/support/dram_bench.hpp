// DRAM media behind a controller that only writes down when each access is done, and the patterns of accesses
// with which they are measured.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/support/media_kinds.hpp"
#include "memory/dram/controller/params.hpp"
#include "memory/dram/device/command.hpp"
#include "protocol/request.hpp"

namespace cxloom::test {

struct DramAccess {
  std::uint64_t address = 0;
  bool write = false;
  std::uint16_t size = 64;
  NodeId requester{0};
};

/// The accesses of public comparisons of DRAM simulators: sequential, random, mixed two reads to one write,
/// ...
class DramPattern {
 public:
  explicit DramPattern(std::string name, std::uint64_t bytes = std::uint64_t{1} << 33U)
      : name_(std::move(name)), mask_(bytes - 1) {}

  DramAccess next() {
    const std::uint64_t i = count_++;
    const auto line = [&](std::uint64_t address) { return address & mask_ & ~std::uint64_t{63}; };
    if (name_ == "seq_r") return {line(i * 64), false};
    if (name_ == "seq_w") return {line(i * 64), true};
    if (name_ == "seq_mix21") return {line(i * 64), i % 3 == 2};
    if (name_ == "rand_r") return {line(random() << 6U), false};
    if (name_ == "rand_w") return {line(random() << 6U), true};
    if (name_ == "rand_mix21") {
      const std::uint64_t address = line(random() << 6U);
      return {address, random() % 3 == 0};
    }
    if (name_ == "stride256_r") return {line(i * 256), false};
    if (name_ == "stride4k_r") return {line(i * 4096), false};
    if (name_ == "stride8k_r") return {line(i * 8192), false};
    if (name_ == "hotrow_r") return {line((random() & 63) << 6U), false};
    ADD_FAILURE() << "no pattern " << name_;
    return {};
  }

 private:
  std::uint64_t random() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

  std::string name_;
  std::uint64_t mask_;
  std::uint64_t count_ = 0;
  std::uint64_t state_ = 0x0123456789abcdefULL;
};

inline KindSpec fr_fcfs(Time age_cap) {
  return {"fr-fcfs", Value(Value::Map{{"age_cap", std::to_string(age_cap.ps()) + "ps"}})};
}

/// What came of a run.
struct DramRun {
  double gb_per_s = 0;  ///< once it runs steadily, accesses of 64 bytes
  double read_ns = 0;   ///< mean latency of reads
  double row_hit_rate = 0;
  double end_ns = 0;
};

/// Whether the whole tables of presets, patterns and depths are wanted: CXLOOM_DRAM_DEPTHS=all (make
/// dram-check).
bool whole_dram_tables();

class DramBench {
 public:
  explicit DramBench(const DramParams& params, Bytes capacity = Bytes{1ULL << 30U},
                     const MediaRegistry& kinds = media_kinds());
  ~DramBench();

  static DramParams preset(const std::string& name) {
    DramParams params;
    params.preset = name;
    return params;
  }
  const DramConfig& config() const;

  /// One access at `ready`; its time of completion is in `done_at` of the number returned, after `run`.
  std::size_t access(const DramAccess& access, Time ready);
  void run(Time limit = Time::max());
  Time now() const;
  std::uint64_t events() const;
  Time latency(std::size_t number) const;
  Time segment(std::size_t number, Segment which) const;

  /// Open loop: one access each `gap` picoseconds.
  DramRun open_loop(DramPattern pattern, std::uint64_t count, Time gap);
  /// Closed loop: always so many accesses on their way.
  DramRun closed_loop(DramPattern pattern, std::uint64_t count, std::uint64_t outstanding) {
    return loop([&pattern] { return pattern.next(); }, count, outstanding);
  }
  /// A loop of accesses from anywhere.
  DramRun loop(const std::function<DramAccess()>& pattern, std::uint64_t count, std::uint64_t outstanding) {
    return hosts({pattern}, count, outstanding);
  }
  /// A loop of several requesters, which share the accesses under way. Each answers a completion of its own
  /// with its next access, and so goes on at the pace at which it is served.
  DramRun hosts(const std::vector<std::function<DramAccess()>>& patterns, std::uint64_t count,
                std::uint64_t outstanding);

  // The window, as the media has it.
  void open_window(Time now);
  void close_window(Time now);
  void watch(DramCommandLog* log);
  void drain();
  double measure(const std::string& name) const;

  std::vector<Time> done_at;

 private:
  /// Bytes over time between the first and the last tenth of the completions.
  double steady_rate() const;
  DramRun result();

  class Driver;
  std::unique_ptr<Driver> driver_;
};

}  // namespace cxloom::test
