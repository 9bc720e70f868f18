// The agent that makes requests: takes accesses from its stream, one after the other, passes them through its
// queue and cache to the devices that serve them, and accounts for the answers.
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
#include "device/requester/requester.hpp"
#include "device/requester/tiering_agent.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/request_observer.hpp"
#include "workload/stream/work.hpp"

namespace cxloom {

class alignas(64) Sequencer final : public Agent,
                                    public cxloom::Requester,
                                    private CacheAgent::Client,
                                    private CoreCluster::Requester,
                                    private PageMover::Requester,
                                    private TieringAgent::Requester,
                                    private Waiter {
 public:
  /// Joins the device, with a cache if there is one, and takes the answers that come to it.
  Sequencer(const RequesterParams& params, Endpoint& endpoint, const DeviceContext& context);

  Traits traits() const override;
  Progress progress() const override;
  bool has_work() const override { return work_.stream != nullptr; }
  bool warm() const override { return issued_ >= work_.warmup; }
  bool out_of_work() const override { return exhausted_; }
  std::uint64_t outstanding() const override {
    return in_flight_ + write_backs() + prefetches() + (mover_ ? mover_->outstanding() : 0);
  }
  const CacheAgent* cache() const override { return cache_.get(); }
  void assign(Work work, RequestObserver& observer) override;
  void read_through(std::uint64_t most) override;
  void check_mapped(const Access& access) const override;
  MovablePages* expect_moves() override;
  TieringAgent* tiering() override { return tiering_.get(); }
  void move_pages(const PageMover::Order& order) override { mover_->begin(order); }
  void cease() override;
  void resume() override;

  void start() override;
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void open_window(Time at) override;
  void close_window(Time at) override;
  std::string activity() const override;
  void report_requests(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();

  const LatencyDistribution& latency() const override { return meter_.latency(); }
  const LatencyDistribution& errors() const override { return meter_.errors(); }
  const BatchMeans& batches() const override { return meter_.batches(); }

 private:
  std::uint64_t issued() const override { return issued_; }
  std::uint64_t issued_before_window() const {
    return counting_ ? issued_before_window_ : std::max(issued_, work_.warmup);
  }
  std::optional<std::uint64_t> expected() const;
  std::uint64_t write_backs() const { return cache_ ? cache_->evictions() : 0; }
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
