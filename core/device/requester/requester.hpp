// The role of what makes the requests of a workload: what the builder, the run and the results ask of it.
// Within its device, and for each request, nobody goes this way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "component/roles.hpp"
#include "device/requester/page_mover.hpp"
#include "kernel/batch_means.hpp"
#include "kernel/distribution.hpp"
#include "protocol/request_observer.hpp"
#include "workload/work.hpp"

namespace cxloom {

class CacheAgent;
class ExternalCache;
class MeasureSink;
struct Message;
struct Request;
struct RequesterParams;
class MovablePages;
class TieringAgent;

/// What is left of requests under way.
class RemainingTime {
 public:
  virtual ~RemainingTime() = default;
  /// The least time from the mark of its account on.
  virtual Time of(const Request& request) = 0;
};

class Requester {
 public:
  static constexpr RoleKind kRole = RoleKind::kRequester;

  /// How it is made.
  struct Traits {
    bool has_cores = false;           ///< cores make its accesses
    Rate core_clock = {};             ///< of these
    std::uint32_t queue = 0;          ///< requests in flight at most
    Time process_time;                ///< each of them takes this at least, wherever it goes
    bool times_instructions = false;  ///< its accesses are spaced by their instruction gaps, if they have any
    bool stores_in_cache = false;     ///< it has a cache, which all stores and atomic operations are made in
    bool throttles = false;           ///< it goes by the load that memories report
    bool sets_completion_timeout = false;  ///< somebody wrote it
    Time completion_timeout;  ///< so long after it was issued a request ends with an error if it is lost

    static Traits of(const RequesterParams& params);
  };
  /// Where it is.
  struct Progress {
    bool trace_ended =
        false;  ///< it has made all requests of its trace, be they as many as it was to make or not
    bool waits_for_outside = false;  ///< it has nothing to do until the outside gives it more
    bool open_loop = false;  ///< accesses become ready at times of their own, whatever lies between them
    bool has_instruction_gaps = false;
    bool goes_by_answers = false;  ///< what it makes depends on the answers: a copy engine
    std::uint64_t warmup = 0;
    std::uint64_t issued = 0;
    std::uint64_t issued_before_window = 0;  ///< its warm-up, and what it made until the others were warm
    std::optional<std::uint64_t>
        expected;  ///< accesses in all, where that is known; grows while it waits for the window
    std::uint64_t left_at_least = 0;   ///< accesses that it is sure to make before it may run out of work
    bool may_store_past = false;       ///< some of these may be stores that go past the caches
    bool goes_round_for_ever = false;  ///< it makes the same accesses again and again, without an end
    std::uint64_t write_backs = 0;     ///< dirty lines on their way to memory
    std::uint64_t live_requests =
        0;  ///< handed out and not given back, those of the lines of an access included
    std::uint64_t volatile_flushes = 0;  ///< lines that were flushed and are not durable for that
  };

  virtual Traits traits() const = 0;
  virtual Progress progress() const = 0;
  virtual bool has_work() const = 0;
  /// It has made its warm-up requests. While others have not, it goes on.
  virtual bool warm() const = 0;
  /// It has nothing more to issue.
  virtual bool out_of_work() const = 0;
  /// Accesses without an answer, and lines on their way to and from its cache, or with a page that is being
  /// moved.
  virtual std::uint64_t outstanding() const = 0;
  bool finished() const { return out_of_work() && outstanding() == 0; }
  /// Null: it has none.
  virtual const CacheAgent* cache() const = 0;
  /// Its cache, for a component that takes lines from it as if it had never had them.
  virtual CacheAgent* losing_cache() = 0;

  /// Gives it something to do; to be called before the simulation starts.
  virtual void assign(Work work, RequestObserver& observer) = 0;
  /// Reads its accesses up to those that it will make at least, but no more than `most`, and nothing else:
  /// the simulation cannot be run after that. Throws InputError for what a run would refuse.
  virtual void read_through(std::uint64_t most) = 0;
  /// Throws InputError unless some device holds each of its lines, in persistent memory if they are flushed.
  virtual void check_mapped(const Access& access) const = 0;
  /// Its program's pages, if they can be put elsewhere while it runs; to be called before the simulation
  /// starts if they will be.
  virtual MovablePages* expect_moves() = 0;
  /// What moves its pages as a policy says; null: nothing does.
  virtual TieringAgent* tiering() = 0;
  /// Its program's pages go to another memory from now on.
  virtual void move_pages(const PageMover::Order& order) = 0;
  /// Tells `leaving` when all that it has made for that memory is answered, and what its combining buffers
  /// gather for it is written. Its pages have left. Only after `expect_moves` has given them.
  virtual void end_accesses(NodeId memory, PagesLeaving& leaving) = 0;
  /// These lines leave its cache, and those of them that are under way end. Only after `expect_moves` has
  /// given its pages.
  virtual void flush_lines(std::vector<LineAddress> lines, PagesLeaving& leaving) = 0;
  /// The requests that its work wants count from now on. Where nobody asks for windows of its own the
  /// measured window opens with that.
  virtual void count_from_now() = 0;
  /// The windows that open from now on are parts of the one that is open now.
  virtual void divide_window() = 0;
  /// It makes no more requests; those under way go on to their end. Not if they come from outside.
  virtual void cease() = 0;
  /// The number, in the order of its stream, of the access that a message carries to memory; none: it
  /// carries none, or somebody else has made the message for it.
  virtual std::optional<std::uint64_t> access_of(const Message& /*message*/) { return std::nullopt; }
  /// It makes no more requests, as `cease`, because it has crashed. The window stays open for the others; for
  /// the `last` with work it closes.
  virtual void crash(bool last) = 0;
  /// It crashes, and will boot: it makes no more requests until then, and those under way end with an error,
  /// whatever comes for them.
  virtual void pause() {}
  /// It has crashed and is there again. After `pause` it goes on with its next request.
  virtual void boot() {}
  /// It is between the two.
  virtual bool paused() const { return false; }
  /// Its cache is outside of the simulation; null: it is not.
  virtual ExternalCache* external_cache() { return nullptr; }
  /// Nothing of what it has taken from its stream is answered before; it may say less than it could.
  virtual Time earliest_answer(RemainingTime& /*left*/) { return Time{}; }
  /// The outside has changed its stream: goes on with what can be issued.
  virtual void resume() = 0;

  /// Gives the measures of its requests by name.
  virtual void report_requests(MeasureSink& sink) const = 0;
  /// The requests answered with data in the window.
  virtual const LatencyDistribution& latency() const = 0;
  /// The requests answered without data.
  virtual const LatencyDistribution& errors() const = 0;
  virtual const BatchMeans& batches() const = 0;

 protected:
  ~Requester() = default;
};

}  // namespace cxloom
