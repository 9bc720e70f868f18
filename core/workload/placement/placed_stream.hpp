// A stream whose pages are placed: each gets a frame of memory when it is first touched, out of frames that
// are the program's own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/value.hpp"
#include "workload/placement/frame_order.hpp"
#include "workload/placement/numa_nodes.hpp"
#include "workload/placement/page_numbers.hpp"
#include "workload/placement/page_placement.hpp"
#include "workload/placement/page_runs.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/stream/movable_pages.hpp"

namespace cxloom {

/// Frames of a node that follow each other in the order in which it gives them.
struct FrameSlice {
  std::shared_ptr<const FrameOrder> order;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// The frames of one program. Those of a node are in one part, or in parts that come and go.
class ProgramMemory {
 public:
  using Frame = FrameOrder::Frame;
  /// By node, then by part.
  using Parts = std::vector<std::vector<FrameSlice>>;

  /// The frames that pages are placed in, and spare ones that pages can only be moved to (or none). If the
  /// memory that programs find `changes`, pages are placed in spare ones as well, once the others are taken.
  explicit ProgramMemory(const Parts& frames, const Parts& spare = {}, bool changes = false);

  /// How many are left of each node, of those that it has now.
  std::span<const std::uint64_t> free() const { return free_; }
  /// Which parts of a node the program has now. At first it has all of them.
  void offer(std::size_t node, const std::vector<bool>& parts);
  bool offers(std::size_t node) const;
  /// The next one of a node that has one left.
  Frame take(std::size_t node);
  /// Frames that were taken at once.
  struct Taken {
    std::size_t store = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  /// Takes so many at once of a node that has one left, or fewer; none was given back yet.
  Taken take_all(std::size_t node, std::uint64_t most);
  /// How many more could be taken so that follow on the last ones of these, of the same node.
  std::uint64_t behind(std::size_t node, const Taken& last) const;
  /// One of those.
  Frame taken(std::size_t node, const Taken& taken, std::uint64_t number) const {
    return nodes_[node][taken.store].frame(taken.first + number);
  }
  /// Takes a spare frame, or one that pages are placed in if there is none; nothing: none is left.
  std::optional<Frame> take_spare(std::size_t node);
  /// How many of these are left.
  std::uint64_t left_for_moves(std::size_t node) const;
  /// The base of the frame that an address is in; nothing: it is in none of these nodes.
  std::optional<Address> frame_at(Address address) const;
  /// A frame that was taken is free again, and the next to be given.
  void give_back(std::size_t node, const Frame& frame);

 private:
  struct Store {
    FrameSlice slice;
    std::size_t part = 0;
    bool spare = false;
    bool offered = true;
    std::uint64_t given = 0;
    std::vector<Frame> given_back = {};

    std::uint64_t left() const { return offered ? slice.count - given + given_back.size() : 0; }
    Frame frame(std::uint64_t number) const {
      return slice.order->at(slice.first + number, slice.first + slice.count);
    }
    Frame take();
  };

  void count(std::size_t node);

  std::vector<std::vector<Store>> nodes_;  // spare ones behind the others
  bool changes_;
  std::vector<std::uint64_t> free_;
};

/// What was divided among programs, for who gets too little of it.
struct Division {
  std::uint64_t frames = 0;
  std::size_t programs = 1;
};

class PlacedStream final : public AccessStream, private MovablePages {
 public:
  /// `nodes` name what `memory` is of; `path` is where the user asked for the placement. Those pages that are
  /// first touched by page walks go where `tables` says, if there is any.
  PlacedStream(std::unique_ptr<AccessStream> stream, std::unique_ptr<PagePlacement> placement,
               ProgramMemory memory, std::vector<std::string> nodes, Bytes page, Division division,
               std::string path, std::unique_ptr<PagePlacement> tables = nullptr);

  /// The nodes in the order of their distances, for who moves pages.
  void order_nodes(std::vector<std::size_t> nearest_first) { nearest_ = std::move(nearest_first); }
  /// Which parts of each node the program has from now on. At first it has all of them.
  void offer(const std::vector<std::vector<bool>>& parts);
  /// These pages are touched before the run: they have frames from the beginning. All others get theirs when
  /// they are first touched. To be called once. Throws InputError below the workload if there are too few.
  void touch(const PageRuns& pages);

  /// Calls `visit` for the frames of pages touched before the run, in the order of touch: so many bytes of
  /// them, the last.
  void touched_last(std::uint64_t bytes,
                    const std::function<void(Address base, std::uint64_t bytes)>& visit) const;
  /// The address that an access has in memory is found here, once: its request keeps it, whatever becomes of
  /// the page. Throws InputError if the program needs more memory than it has.
  bool next(Access& access) override {
    if (!stream_->next(access)) return false;
    if (!later_ && access.reaches_memory()) static_cast<void>(place(access));
    return true;
  }
  bool open() const override { return stream_->open(); }
  std::uint64_t per_access() const override { return stream_->per_access(); }
  ReactiveStream* reactive() override { return stream_->reactive(); }
  bool wants_answers() const override { return stream_->wants_answers(); }
  void answered(std::uint64_t number, const Request& request, Time now) override {
    stream_->answered(number, request, now);
  }
  void want(std::uint32_t thread) override { stream_->want(thread); }
  bool repeats() const override { return stream_->repeats(); }
  std::uint64_t left_at_least() const override { return stream_->left_at_least(); }
  bool may_store_past() const override { return stream_->may_store_past(); }
  std::optional<std::uint64_t> length() const override { return stream_->length(); }
  std::optional<Value> pages_by_node() const override;
  MovablePages* movable_pages() override { return this; }

 private:
  std::optional<std::size_t> node_of_memory(const std::string& memory) const override;
  const std::vector<std::string>& node_names() const override { return nodes_; }
  const std::vector<std::size_t>& nearest_nodes() const override { return nearest_; }
  std::vector<std::uint64_t> pages_in(std::size_t node, const std::optional<AddressRange>& range) override;
  std::optional<PageMove> begin_move(std::uint64_t page, std::size_t node) override;
  void end_move(const PageMove& move) override;
  void give_up_move(const PageMove& move) override;
  void place_later() override { later_ = true; }
  std::uint64_t place(Access& access) override;
  void number_touched() override;
  std::uint64_t count() const override { return placed_.size(); }
  std::size_t node_of(std::uint64_t page) const override { return placed_[page].node; }
  bool is_table(std::uint64_t page) const override { return placed_[page].table; }
  bool is_explicit(std::uint64_t page) const override { return placement_->is_explicit(placed_[page].page); }
  Address program_address(std::uint64_t page) const override {
    return Address{placed_[page].page << page_bits_};
  }
  std::optional<std::uint64_t> page_at(Address address) const override;
  std::uint64_t free_frames(std::size_t node) const override { return memory_.left_for_moves(node); }

  /// The page's number.
  std::uint64_t number_of(const Access& access);
  /// Gives it the frame that it was to have since before the run; not if it had none.
  bool find_touched(std::uint64_t page);
  /// The last run that does not begin behind the page, which is not before all of them.
  std::size_t run_before(std::uint64_t page) const;
  void find_all_touched();
  void take_frame(std::uint64_t page, PagePlacement& placement, bool table);
  [[noreturn]] void refuse_page(std::uint64_t had, const std::string& path) const;
  [[noreturn]] void refuse_length(const Access& access, std::uint64_t room) const;
  std::string share() const;

  std::unique_ptr<AccessStream> stream_;
  std::unique_ptr<PagePlacement> placement_;
  std::unique_ptr<PagePlacement> tables_;  // where they are placed by themselves
  ProgramMemory memory_;
  std::vector<std::string> nodes_;
  std::vector<std::size_t> nearest_;  // places in `nodes_`
  unsigned page_bits_;
  Division division_;
  std::string path_;
  PageNumbers pages_;
  /// Where a page is, and which one it is.
  struct Placed {
    ProgramMemory::Frame frame;
    std::uint64_t page;
    std::uint32_t node;
    bool table = false;
  };
  static Placed placed_at(const ProgramMemory::Frame& frame, std::uint64_t page, std::size_t node,
                          bool table = false) {
    return {frame, page, static_cast<std::uint32_t>(node), table};
  }
  /// Pages of a round that follow each other: their frames have numbers that follow each other, and those of
  /// the next round so many behind.
  struct TouchedTurn {
    std::uint64_t offset = 0;  // in the round
    std::size_t node = 0;
    ProgramMemory::Taken frames;
    std::uint64_t a_round = 0;  // pages of the node
  };
  /// Pages that follow each other, and were touched before: rounds that are alike.
  struct TouchedRun {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint64_t round = 0;  // pages
    std::size_t first_turn = 0;
    std::size_t turns = 0;
  };
  /// Appends pages that are placed one round, and how many more there are of it.
  void touch_rounds(std::uint64_t page, const PagePlacement::Round& round, std::uint64_t had);
  /// Appends the next choice for these pages, and says for how many it is.
  std::uint64_t touch_turn(std::uint64_t page, std::uint64_t count, std::uint64_t had);
  Placed placed_of(const TouchedRun& run, std::uint64_t place) const;

  std::vector<TouchedRun> touched_;  // by page: what is in `placed_` only once it is used
  std::vector<TouchedTurn> turns_;
  std::vector<Placed> placed_;        // in the order of the pages' first use
  std::vector<std::uint64_t> taken_;  // by node
  bool later_ = false;                // pages are placed when their accesses are made
  /// Numbers of pages by the addresses of their frames; kept once `number_touched` was called.
  std::optional<std::unordered_map<std::uint64_t, std::uint64_t>> by_frame_;
};

}  // namespace cxloom
