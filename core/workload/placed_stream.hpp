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

  /// Frames by node.
  ProgramMemory(std::vector<Frames> frames, Bytes page);

  /// How many are left of each node.
  std::span<const std::uint64_t> free() const { return free_; }
  /// The next one of a node that has one left.
  Frame take(std::size_t node);

 private:
  struct Place {
    std::size_t run = 0;
    std::uint64_t frame = 0;
  };

  std::vector<Frames> frames_;
  std::vector<Place> next_;  // frames to be given, by node
  std::vector<std::uint64_t> free_;
  std::uint64_t page_;
};

/// What was divided among programs, for who gets too little of it.
struct Division {
  std::uint64_t frames = 0;
  std::size_t programs = 1;
};

class PlacedStream final : public AccessStream {
 public:
  /// `nodes` name what `memory` is of; `path` is where the user asked for the placement.
  PlacedStream(std::unique_ptr<AccessStream> stream, std::unique_ptr<PagePlacement> placement,
               ProgramMemory memory, std::vector<std::string> nodes, Bytes page, Division division,
               std::string path);

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
  std::optional<std::uint64_t> length() const override { return stream_->length(); }
  std::optional<Value> pages_by_node() const override;

 private:
  Address placed(const Access& access);
  const ProgramMemory::Frame& frame_of(Address address);
  void take_frame(std::uint64_t page);
  [[noreturn]] void refuse_page() const;
  [[noreturn]] void refuse_length(const Access& access, std::uint64_t room) const;
  std::string share() const;

  std::unique_ptr<AccessStream> stream_;
  std::unique_ptr<PagePlacement> placement_;
  ProgramMemory memory_;
  std::vector<std::string> nodes_;
  unsigned page_bits_;
  Division division_;
  std::string path_;
  PageMap pages_;
  std::vector<ProgramMemory::Frame> frames_;  // in the order of the pages' first touch
  std::vector<std::uint64_t> taken_;          // by node
};

}  // namespace cxloom
