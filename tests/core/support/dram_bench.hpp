// DRAM media behind a controller that only writes down when each access is done, and the patterns of accesses with which
// they are measured.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/support/media_kinds.hpp"
#include "core/support/probe.hpp"
#include "core/support/victims.hpp"
#include "memory/dram_media.hpp"
#include "protocol/request.hpp"

namespace cxloom::test {

struct DramAccess {
  std::uint64_t address = 0;
  bool write = false;
  std::uint16_t size = 64;
  NodeId requester{0};
};

/// The accesses of public comparisons of DRAM simulators: sequential, random, mixed two reads to one write, ...
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

inline Kinded fr_fcfs(Time age_cap) {
  return {"fr-fcfs", Value(Value::Map{{"age_cap", std::to_string(age_cap.ps()) + "ps"}})};
}

/// What came of a run.
struct DramRun {
  double gb_per_s = 0;  ///< once it runs steadily, accesses of 64 bytes
  double read_ns = 0;   ///< mean latency of reads
  double row_hit_rate = 0;
  double end_ns = 0;
};

class DramBench final : public MediaClient, public EventHandler {
 public:
  explicit DramBench(const DramParams& params, Bytes capacity = Bytes{1ULL << 30U},
                     const MediaRegistry& kinds = media_kinds())
      : media(params, MediaContext{kernel, owner_, *this, kinds, victims(), capacity, 1}),
        source_(kernel.new_source()) {}

  static DramParams preset(const std::string& name) {
    DramParams params;
    params.preset = name;
    return params;
  }

  /// One access at `ready`; its time of completion is in `done_at` of the number returned, after `run`.
  std::size_t access(const DramAccess& access, Time ready) {
    const std::size_t number = requests_.size();
    Request& request = requests_.emplace_back();
    request.id = number;
    request.created = request.account.mark = ready;
    Message& message = request.message;
    message.account = &request.account;
    message.tag = static_cast<std::uint32_t>(number);
    message.opcode = access.write ? Opcode::kMemWr : Opcode::kMemRd;
    message.size = access.size;
    message.requester = access.requester;
    done_at.emplace_back(-1);
    media.access(message, Address{access.address}, ready);
    return number;
  }
  void run() { kernel.run(Time::max(), ~std::uint64_t{0}); }
  Time latency(std::size_t number) const { return done_at[number] - requests_[number].created; }
  Time segment(std::size_t number, Segment which) const { return requests_[number].account.of(which); }

  /// Open loop: one access each `gap` picoseconds.
  DramRun open_loop(DramPattern pattern, std::uint64_t count, Time gap) {
    media.open_window(Time{});
    for (std::uint64_t i = 0; i < count; ++i) {
      kernel.run(gap * static_cast<std::int64_t>(i), ~std::uint64_t{0});
      access(pattern.next(), gap * static_cast<std::int64_t>(i));
    }
    run();
    return result();
  }
  /// Closed loop: always so many accesses on their way.
  DramRun closed_loop(DramPattern pattern, std::uint64_t count, std::uint64_t outstanding) {
    return loop([&pattern] { return pattern.next(); }, count, outstanding);
  }
  /// The same with accesses from anywhere.
  DramRun loop(const std::function<DramAccess()>& pattern, std::uint64_t count, std::uint64_t outstanding) {
    return hosts({pattern}, count, outstanding);
  }
  /// The same with several requesters, which share what is on its way and answer each completion of their own with their
  /// next access, so that each goes on at the pace at which it is served.
  DramRun hosts(const std::vector<std::function<DramAccess()>>& patterns, std::uint64_t count,
                std::uint64_t outstanding) {
    media.open_window(Time{});
    next_ = [this, &patterns, left = count](std::uint64_t host) mutable {
      if (left == 0) return;
      --left;
      host_of_.resize(requests_.size() + 1);
      host_of_.back() = host;
      access(patterns[host](), kernel.now());
    };
    for (std::uint64_t i = 0; i < outstanding; ++i) next_(i % patterns.size());
    run();
    next_ = nullptr;
    return result();
  }

  void media_done(Message& message, Time at) override {
    EXPECT_EQ(at, kernel.now());
    EXPECT_GE(at, last_) << "not in the order of completion";
    last_ = at;
    EXPECT_EQ(message.account->mark, at) << "the account does not end with the access";
    EXPECT_EQ(done_at[message.tag], Time{-1}) << "done twice";
    done_at[message.tag] = at;
    if (next_) kernel.schedule(at, source_, *this, 0, host_of_[message.tag]);
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t host) override {
    if (next_) next_(host);
  }

  double measure(const std::string& name) const {
    struct Sink final : MeasureSink {
      void add(const MeasureInfo& info, double number) override {
        if (info.name == wanted) value = number;
      }
      void count(const MeasureInfo& info, std::uint64_t number) override {
        if (info.name == wanted) value = static_cast<double>(number);
      }
      void give(const MeasureInfo& /*info*/, Value /*number*/) override {}
      std::string wanted;
      double value = -1;
    } sink;
    sink.wanted = name;
    media.report(sink);
    return sink.value;
  }

  Kernel kernel;

 private:
  /// Bytes over time between the first and the last tenth of the completions.
  double steady_rate() const {
    std::vector<Time> ends = done_at;
    std::sort(ends.begin(), ends.end());
    const std::size_t cut = ends.size() / 10;
    const std::size_t count = ends.size() - 2 * cut;
    return count < 2 ? 0.0 : static_cast<double>((count - 1) * 64) / (ends[cut + count - 1] - ends[cut]).ns();
  }
  DramRun result() {
    media.close_window(last_);
    double sum = 0;
    double reads = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      EXPECT_GE(done_at[i], Time{}) << "never done";
      if (requests_[i].message.opcode == Opcode::kMemWr) continue;
      sum += latency(i).ns();
      ++reads;
    }
    return {steady_rate(), reads > 0 ? sum / reads : 0.0, measure("row_hit_rate"), last_.ns()};
  }

  Probe owner_{kernel, "mem"};

 public:
  DramMedia media;
  std::vector<Time> done_at;

 private:
  EventSource source_;
  std::deque<Request> requests_;
  std::vector<std::uint64_t> host_of_;  ///< by number of the access, in a closed loop
  std::function<void(std::uint64_t)> next_;
  Time last_;
};

}  // namespace cxloom::test
