// Moves pages of a requester's program to another memory while the program runs, as an operating system does:
// docs/model/placement.md.
//
// One page after the other. While a page is being moved the program's accesses to it wait. Those under way
// are answered first; then, if the kernel moves it, its translations are shot down; then each line is read at
// the old place and written at the new one, and only then the page is there. So no access is led astray, and
// none is lost.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "kernel/wait_list.hpp"
#include "protocol/request.hpp"
#include "workload/stream/movable_pages.hpp"

namespace cxloom {

/// The costs of a page's move besides its lines.
struct MoveCosts {
  Time before;                              ///< from the last answer to an access under way to the first line
  std::uint32_t lines = ~std::uint32_t{0};  ///< that are being copied at the same time
  bool shoots_down = false;                 ///< cores are interrupted
};

/// Somebody who takes a memory away from a program for good.
class PagesLeaving {
 public:
  /// A page has left its frame.
  virtual void page_left(const PageMove& move) = 0;
  /// One of an order has not, as there is no frame for it, or it cannot be copied.
  virtual void page_stays() = 0;
  /// All pages of an order have left, or stay.
  virtual void order_over() = 0;
  /// Nothing that the program has made is on its way to the memory any more.
  virtual void accesses_over() = 0;
  /// All lines that were to be flushed are in memory.
  virtual void flushed() = 0;

 protected:
  ~PagesLeaving() = default;
};

class PageMover final : public EventHandler {
 public:
  /// Pages to be moved.
  struct Order {
    std::size_t from = 0;
    std::vector<std::size_t> to;  ///< each page goes to the first of these nodes with a free frame
    double share = 1.0;           ///< of the program's pages there, the ones it touched first
    std::optional<AddressRange> range;
    Rate rate;         ///< of the bytes that are read
    bool copy = true;  ///< otherwise the pages are there at once, and nothing moves
    /// Hears of it; its pages go even if the work has ended. Null: nobody does.
    PagesLeaving* leaving = nullptr;
  };
  /// The requester of the program.
  class MovedProgram {
   public:
    virtual std::uint64_t issued() const = 0;
    /// Accesses on their way to memory and back.
    virtual std::uint64_t under_way() const = 0;
    virtual bool out_of_work() const = 0;
    /// Reads or writes a line; `answered` of the mover is called.
    virtual void copy(Address line, AccessKind kind, std::uint64_t number) = 0;
    /// A page has a new place, or keeps its old one: who waited for it can go on.
    virtual void page_settled(const PageMove& move, bool moved) = 0;
    /// An access that waited goes to memory, by the address that it has now.
    virtual void goes_on(Request& access) = 0;
    /// The translations of a page are being shot down.
    virtual void shot_down() = 0;

   protected:
    ~MovedProgram() = default;
  };

  PageMover(Kernel& kernel, EventSource& source, const EventHandler& owner, MovablePages& pages,
            MovedProgram& program);

  /// To be called at the time of the move.
  void begin(const Order& order);
  /// A page goes to a node, behind what was ordered before; `urgent`: before all but what was ordered so.
  void move(std::uint64_t page, std::size_t node, const MoveCosts& costs, bool urgent);
  /// Pages that were ordered to move and do not yet.
  std::uint64_t waiting() const { return waiting_; }
  /// An access to these bytes has to wait.
  bool holds(Address address, std::uint64_t bytes) const {
    if (!move_) return false;
    const std::uint64_t from = move_->from.value();
    return address.value() < from + move_->bytes && address.value() + bytes > from;
  }
  bool moves(std::uint64_t page) const { return move_ && move_->page == page; }
  /// An access that is issued already has to.
  void hold(Request& access);
  WaitList& list() { return list_; }
  void waited(Time time) { waited_ += time; }
  /// An access of the program, by its number, has been answered.
  void completed(std::uint64_t id) {
    if (draining_ == 0 || id >= before_) return;
    if (--draining_ == 0) unmap();
  }
  /// An access of this number that was not under way is now.
  void goes_on(std::uint64_t id) { draining_ += draining_ > 0 && id < before_ ? 1 : 0; }
  /// A line that was to be copied has been read or written.
  void answered(std::uint64_t number, AccessKind kind, bool failed);
  /// Lines of the page under way that have not come to their new place.
  std::uint64_t outstanding() const { return left_; }
  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

  std::string name() const override { return owner_.name() + ", moving pages"; }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  struct PageList {
    std::vector<std::uint64_t> pages;
    std::vector<std::size_t> to;
    Rate rate = {};
    MoveCosts costs = {};
    std::optional<std::size_t> from;  ///< what has left this node when its turn comes is left alone
    PagesLeaving* leaving = nullptr;
    std::size_t next = 0;
  };
  struct HeldAccess {
    Request* access;
    Time since;
  };
  enum Wake : std::uint8_t { kRead, kUnmapped };

  bool idle() const { return work_.empty() && urgent_.empty(); }
  std::optional<PageMove> begin_move(std::uint64_t page, const std::vector<std::size_t>& to);
  void move_at_once(const PageList& work);
  void next_page();
  void unmap();
  void copy_lines();
  void read_next();
  void line_done();
  void release(const PageMove& move, bool moved);

  Kernel& kernel_;
  EventSource& source_;
  const EventHandler& owner_;
  MovablePages& pages_;
  MovedProgram& program_;
  WaitList list_;
  std::deque<PageList> work_;
  std::deque<PageList> urgent_;   // before the others
  std::vector<HeldAccess> held_;  // accesses to the page under way
  std::uint64_t waiting_ = 0;     // pages of all work that were not taken yet
  bool choosing_ = false;         // the next page: what is ordered meanwhile is looked at
  MoveCosts costs_;               // of the page under way
  PagesLeaving* leaving_ = nullptr;
  std::optional<PageMove> move_;  // under way
  std::uint64_t draining_ = 0;    // accesses that were under way when it began
  std::uint64_t before_ = 0;      // they have numbers below
  std::uint64_t lines_ = 0;       // of the page
  std::uint64_t read_ = 0;        // lines that were asked for
  std::uint64_t left_ = 0;        // lines that are not at their new place
  bool failed_ = false;
  RateMeter pace_;
  Time next_read_;  // not before
  std::optional<Time> busy_since_;
  bool waking_ = false;
  std::uint64_t pages_moved_ = 0;
  std::uint64_t pages_left_ =
      0;         // no frame was free, a line could not be copied, or the program was at its end
  Time busy_;    // pages were being moved
  Time waited_;  // the program waited for one
};

}  // namespace cxloom
