// The agent that makes requests: takes accesses from its stream, one after the other, passes them through its
// queue and cache to the devices that serve them, and accounts for the answers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "component/endpoint.hpp"
#include "component/replica_set.hpp"
#include "component/request_throttle.hpp"
#include "device/context/context.hpp"
#include "device/requester/access_source.hpp"
#include "device/requester/core_cluster.hpp"
#include "device/requester/large_accesses.hpp"
#include "device/requester/meter.hpp"
#include "device/requester/page_manager.hpp"
#include "device/requester/params.hpp"
#include "device/requester/past_caches.hpp"
#include "device/requester/request_count.hpp"
#include "device/requester/request_path.hpp"
#include "device/requester/request_queue.hpp"
#include "device/requester/requester.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/request_observer.hpp"
#include "workload/work.hpp"

namespace cxloom {

class HostReplicator;
class SharedLines;

class alignas(64) Sequencer final : public Agent,
                                    public Requester,
                                    public ReplicatorOwner,
                                    private CacheClient,
                                    private CoreCluster::AccessTaker,
                                    private PageManager::ManagedProgram,
                                    private PastCaches::PastSender,
                                    private Waiter {
 public:
  /// Joins the device, with a cache if there is one, and takes the answers that come to it.
  Sequencer(const RequesterParams& params, Endpoint& endpoint, const DeviceContext& context);
  ~Sequencer() override;

  Traits traits() const override { return traits_; }
  Progress progress() const override;
  bool has_work() const override { return source_.has_work(); }
  bool warm() const override { return count_.warm(); }
  bool out_of_work() const override { return source_.exhausted(); }
  std::uint64_t outstanding() const override;
  const CacheAgent* cache() const override { return path_.cache(); }
  CacheAgent* losing_cache() override { return path_.cache(); }
  void assign(Work work, RequestObserver& observer) override;
  void read_through(std::uint64_t most) override;
  void check_mapped(const Access& access) const override;
  MovablePages* expect_moves() override;
  TieringAgent* tiering() override { return pages_ ? pages_->tiering() : nullptr; }
  void move_pages(const PageMover::Order& order) override { pages_->begin(order); }
  void end_accesses(NodeId memory, PagesLeaving& leaving) override { pages_->end_accesses(memory, leaving); }
  void flush_lines(std::vector<LineAddress> lines, PagesLeaving& leaving) override {
    pages_->flush(std::move(lines), leaving);
  }
  std::optional<std::uint64_t> access_of(const Message& message) override {
    return cores_ ? std::nullopt : queue_.access_of(message);
  }
  Time earliest_answer(RemainingTime& left) override;
  ExternalCache* external_cache() override { return path_.external_cache(); }
  void count_from_now() override { count_.begin_counting(); }
  void divide_window() override { count_.divide_window(); }
  void cease() override;
  void crash(bool last) override;
  void pause() override {
    if (!has_work()) return;
    queue_.close();
    lost_before_ = issued();
    if (past_.used()) past_.drain();
  }
  void boot() override {
    if (!queue_.closed()) return;
    queue_.open();
    take_made();
  }
  bool paused() const override { return queue_.closed(); }
  void resume() override;

  std::string why_no_replicator() const override;
  RequestTaker& begin_replicating(ReplicaSets& sets, std::uint32_t entries) override;

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
  enum Wake : std::uint8_t { kIssue, kBuffered };

  std::uint64_t issued() const override { return count_.issued(); }
  std::uint64_t in_flight() const override { return count_.in_flight(); }
  const EventHandler& owner() const override { return endpoint(); }

  void answered(Request& request) override { complete(request); }
  void written_back(NodeId target, std::uint16_t bytes) override;
  void prefetched(NodeId target, std::uint16_t bytes) override;
  // Answers to a cache are mostly none to a request, which it has to wait for all the same.
  void go_on() override {
    if (!waits_for_place()) return go_on_now();
    waiting_in_->join_again(*this, now());
  }
  void take_made() override;
  void process(Request& request) override;
  Request& request_of_buffer() override { return queue_.take(now()); }
  void to_memory(Request& request) override { path_.send(*this, request); }
  void buffered(Request& store) override;
  void page_moved(const PageMove& move) override;
  bool end_accesses_to(NodeId memory) override {
    const auto is_there = [&](Address address) {
      const auto place = endpoint().address_map().find(address);
      return place && place->target == memory;
    };
    const bool gathers = past_.used() && past_.drain(is_there);
    return !gathers && !queue_.any_under_way(issued(), is_there);
  }
  void may_issue() override;

  /// What its cores take their accesses from, or it does.
  AccessStream& workload() const { return cores_ ? cores_->workload() : *work().stream; }
  const Work& work() const { return source_.work(); }
  Time now() const;
  inline void wake_at(Time at);
  void fetch();  // the next access from the stream
  void issue_what_can_be_issued();
  void wait_no_more() {
    if (waiting_in_) waiting_in_->leave(*this);
    waiting_in_ = nullptr;
  }
  /// It still does, and what it makes next is known.
  bool waits_for_place() {
    return waiting_in_ == &queue_.slots() && in_flight() >= queue_.size() && !asks_again_ && !pages_;
  }
  void go_on_now();
  inline WaitList* obstacle();
  inline void issue();
  inline void access(Request& request);
  void access_lines(Request& request);
  void access_memory(Request& request);
  void end_if_out_of_work();
  void complete(Request& request);
  void complete_line(Request& line);

  /// Nothing that a fence waits for.
  bool quiet() const { return in_flight() == 0 && past_.empty(); }

  // First what every request touches, in the order of use: with many requesters each of these lines is waited
  // for.
  Time process_time_;
  bool wants_answers_ = false;
  bool ended_ = false;
  bool asks_again_ = false;       // after each answer: what the stream gives depends on it
  CoreCluster* cores_ = nullptr;  // null: accesses are made in the order of the stream
  RequestPath path_;
  std::unique_ptr<RequestThrottle> throttle_;  // none: requests leave as they come
  std::unique_ptr<PageManager> pages_;         // none: they stay where they are
  std::unique_ptr<LargeAccesses> large_;       // none: the work has none, or cores make its lines
  RequestObserver* observer_ = nullptr;
  RequestCount count_;
  Time wake_pending_{-1};          // time of the last issue that was asked for
  SharedLines* shared_ = nullptr;  // null: nobody asks who has seen which stores
  WaitList* waiting_in_ = nullptr;
  RequestQueue queue_;
  RequesterMeter meter_;
  AccessSource source_;
  PastCaches past_;
  std::unique_ptr<HostReplicator> replicator_;  // none: it writes to no replicated region by itself

  WaitList write_back_buffer_;
  std::uint64_t volatile_flushes_ = 0;
  std::uint64_t lost_before_ = 0;  // requests with numbers below were under way when it crashed
  std::optional<CoreParams> core_params_;
  Traits traits_;
};

}  // namespace cxloom
