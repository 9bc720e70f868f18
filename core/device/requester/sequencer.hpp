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
#include "coherence/external/agent.hpp"
#include "component/endpoint.hpp"
#include "component/request_throttle.hpp"
#include "device/context/context.hpp"
#include "device/requester/access_source.hpp"
#include "device/requester/access_window.hpp"
#include "device/requester/core_cluster.hpp"
#include "device/requester/large_accesses.hpp"
#include "device/requester/meter.hpp"
#include "device/requester/page_manager.hpp"
#include "device/requester/params.hpp"
#include "device/requester/past_caches.hpp"
#include "device/requester/request_count.hpp"
#include "device/requester/requester.hpp"
#include "device/requester/uncached_access.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/request_observer.hpp"
#include "workload/work.hpp"

namespace cxloom {

class SharedLines;

class alignas(64) Sequencer final : public Agent,
                                    public Requester,
                                    private CacheAgent::Client,
                                    private CoreCluster::AccessTaker,
                                    private PageManager::ManagedProgram,
                                    private PastCaches::PastSender,
                                    private Waiter {
 public:
  /// Joins the device, with a cache if there is one, and takes the answers that come to it.
  Sequencer(const RequesterParams& params, Endpoint& endpoint, const DeviceContext& context);

  Traits traits() const override {
    return {.has_cores = core_params_.has_value(),
            .core_clock = core_params_ ? core_params_->clock.rate : Rate{},
            .queue = queue_,
            .times_instructions = source_.times_instructions(),
            .stores_in_cache = cache_ && cache_->makes_stores(),
            .throttles = throttle_ != nullptr,
            .sets_completion_timeout = completion_timeout_.has_value(),
            .completion_timeout = completion_timeout_.value_or(kCompletionTimeout)};
  }
  Progress progress() const override;
  bool has_work() const override { return source_.has_work(); }
  bool warm() const override { return count_.warm(); }
  bool out_of_work() const override { return source_.exhausted(); }
  std::uint64_t outstanding() const override {
    return in_flight() + write_backs() + prefetches() + past_.occupied() +
           (pages_ ? pages_->outstanding() : 0) + (external_ ? external_->lines_under_way() : 0);
  }
  const CacheAgent* cache() const override { return cache_.get(); }
  void assign(Work work, RequestObserver& observer) override;
  void read_through(std::uint64_t most) override;
  void check_mapped(const Access& access) const override;
  MovablePages* expect_moves() override;
  TieringAgent* tiering() override { return pages_ ? pages_->tiering() : nullptr; }
  void move_pages(const PageMover::Order& order) override { pages_->begin(order); }
  /// A message that a cache or a home has made has a tag of theirs, and not the account of the request of
  /// that index.
  std::optional<std::uint64_t> access_of(const Message& message) override {
    const Request* const request = cores_ ? nullptr : requests_.find(message.tag);
    const bool carries =
        request && message.account == &request->account && !request->is_copy() && !request->is_combined();
    return carries ? std::optional(request->id) : std::nullopt;
  }
  /// With caches, cores or pages that move, what is answered next need not be under way. While an answer is
  /// told its place is free, and who waits for it has not been called yet. A request that is over and whose
  /// number is taken for one under way says less than it could.
  Time earliest_answer(RemainingTime& left) override {
    if (cache_ || external_ || cores_ || pages_ || past_.used()) return Time{};
    Time earliest = Time::max();
    if (source_.has_next() && (waiting_in_ != &slots_ || in_flight() < queue_))
      earliest = now() + process_time_;
    std::uint32_t index = 0;
    for (const Request* each = requests_.find(0); each; each = requests_.find(++index)) {
      const bool ends_it = each->lines == 1 || each->is_part();  // an access of several ends with a part
      if (each->requester() == endpoint().id() && ends_it && window_.outstanding(each->id))
        earliest = std::min(earliest, each->account.mark() + left.of(*each));
    }
    return earliest;
  }
  ExternalCache* external_cache() override { return external_.get(); }
  void count_from_now() override { count_.begin_counting(); }
  void cease() override;
  void resume() override;

  void start() override;
  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void open_window(Time at) override;
  void close_window(Time at) override;
  std::string activity() const override {
    if (outstanding() == 0) return {};
    const std::string ahead = prefetches() > 0 ? " and " + counted(prefetches(), "prefetched line") : "";
    return counted(in_flight(), "request") + " and " + counted(write_backs(), "write-back") + ahead +
           " without an answer, " + std::to_string(count_.completed()) + " answered";
  }
  void report_requests(MeasureSink& sink) const override {
    meter_.report(sink);
    if (large_) large_->report(sink);
    if (throttle_) throttle_->report(sink);
    source_.report(sink);
    if (pages_) pages_->report(sink);
    if (cores_) cores_->report(sink);
    past_.report(sink);
    if (cache_) cache_->report(sink);
  }
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();

  const LatencyDistribution& latency() const override { return meter_.latency(); }
  const LatencyDistribution& errors() const override { return meter_.errors(); }
  const BatchMeans& batches() const override { return meter_.batches(); }

 private:
  enum Wake : std::uint8_t { kIssue, kBuffered };

  std::uint64_t issued() const override { return count_.issued(); }
  std::uint64_t in_flight() const override { return count_.in_flight(); }
  std::uint64_t write_backs() const { return cache_ ? cache_->evictions() : 0; }
  const EventHandler& owner() const override { return endpoint(); }

  void answered(Request& request) override { complete(request); }
  void written_back(NodeId target, std::uint16_t bytes) override {
    meter_.moved(bytes);
    observer_->written_back(endpoint().id(), target, bytes);
  }
  void prefetched(NodeId target, std::uint16_t bytes) override {
    meter_.moved(bytes);
    observer_->prefetched(endpoint().id(), target, bytes);
  }
  void go_on() override;
  void take_made() override;
  void process(Request& request) override;
  Request& request_of_buffer() override {
    Request& request = requests_.take();
    request.target = endpoint().id();
    request.begin(endpoint().id(), now());
    return request;
  }
  void to_memory(Request& request) override {
    if (cache_) {
      cache_->access(request);
    } else if (external_) [[unlikely]] {
      external_->access(request);
    } else {
      send_uncached(*this, request);
    }
  }
  void buffered(Request& store) override;
  void page_moved(const PageMove& move) override;
  void may_issue() override;

  /// What its cores take their accesses from, or it does.
  AccessStream& workload() const { return cores_ ? cores_->workload() : *work().stream; }
  const Work& work() const { return source_.work(); }
  Time now() const;
  inline void wake_at(Time at);
  std::uint64_t prefetches() const { return cache_ ? cache_->prefetches() : 0; }
  void fetch();  // the next access from the stream
  void issue_what_can_be_issued();
  WaitList* obstacle();
  void issue();
  void pass_fence();
  void access(Request& request);
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
  std::uint32_t queue_;
  bool wants_answers_ = false;
  bool ended_ = false;
  bool asks_again_ = false;       // after each answer: what the stream gives depends on it
  CoreCluster* cores_ = nullptr;  // null: accesses are made in the order of the stream
  std::unique_ptr<CacheAgent> cache_;
  std::unique_ptr<ExternalCache> external_;    // none: its cache, if any, is its own
  std::unique_ptr<RequestThrottle> throttle_;  // none: requests leave as they come
  std::unique_ptr<PageManager> pages_;         // none: they stay where they are
  std::unique_ptr<LargeAccesses> large_;       // none: the work has none, or cores make its lines
  RequestObserver* observer_ = nullptr;
  RequestCount count_;
  Time wake_pending_{-1};          // time of the last issue that was asked for
  SharedLines* shared_ = nullptr;  // null: nobody asks who has seen which stores
  Time fence_since_{-1};           // nothing but a fence has held the next access up since then
  WaitList* waiting_in_ = nullptr;
  WaitList slots_;
  AccessWindow window_;
  Pool<Request> requests_;
  RequesterMeter meter_;
  AccessSource source_;
  PastCaches past_;

  WaitList dependences_;
  WaitList write_back_buffer_;
  WaitList fence_;
  std::uint64_t volatile_flushes_ = 0;
  std::optional<Time> completion_timeout_;
  std::optional<CoreParams> core_params_;
};

}  // namespace cxloom
