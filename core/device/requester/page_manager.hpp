// The kernel's work on the pages of a program while it runs: which accesses that stops, whose time it takes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "device/requester/core_cluster.hpp"
#include "device/requester/page_mover.hpp"
#include "device/requester/request_queue.hpp"
#include "device/requester/tiering_agent.hpp"
#include "protocol/request.hpp"
#include "workload/stream/movable_pages.hpp"

namespace cxloom {

class Endpoint;

class PageManager final : private PageMover::MovedProgram, private TieringAgent::TieredProgram {
 public:
  /// The requester of the program.
  class ManagedProgram {
   public:
    virtual std::uint64_t issued() const = 0;
    virtual std::uint64_t in_flight() const = 0;
    virtual bool out_of_work() const = 0;
    /// Works on it as on each request, and gives it to memory.
    virtual void process(Request& request) = 0;
    /// A page has a new place, also for an access that was taken from the stream before.
    virtual void page_moved(const PageMove& move) = 0;
    /// Whether nothing that it has made is on its way to the memory. What it gathers for that goes now.
    virtual bool end_accesses_to(NodeId memory) = 0;
    /// What waited may go on.
    virtual void may_issue() = 0;
    /// Bytes that nobody waits for have gone to the target, or come from there.
    virtual void written_back(NodeId target, std::uint16_t bytes) = 0;
    virtual void prefetched(NodeId target, std::uint16_t bytes) = 0;

   protected:
    ~ManagedProgram() = default;
  };

  /// `cores`: null if accesses are made in the order of the stream. `queue` has the copies of lines, too.
  PageManager(Endpoint& endpoint, MovablePages& pages, CoreCluster* cores, RequestQueue& queue,
              ManagedProgram& program);

  void begin(const PageMover::Order& order) { mover_.begin(order); }
  /// Tells `leaving` when nothing of the program is on its way to that memory.
  void end_accesses(NodeId memory, PagesLeaving& leaving);
  /// Something of the program has been answered: whether that was the last of what somebody waits for.
  void look_for_ends();
  /// Lines leave the cache, the modified ones by way of memory, and those under way end.
  void flush(std::vector<LineAddress> lines, PagesLeaving& leaving);
  /// A policy moves pages from now on; to be called before the simulation starts.
  void tier(std::shared_ptr<const Tiering> tiering);
  void start() {
    if (tiering_) tiering_->start();
  }

  /// Null: pages move by events.
  TieringAgent* tiering() { return tiering_.get(); }
  /// An access comes from the stream. Where the stream leaves that to others, its page is placed.
  void fetched(Access& access) {
    if (places_) page_ = pages_.place(access);
  }
  /// Whether the access that was fetched last waits: for its page, or for one before it that was stopped.
  bool holds_up(const Access& access);
  WaitList& list() { return mover_.list(); }
  /// The kernel has the time up to then, where there are no cores.
  Time busy_until() const { return busy_until_; }
  /// That access is issued as `request`. Returns whether it stops before memory: it comes back by `process`.
  bool stops(Request& request, const Access& access);
  /// A request of the program is answered.
  void completed(const Request& request, Time now) {
    mover_.completed(request.id);
    if (tiering_) tiering_->completed(request, now);
    if (!ending_.empty()) [[unlikely]]
      look_for_ends();
  }
  /// A line that was to be copied is read or written. Gives the request back.
  void copied(Request& line);

  /// Lines of a page that have not come to their new place, and those to be flushed.
  std::uint64_t outstanding() const {
    return mover_.outstanding() + (flushes_.empty() ? 0 : flushes_.front().left);
  }
  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

 private:
  struct EndingAccesses {
    NodeId memory;
    PagesLeaving* leaving;
  };
  struct LineFlush {
    std::vector<LineAddress> lines;
    PagesLeaving* leaving;
    std::size_t next = 0;  // that was not asked for
    std::size_t left = 0;  // without an answer
  };

  std::uint64_t issued() const override { return program_.issued(); }
  std::uint64_t under_way() const override { return program_.in_flight() - stopped_; }
  bool out_of_work() const override { return program_.out_of_work(); }
  void copy(Address line, AccessKind kind, std::uint64_t number) override;
  void page_settled(const PageMove& move, bool moved) override;
  void goes_on(Request& access) override;
  void shot_down() override;
  void fault_over(Request& access) override { goes_on(access); }
  std::uint64_t running() const override;
  bool stands_still() const override { return !cores_ && running() > 0; }
  Time interrupt(std::optional<std::uint32_t> thread, Time time) override;

  void place_later();
  void flush_next();

  Endpoint& endpoint_;
  MovablePages& pages_;
  CoreCluster* const cores_;
  RequestQueue& queue_;
  ManagedProgram& program_;
  PageMover mover_;
  std::unique_ptr<TieringAgent> tiering_;
  bool places_ = false;        // the stream leaves it to place them
  std::uint64_t page_ = 0;     // of the access that was fetched last, if so
  std::uint64_t stopped_ = 0;  // requests that wait for a fault or a page that moves
  Time held_since_{-1};        // a page has held the next access up since then
  Time busy_until_;
  std::vector<EndingAccesses> ending_;
  std::deque<LineFlush> flushes_;  // one after the other
};

}  // namespace cxloom
