// The agent that makes requests: takes accesses from its stream, one after the other, passes them through its queue and
// cache to the devices that serve them, and accounts for the answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coherence/cache/agent.hpp"
#include "component/endpoint.hpp"
#include "component/request_throttle.hpp"
#include "device/context/context.hpp"
#include "device/requester/access_window.hpp"
#include "device/requester/arrival_process.hpp"
#include "device/requester/core_cluster.hpp"
#include "device/requester/meter.hpp"
#include "device/requester/page_mover.hpp"
#include "device/requester/params.hpp"
#include "device/requester/tiering_agent.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/request_observer.hpp"
#include "workload/stream/work.hpp"

namespace cxloom {

class alignas(64) Sequencer final : public Agent,
                                    private CacheAgent::Client,
                                    private CoreCluster::Requester,
                                    private PageMover::Requester,
                                    private TieringAgent::Requester,
                                    private Waiter {
 public:
  /// Joins the device, with a cache if there is one, and takes the answers that come to it.
  Sequencer(const RequesterParams& params, Endpoint& endpoint, const DeviceContext& context);

  /// Gives it something to do; to be called before the simulation starts.
  void assign(Work work, RequestObserver& observer);
  /// Reads its accesses up to those that it will make at least, but no more than `most`, and nothing else: the simulation cannot be
  /// run after that. Throws InputError for what a run would refuse.
  void read_through(std::uint64_t most);
  /// Throws InputError unless some device holds each of its lines, in persistent memory if they are flushed.
  void check_mapped(const Access& access) const;
  /// Lines that were flushed and are not durable for that.
  std::uint64_t volatile_flushes() const { return volatile_flushes_; }
  /// Null: it has none.
  const CacheAgent* cache() const { return cache_.get(); }
  bool has_work() const { return work_.stream != nullptr; }
  /// So long after it was issued a request ends with an error if a message of it is lost.
  Time completion_timeout() const { return completion_timeout_.value_or(kCompletionTimeout); }
  /// It goes by the load that memories report.
  bool throttles() const { return throttle_ != nullptr; }
  bool sets_completion_timeout() const { return completion_timeout_.has_value(); }
  /// Cores make its accesses.
  bool has_cores() const { return core_params_.has_value(); }
  /// Its accesses are spaced by their instruction gaps, if they have any.
  bool times_instructions() const { return instruction_time_ > Time{}; }
  bool has_instruction_gaps() const { return has_gaps_; }
  /// Accesses become ready at times of their own, whatever lies between them.
  bool open_loop() const { return arrivals_.open_loop(); }
  bool finished() const { return exhausted_ && outstanding() == 0; }
  /// Requests handed out and not given back, those of the lines of an access included.
  std::uint64_t live_requests() const { return requests_.live(); }
  /// It has nothing to do until the outside gives it more.
  bool waits_for_outside() const {
    return has_work() && work_.stream->from_outside() && work_.stream->open() && !has_next_ &&
           outstanding() == 0;
  }
  /// Its program's pages, if they can be put elsewhere while it runs; to be called before the simulation starts if they
  /// will be.
  MovablePages* expect_moves();
  /// Its program's pages go to another memory from now on.
  void move_pages(const PageMover::Order& order) { mover_->begin(order); }
  /// It makes no more requests; those under way go on to their end. Not if they come from outside.
  void cease();
  /// The outside has changed its stream: goes on with what can be issued.
  void resume();

  void start() override;
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void open_window(Time at) override;
  void close_window(Time at) override;
  std::string activity() const override;
  /// Gives the measures of its requests by name.
  void report_requests(MeasureSink& sink) const;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();

  /// Of the requests answered with data in the window.
  const LatencyDistribution& latency() const { return meter_.latency(); }
  /// Of those answered without.
  const LatencyDistribution& errors() const { return meter_.errors(); }
  const BatchMeans& batches() const { return meter_.batches(); }
  std::uint64_t issued() const override { return issued_; }
  /// It has made its warm-up requests. While others have not, it goes on.
  bool warm() const { return issued_ >= work_.warmup; }
  std::uint64_t warmup() const { return work_.warmup; }
  /// It has nothing more to issue.
  bool out_of_work() const override { return exhausted_; }
  /// It has made all requests of its trace, be they as many as it was to make or not.
  bool trace_ended() const { return exhausted_ && !has_enough() && !work_.stream->from_outside(); }
  /// Requests issued before the window opened: its warm-up, and what it made until the others were warm.
  std::uint64_t issued_before_window() const {
    return counting_ ? issued_before_window_ : std::max(issued_, work_.warmup);
  }
  std::uint64_t completed() const { return completed_; }
  std::uint64_t in_flight() const { return in_flight_; }
  /// Accesses it will make in all, where that is known. It grows while a warm requester waits for the window to open.
  std::optional<std::uint64_t> expected() const;
  /// Accesses without an answer, and lines on their way to and from its cache, or with a page that is being moved.
  std::uint64_t outstanding() const {
    return in_flight_ + write_backs() + prefetches() + (mover_ ? mover_->outstanding() : 0);
  }
  /// Of these, dirty lines on their way to memory.
  std::uint64_t write_backs() const { return cache_ ? cache_->evictions() : 0; }

 private:
  const EventHandler& owner() const override { return endpoint(); }
  // Why the next access cannot be issued now.
  enum class Obstacle : std::uint8_t { kNone, kTime, kSlot, kDependence, kWriteBack, kFence, kPage, kKernel };

  void answered(Request& request) override { complete(request); }
  void written_back(NodeId target, std::uint16_t bytes) override;
  void prefetched(NodeId target, std::uint16_t bytes) override;
  void go_on() override;
  void take_made() override;
  void copy(Address line, AccessKind kind, std::uint64_t number) override;
  void page_settled(const PageMove& move, bool moved) override;
  std::uint64_t under_way() const override { return in_flight_ - stopped_; }
  void goes_on(Request& access) override;
  void shot_down() override;
  void fault_over(Request& access) override { goes_on(access); }
  std::uint64_t running() const override;
  Time interrupt(std::optional<std::uint32_t> thread, Time time) override;
  void copied(Request& line);
  bool stops(Request& access);
  void place_later();
  void begin_tiering();

  Time now() const;
  inline void wake_at(Time at);
  std::uint64_t prefetches() const { return cache_ ? cache_->prefetches() : 0; }
  void fetch();  // the next access from the stream
  void issue_what_can_be_issued();
  Obstacle obstacle() const;
  Time earliest_issue() const;
  void wait_for(Obstacle obstacle);
  void issue();
  void pass_fence();
  void access(Request& request);
  void access_lines(Request& request);
  void access_memory(Request& request);
  void end_if_out_of_work();
  void complete(Request& request);
  void complete_line(Request& line);
  bool has_enough() const {
    return ceased_ || (counting_ && work_.requests && issued_ - issued_before_window_ == *work_.requests);
  }

  // First what every request touches, in the order of use: with many requesters each of these lines is waited for.
  Time process_time_;
  std::uint32_t queue_;
  bool wants_answers_ = false;
  bool has_next_ = false;
  bool has_gaps_ = false;  // some access so far had an instruction gap
  bool exhausted_ = false;
  bool ceased_ = false;
  bool counting_ = false;  // since the window opened, and after it
  bool ended_ = false;
  Time issue_interval_;
  Time instruction_time_;
  CoreCluster* cores_ = nullptr;  // null: accesses are made in the order of the stream
  std::unique_ptr<CacheAgent> cache_;
  std::unique_ptr<RequestThrottle> throttle_;  // none: requests leave as they come
  std::unique_ptr<PageMover> mover_;           // none: pages stay where they are
  std::unique_ptr<TieringAgent> tiering_;      // none: but for events
  RequestObserver* observer_ = nullptr;
  std::uint64_t issued_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t in_flight_ = 0;
  std::uint64_t completed_since_opening_ = 0;
  std::uint64_t issued_before_window_ = 0;
  Time last_issue_{-1};
  Time earliest_;          // at which the next access may be issued
  Time wake_pending_{-1};  // time of the last issue that was asked for
  Time page_since_{-1};    // a page that is being moved has held the next access up since then
  Time fence_since_{-1};   // nothing but a fence has held the next access up since then
  WaitList* waiting_in_ = nullptr;
  WaitList slots_;
  MovablePages* pages_ = nullptr;  // of its program; null: they stay where they are
  bool places_ = false;            // the stream leaves it to place them
  std::uint64_t next_page_ = 0;    // of the next access, if so
  std::uint64_t stopped_ = 0;      // requests that wait for a fault or a page that moves
  Time kernel_until_;              // the kernel has taken the time up to then, where there are no cores
  Access next_;                    // to be issued next
  AccessWindow window_;
  Pool<Request> requests_;
  RequesterMeter meter_;
  Work work_;
  ArrivalProcess arrivals_;

  WaitList dependences_;
  WaitList write_back_buffer_;
  WaitList fence_;
  std::uint64_t volatile_flushes_ = 0;
  std::optional<Time> completion_timeout_;
  std::optional<CoreParams> core_params_;
};

}  // namespace cxloom
