// An object in memory: which node each of its pages is in, in little memory also where pages alternate.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "workload/placement/frame_order.hpp"
#include "workload/placement/page_placement.hpp"

namespace cxloom {

/// The frames of a system that objects share, by the address of the first of a node.
struct ObjectNode {
  std::shared_ptr<const FrameOrder> frames;
  std::uint64_t used = 0;
};

class PlacedObject {
 public:
  struct Place {
    Address at;
    std::uint64_t room = 0;  ///< bytes from there on that follow each other
  };

  /// Takes frames for all its pages. `nodes` are those that the placement speaks of, and outlive this. Throws
  /// InputError, with the key `size`, if its pages have no room.
  PlacedObject(std::string name, Bytes size, Bytes page, PagePlacement& placement,
               std::vector<ObjectNode*> nodes, std::uint64_t first_page);

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t pages() const { return pages_; }
  Place place(std::uint64_t offset) const;
  /// From the offset on its pages are divided among nodes in one way up to there.
  std::uint64_t even_until(std::uint64_t offset) const;
  /// Bytes after which that way begins again; 1: all its pages are in one node.
  std::uint64_t turn(std::uint64_t offset) const;
  /// Where in such a turn the offset is.
  std::uint64_t phase(std::uint64_t offset) const;
  /// What way that is, for all objects with these nodes: the same text is the same way.
  std::string mix(std::uint64_t offset) const;
  /// The nodes of all the bytes from the offset on, as `add_bytes` counts them, and how many are in each.
  std::string mix_of(std::uint64_t offset, std::uint64_t bytes) const;
  /// Adds, by node, the bytes from the offset on; behind its end it begins again at `from`.
  void add_bytes(std::uint64_t from, std::uint64_t bytes, std::vector<std::uint64_t>& by_node) const;

 private:
  /// Pages whose nodes repeat.
  struct Chunk {
    std::uint64_t first = 0;  // page
    std::uint64_t pages = 0;
    std::vector<std::uint8_t> period = {};        // the node of each page
    std::vector<std::uint32_t> rank = {};         // of these, those before it with its node
    std::vector<std::uint64_t> first_frame = {};  // by node
    std::vector<std::uint64_t> count = {};        // by node, in a period
    std::uint64_t even_until = 0;                 // page from which on another mix begins
  };

  const Chunk& chunk_of(std::uint64_t page) const;
  void find_even_parts();
  void add_chunk(std::span<const std::uint8_t> period, std::uint64_t pages);
  [[noreturn]] void refuse(std::uint64_t placed, std::uint64_t page) const;
  void add_page_bytes(std::uint64_t first, std::uint64_t last, std::vector<std::uint64_t>& by_node) const;

  std::string name_;
  std::uint64_t size_;
  unsigned page_bits_;
  std::uint64_t pages_;
  std::vector<ObjectNode*> nodes_;
  std::vector<Chunk> chunks_;
};

}  // namespace cxloom
