// The pages of a program as whoever migrates them sees them: which are where, and what it takes to put one
// elsewhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// A page that has a frame to go to.
struct PageMove {
  std::uint64_t page = 0;  ///< by the order of the pages' first touch
  Address from;
  Address to;
  std::uint64_t bytes = 0;
  std::size_t node = 0;       ///< where `to` is
  std::size_t from_node = 0;  ///< where `from` is
  std::uint64_t room = 0;     ///< bytes from `to` on that are the program's

  /// Where an access of this size is behind the move. One across the end of the page ends with the last byte
  /// that is the program's.
  Address moved(Address address, std::uint64_t size) const {
    const std::uint64_t offset = address.value() - from.value();
    return offset < bytes ? Address{to.value() + std::min(offset, room - std::min(room, size))} : address;
  }
};

class MovablePages {
 public:
  virtual ~MovablePages() = default;

  /// The node that this memory is of, or one of the names of all; nothing: there is no such node.
  virtual std::optional<std::size_t> node_of_memory(const std::string& memory) const = 0;
  /// What nodes there are.
  virtual const std::vector<std::string>& node_names() const = 0;
  /// The nodes, the nearest to the program first.
  virtual const std::vector<std::size_t>& nearest_nodes() const = 0;
  /// Its pages in a node, of these addresses of the program if some are given, in the order of their first
  /// touch.
  virtual std::vector<std::uint64_t> pages_in(std::size_t node, const std::optional<AddressRange>& range) = 0;
  /// Takes a frame of a node for a page; nothing if the program has none left there, or the page is there.
  virtual std::optional<PageMove> begin_move(std::uint64_t page, std::size_t node) = 0;
  /// From now on the page is at its new place, and what it had is free.
  virtual void end_move(const PageMove& move) = 0;
  /// It stays where it is, and what it was to have is free.
  virtual void give_up_move(const PageMove& move) = 0;

  // For whoever sees each access when it is made.

  /// From now on the stream gives the program's own addresses, and pages are placed by `place`. To be called
  /// before the first access.
  virtual void place_later() = 0;
  /// Puts the address in memory in place of the program's, and gives the page's number; a new page gets a
  /// frame. Throws InputError if the program needs more memory than it has.
  virtual std::uint64_t place(Access& access) = 0;
  /// Pages that were touched before the run get their numbers now, and not with their first use.
  virtual void number_touched() = 0;
  /// Pages that have numbers.
  virtual std::uint64_t count() const = 0;
  virtual std::size_t node_of(std::uint64_t page) const = 0;
  /// It belongs to a page table.
  virtual bool is_table(std::uint64_t page) const = 0;
  /// The program gave its area a policy of its own.
  virtual bool is_explicit(std::uint64_t page) const = 0;
  /// Its first address in the program.
  virtual Address program_address(std::uint64_t page) const = 0;
  /// The page at an address in memory; nothing: none of the program.
  virtual std::optional<std::uint64_t> page_at(Address address) const = 0;
  /// Frames of a node that pages can be moved to.
  virtual std::uint64_t free_frames(std::size_t node) const = 0;
};

}  // namespace cxloom
