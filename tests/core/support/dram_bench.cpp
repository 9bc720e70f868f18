#include "core/support/dram_bench.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <string_view>

#include "base/measure.hpp"
#include "core/support/probe.hpp"
#include "core/support/victims.hpp"
#include "kernel/kernel.hpp"
#include "memory/dram/controller/media.hpp"
#include "protocol/request.hpp"

namespace cxloom::test {

namespace {

constexpr std::uint64_t kAllEvents = ~std::uint64_t{0};

}  // namespace

bool whole_dram_tables() {
  const char* const wanted = std::getenv("CXLOOM_DRAM_DEPTHS");
  return wanted && std::string_view(wanted) == "all";
}

/// The media, and the client that gives it accesses and hears of their completion.
class DramBench::Driver final : public MediaClient, public EventHandler {
 public:
  Driver(const DramParams& params, Bytes capacity, const MediaRegistry& kinds, std::vector<Time>& done_at)
      : media(params, MediaContext{kernel, owner_, *this, kinds, victims(), capacity, 1}),
        done_at_(done_at),
        source_(kernel.new_source()) {}

  std::size_t access(const DramAccess& access, Time ready) {
    const std::size_t number = requests.size();
    Request& request = requests.emplace_back();
    request.id = number;
    request.begin(NodeId{}, ready);
    Message& message = request.message;
    message.account = &request.account;
    message.tag = static_cast<std::uint32_t>(number);
    message.opcode = access.write ? Opcode::kMemWr : Opcode::kMemRd;
    message.size = access.size;
    message.requester = access.requester;
    done_at_.emplace_back(-1);
    media.access(message, Address{access.address}, ready);
    return number;
  }
  void run(Time limit) { kernel.run(limit, kAllEvents); }
  /// Accesses of several hosts, always so many on their way.
  void loop(const std::vector<std::function<DramAccess()>>& patterns, std::uint64_t count,
            std::uint64_t outstanding) {
    next_ = [this, &patterns, left = count](std::uint64_t host) mutable {
      if (left == 0) return;
      --left;
      host_of_.resize(requests.size() + 1);
      host_of_.back() = host;
      access(patterns[host](), kernel.now());
    };
    for (std::uint64_t i = 0; i < outstanding; ++i) next_(i % patterns.size());
    run(Time::max());
    next_ = nullptr;
  }

  void media_done(Message& message, Time at) override {
    EXPECT_EQ(at, kernel.now());
    EXPECT_GE(at, last) << "not in the order of completion";
    last = at;
    EXPECT_EQ(message.account->mark(), at) << "the account does not end with the access";
    EXPECT_EQ(done_at_[message.tag], Time{-1}) << "done twice";
    done_at_[message.tag] = at;
    if (next_) kernel.schedule(at, source_, *this, 0, host_of_[message.tag]);
  }
  void wake(std::uint8_t /*kind*/, std::uint64_t host) override {
    if (next_) next_(host);
  }

  Kernel kernel;

 private:
  Probe owner_{kernel, "mem"};

 public:
  DramMedia media;
  std::deque<Request> requests;
  Time last;  ///< completion so far

 private:
  std::vector<Time>& done_at_;
  EventSource source_;
  std::vector<std::uint64_t> host_of_;  ///< by number of the access, in a closed loop
  std::function<void(std::uint64_t)> next_;
};

DramBench::DramBench(const DramParams& params, Bytes capacity, const MediaRegistry& kinds)
    : driver_(std::make_unique<Driver>(params, capacity, kinds, done_at)) {}
DramBench::~DramBench() = default;

const DramConfig& DramBench::config() const { return driver_->media.config(); }

std::size_t DramBench::access(const DramAccess& access, Time ready) { return driver_->access(access, ready); }
void DramBench::run(Time limit) { driver_->run(limit); }
Time DramBench::now() const { return driver_->kernel.now(); }
std::uint64_t DramBench::events() const { return driver_->kernel.events(); }
Time DramBench::latency(std::size_t number) const {
  return done_at[number] - driver_->requests[number].created();
}
Time DramBench::segment(std::size_t number, Segment which) const {
  return driver_->requests[number].account.of(which);
}

DramRun DramBench::open_loop(DramPattern pattern, std::uint64_t count, Time gap) {
  open_window(Time{});
  for (std::uint64_t i = 0; i < count; ++i) {
    run(gap * static_cast<std::int64_t>(i));
    access(pattern.next(), gap * static_cast<std::int64_t>(i));
  }
  run();
  return result();
}

DramRun DramBench::hosts(const std::vector<std::function<DramAccess()>>& patterns, std::uint64_t count,
                         std::uint64_t outstanding) {
  open_window(Time{});
  driver_->loop(patterns, count, outstanding);
  return result();
}

void DramBench::open_window(Time now) { driver_->media.open_window(now); }
void DramBench::close_window(Time now) { driver_->media.close_window(now); }
void DramBench::watch(DramCommandLog* log) { driver_->media.watch(log); }
void DramBench::drain() { driver_->media.drain(); }

double DramBench::measure(const std::string& name) const {
  struct Sink final : MeasureSink {
    void add(const MeasureInfo& info, double number) override {
      if (info.name == wanted) value = number;
    }
    void count(const MeasureInfo& info, std::uint64_t number) override {
      if (info.name == wanted) value = static_cast<double>(number);
    }
    void give(const MeasureInfo& info, Value number) override {
      if (const double* real = number.as_real(); real != nullptr && info.name == wanted) value = *real;
    }
    std::string wanted;
    double value = -1;
  } sink;
  sink.wanted = name;
  driver_->media.report(sink);
  return sink.value;
}

double DramBench::steady_rate() const {
  std::vector<Time> ends = done_at;
  std::sort(ends.begin(), ends.end());
  const std::size_t cut = ends.size() / 10;
  const std::size_t count = ends.size() - 2 * cut;
  return count < 2 ? 0.0 : static_cast<double>((count - 1) * 64) / (ends[cut + count - 1] - ends[cut]).ns();
}

DramRun DramBench::result() {
  close_window(driver_->last);
  double sum = 0;
  double reads = 0;
  for (std::size_t i = 0; i < done_at.size(); ++i) {
    EXPECT_GE(done_at[i], Time{}) << "never done";
    if (driver_->requests[i].message.opcode == Opcode::kMemWr) continue;
    sum += latency(i).ns();
    ++reads;
  }
  return {steady_rate(), reads > 0 ? sum / reads : 0.0, measure("row_hit_rate"), driver_->last.ns()};
}

}  // namespace cxloom::test
