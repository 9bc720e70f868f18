// A stream whose pages are placed: each gets a frame of memory when it is first touched, out of frames that are the
// program's own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/value.hpp"
#include "workload/access_stream.hpp"
#include "workload/movable_pages.hpp"
#include "workload/numa_nodes.hpp"
#include "workload/page_map.hpp"
#include "workload/page_placement.hpp"

namespace cxloom {

/// The frames of one program.
class ProgramMemory {
 public:
  /// A frame, and the bytes from its first one on that are the program's.
  struct Frame {
    Address base;
    std::uint64_t room = 0;
  };

  /// Frames by node: those that pages are placed in, and spare ones that pages can only be moved to (or none).
  ProgramMemory(std::vector<Frames> frames, Bytes page, std::vector<Frames> spare = {});

  /// How many are left of each node.
  std::span<const std::uint64_t> free() const { return free_; }
  /// The next one of a node that has one left.
  Frame take(std::size_t node);
  /// The same of a spare one, or of those if there is none; nothing: none is left.
  std::optional<Frame> take_spare(std::size_t node);
  /// A frame that was taken is free again, and the next to be given.
  void give_back(std::size_t node, const Frame& frame);

 private:
  struct Place {
    std::size_t run = 0;
    std::uint64_t frame = 0;
  };

  Frame take_next(const Frames& frames, Place& next) const;

  std::vector<Frames> frames_;
  std::vector<Place> next_;  // frames to be given, by node
  std::vector<Frames> spare_;
  std::vector<Place> next_spare_;
  std::vector<std::vector<Frame>> given_back_;
  std::vector<std::uint64_t> free_;
  std::uint64_t page_;
};

/// What was divided among programs, for who gets too little of it.
struct Division {
  std::uint64_t frames = 0;
  std::size_t programs = 1;
};

class PlacedStream final : public AccessStream, private MovablePages {
 public:
  /// `nodes` name what `memory` is of; `path` is where the user asked for the placement. Those pages that are first touched by page
  /// walks go where `tables` says, if there is any.
  PlacedStream(std::unique_ptr<AccessStream> stream, std::unique_ptr<PagePlacement> placement,
               ProgramMemory memory, std::vector<std::string> nodes, Bytes page, Division division,
               std::string path, std::unique_ptr<PagePlacement> tables = nullptr);

  /// The address that an access has in memory is found here, once: its request keeps it, whatever becomes of the page.
  /// Throws InputError if the program needs more memory than it has.
  bool next(Access& access) override {
    if (!stream_->next(access)) return false;
    if (access.reaches_memory()) access.address = placed(access);
    return true;
  }
  bool wants_answers() const override { return stream_->wants_answers(); }
  void answered(std::uint64_t number, const Request& request, Time now) override {
    stream_->answered(number, request, now);
  }
  void want(std::uint32_t thread) override { stream_->want(thread); }
  bool repeats() const override { return stream_->repeats(); }
  std::optional<std::uint64_t> length() const override { return stream_->length(); }
  std::optional<Value> pages_by_node() const override;
  MovablePages* movable_pages() override { return this; }

 private:
  std::optional<std::size_t> node_of_memory(const std::string& memory) const override;
  const std::vector<std::string>& node_names() const override { return nodes_; }
  std::vector<std::uint64_t> pages_in(std::size_t node,
                                      const std::optional<AddressRange>& range) const override;
  std::optional<PageMove> begin_move(std::uint64_t page, std::size_t node) override;
  void end_move(const PageMove& move) override;
  void give_up_move(const PageMove& move) override;

  Address placed(const Access& access);
  const ProgramMemory::Frame& frame_of(const Access& access);
  void take_frame(std::uint64_t page, PagePlacement& placement);
  [[noreturn]] void refuse_page() const;
  [[noreturn]] void refuse_length(const Access& access, std::uint64_t room) const;
  std::string share() const;

  std::unique_ptr<AccessStream> stream_;
  std::unique_ptr<PagePlacement> placement_;
  std::unique_ptr<PagePlacement> tables_;  // where they are placed by themselves
  ProgramMemory memory_;
  std::vector<std::string> nodes_;
  unsigned page_bits_;
  Division division_;
  std::string path_;
  PageMap pages_;
  /// Where a page is, and which one it is.
  struct Placed {
    ProgramMemory::Frame frame;
    std::uint64_t page;
    std::size_t node;
  };
  std::vector<Placed> placed_;        // in the order of the pages' first touch
  std::vector<std::uint64_t> taken_;  // by node
};

}  // namespace cxloom
