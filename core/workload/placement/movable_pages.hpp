// The pages of a program as whoever migrates them sees them: which are where, and what it takes to put one elsewhere.
#pragma once

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
  std::size_t node = 0;    ///< where `to` is
  std::uint64_t room = 0;  ///< bytes from `to` on that are the program's
};

class MovablePages {
 public:
  virtual ~MovablePages() = default;

  /// The node that this memory is of, or one of the names of all; nothing: there is no such node.
  virtual std::optional<std::size_t> node_of_memory(const std::string& memory) const = 0;
  /// What nodes there are.
  virtual const std::vector<std::string>& node_names() const = 0;
  /// Its pages in a node, of these addresses of the program if some are given, in the order of their first touch.
  virtual std::vector<std::uint64_t> pages_in(std::size_t node, const std::optional<AddressRange>& range) = 0;
  /// Takes a frame of a node for a page; nothing if the program has none left there, or the page is there.
  virtual std::optional<PageMove> begin_move(std::uint64_t page, std::size_t node) = 0;
  /// From now on the page is at its new place, and what it had is free.
  virtual void end_move(const PageMove& move) = 0;
  /// It stays where it is, and what it was to have is free.
  virtual void give_up_move(const PageMove& move) = 0;
};

}  // namespace cxloom
