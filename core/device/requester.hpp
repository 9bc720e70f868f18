// The part of a host or accelerator that makes requests: takes accesses from its stream, one after the other, passes
// them through its queue and cache, sends misses to the devices that serve them and accounts for the answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "device/device_context.hpp"
#include "device/io_completer.hpp"
#include "device/miss_table.hpp"
#include "kernel/batch_means.hpp"
#include "kernel/distribution.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/request_observer.hpp"
#include "tags/cache_array.hpp"
#include "workload/access_stream.hpp"

namespace cxloom {

struct RequesterParams {
  Time process_time{10'000};
  std::uint32_t queue = 64;
  Time issue_interval;
  Time instruction_time;
  std::optional<CacheParams> cache;
  Time io_time = kDefaultIoTime;

  static void estimate(const RequesterParams& params, MemoryEstimate& memory);
  /// Declares these in the schema of a device that derives from them.
  template <class Params>
  static void describe_in(Schema<Params>& schema) {
    schema.field("process_time", &Params::process_time)
        .doc("Time that the requester works on each request before it leaves, in a pipeline.")
        .source("ESF, Table III");
    schema.field("queue", &Params::queue).min(1).max(1U << 24U).doc("Requests in flight at the same time.");
    schema.field("issue_interval", &Params::issue_interval).doc("Least time from one issue to the next.");
    schema.field("instruction_time", &Params::instruction_time)
        .max(Time{1'000'000})
        .doc(
            "Time an instruction takes: a trace's instruction gaps times this pass between its accesses. "
            "Only "
            "with a trace.");
    schema.field("cache", &Params::cache)
        .default_text("none")
        .doc(
            "A write-back, write-allocate cache in front of the memory: hits end there, misses fetch a line, "
            "dirty "
            "victims are written back.");
    describe_io_time(schema, &Params::io_time);
  }
};

enum class Arrivals : std::uint8_t { kFixed, kPoisson };

/// The work of one requester.
struct Work {
  std::unique_ptr<AccessStream> stream;
  std::uint64_t warmup = 0;               ///< accesses before the measured ones, at least
  std::optional<std::uint64_t> requests;  ///< measured accesses; none: to the end of the stream
  Rate rate;  ///< open loop: accesses become ready at this rate, whatever the answers do
  Arrivals arrivals = Arrivals::kFixed;
  bool timestamps = false;  ///< open loop: accesses become ready at their own times
  std::string name;         ///< how the user calls it, for errors: "workload.host"
};

class Requester : public Component, public IoTarget, private Waiter, private IoCompleter::Device {
 public:
  Requester(const RequesterParams& params, const DeviceContext& context);

  /// Gives it something to do; to be called before the simulation starts.
  void assign(Work work, RequestObserver& observer);
  /// Reads its accesses up to those that it will make at least, and nothing else: the simulation cannot be run after that.
  /// Throws InputError for what a run would refuse.
  void read_through();
  bool has_work() const { return work_.stream != nullptr; }
  /// Its accesses are spaced by their instruction gaps, if they have any.
  bool times_instructions() const { return params_.instruction_time > Time{}; }
  bool has_instruction_gaps() const { return has_gaps_; }
  bool finished() const { return exhausted_ && in_flight_ == 0 && write_backs_ == 0; }
  /// Requests handed out and not given back, those of the lines of an access included.
  std::uint64_t live_requests() const { return requests_.live(); }
  /// It has nothing to do until the outside gives it more.
  bool waits_for_outside() const {
    return has_work() && work_.stream->open() && !has_next_ && in_flight_ == 0 && write_backs_ == 0;
  }
  /// It makes no more requests; those under way go on to their end. Not if they come from outside.
  void cease();
  /// The outside has changed its stream: goes on with what can be issued.
  void resume();

  void start() override;
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void open_window(Time at) override;
  void close_window(Time at) override;
  void report(MeasureSink& sink) const override;
  std::string activity() const override;
  static std::vector<MeasureInfo> measures();
  void expect_io() override;

  /// Of the requests completed in the window.
  const LatencyDistribution& latency() const { return latency_; }
  const BatchMeans& batches() const { return batches_; }
  std::uint64_t issued() const { return issued_; }
  /// It has made its warm-up requests. While others have not, it goes on.
  bool warm() const { return issued_ >= work_.warmup; }
  std::uint64_t warmup() const { return work_.warmup; }
  /// It has nothing more to issue.
  bool out_of_work() const { return exhausted_; }
  /// It has made all requests of its trace, be they as many as it was to make or not.
  bool trace_ended() const { return exhausted_ && !has_enough() && !wants_answers_; }
  /// Requests issued before the window opened: its warm-up, and what it made until the others were warm.
  std::uint64_t issued_before_window() const {
    return counting_ ? issued_before_window_ : std::max(issued_, work_.warmup);
  }
  std::uint64_t completed() const { return completed_; }
  std::uint64_t in_flight() const { return in_flight_; }
  /// Accesses it will make in all, where that is known. It grows while a warm requester waits for the window to open.
  std::optional<std::uint64_t> expected() const;
  /// Accesses without an answer, and write-backs on their way.
  std::uint64_t outstanding() const { return in_flight_ + write_backs_; }

 protected:
  Fabric& fabric() { return fabric_; }
  /// An access to the device's own memory, ready at `ready`; only a device that has memory is asked.
  virtual void serve_locally(Message& /*message*/, Time /*ready*/) {
    throw InternalError("a request to a device itself, which has no memory");
  }
  /// Sends by the port that leads to the destination.
  void transmit(Message& message, Time ready);
  /// It also answers others by its ports: what is ready later must not be handed to them ahead of time.
  void share_ports() { shares_ports_ = true; }
  /// The answer to a request or write-back of this requester has come; takes the message back.
  void answered(Message& message);

 private:
  enum Wake : std::uint8_t { kIssue, kAnswered, kTransmit };

  void complete_io(Message& message) override { transmit(message, now()); }

  bool open_loop() const { return work_.timestamps || !work_.rate.unlimited(); }

  // Why the next access cannot be issued now.
  enum class Obstacle : std::uint8_t { kNone, kTime, kSlot, kDependence, kWriteBack };

  InputError no_region(std::uint64_t access, Address address) const;
  void fetch();                       // the next access from the stream
  Time arrival_after(Time previous);  // open loop: when the next access becomes ready
  void issue_what_can_be_issued();
  Obstacle obstacle() const;
  Time earliest_issue() const;
  void wait_for(Obstacle obstacle);
  void issue();
  void access_lines(Request& request);
  void access_memory(Request& request);
  void look_up_cache(Request& request);
  void send(Opcode opcode, Address address, std::uint16_t size, Request* request, Time ready);
  void fill(LineAddress line, const Request& first);
  void keep_line(LineAddress line, const Request& waiting);
  void end_if_out_of_work();
  void complete(Request& request);
  void complete_line(Request& line);
  bool has_enough() const {
    return ceased_ || (counting_ && work_.requests && issued_ - issued_before_window_ == *work_.requests);
  }
  bool is_outstanding(std::uint64_t id) const {
    return ((outstanding_[(id & window_mask_) >> 6U] >> (id & 63U)) & 1U) != 0;
  }
  void mark_outstanding(std::uint64_t id) { outstanding_[(id & window_mask_) >> 6U] ^= 1ULL << (id & 63U); }

  RequesterParams params_;
  Fabric& fabric_;
  bool shares_ports_ = false;
  bool wants_answers_ = false;
  RequestObserver* observer_ = nullptr;
  Work work_;
  RandomStream arrival_random_;
  RateMeter arrival_meter_;
  Pool<Request> requests_;
  std::unique_ptr<CacheArray> cache_;
  MissTable misses_;
  std::unique_ptr<IoCompleter> io_;  // none: no CXL.io comes here

  // The access to be issued next.
  Access next_;
  bool has_next_ = false;
  bool has_gaps_ = false;  // some access so far had an instruction gap
  bool exhausted_ = false;
  bool ceased_ = false;
  Time next_arrival_;  // open loop
  Time last_issue_{-1};
  std::uint64_t issued_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t in_flight_ = 0;
  std::uint64_t write_backs_ = 0;
  Time wake_pending_{-1};  // time of the last issue that was asked for

  // Which of the last accesses are outstanding, a bit each: for dependences.
  std::vector<std::uint64_t> outstanding_;
  std::uint64_t window_mask_;

  // Measuring.
  bool counting_ = false;  // since the window opened, and after it
  bool ended_ = false;
  std::uint64_t issued_before_window_ = 0;
  std::uint64_t completed_since_opening_ = 0;
  bool window_open_ = false;
  Time opened_;
  Time closed_;
  LatencyDistribution latency_;
  BatchMeans batches_{64};  // of the latencies: 1 KiB
  LevelMonitor in_flight_monitor_;
  std::uint64_t payload_ = 0;  // of requests that a device answered, and of write-backs
  std::uint64_t hits_ = 0;
  std::uint64_t lookups_ = 0;
  std::uint64_t write_backs_completed_ = 0;

  WaitList slots_;
  WaitList dependences_;
  WaitList write_back_buffer_;
  WaitList* waiting_in_ = nullptr;
};

}  // namespace cxloom
