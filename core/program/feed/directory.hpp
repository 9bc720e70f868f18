// The folder by which a program under an emulator and cxloom find their shared memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/feed/ring.hpp"
#include "program/feed/shared_pages.hpp"

namespace cxloom {

/// Has the control page, and opens the rings that writers announce there.
class FeedDirectory {
 public:
  struct Sizes {
    // A thread whose turn in the order of calls has not come waits until the others have told what came
    // before, which fits their rings: little, so that the simulation can hold it (CoreCluster::kMostHeld).
    std::uint32_t thread_words = 1U << 14U;
    std::uint32_t process_words = 1U << 15U;
  };
  struct Ring {
    std::uint32_t number = 0;
    SharedPages pages;

    FeedRingHead& head() const { return *static_cast<FeedRingHead*>(pages.at(0)); }
  };

  /// Makes the control page in the folder, which exists and is empty. Throws InputError if it cannot.
  FeedDirectory(std::string folder, const Sizes& sizes);

  FeedControl& control() const { return *static_cast<FeedControl*>(control_.at(0)); }
  /// The failure of a writer, a sentence; empty if all went well.
  std::string failure() const;
  std::string lacking() const;

  /// The rings that have come since this was asked last; of each the process, or that one's parent, came
  /// before it. Throws SimulationError if one is of no writer of this version.
  std::vector<Ring> open_rings();
  /// Every ring that was announced is open.
  bool has_all() const {
    return control().rings.load(std::memory_order_acquire) == announced_ && unopened_.empty();
  }

 private:
  std::string name_of(std::uint32_t ring) const;
  bool open_ring(std::uint32_t number, std::vector<Ring>& opened);

  std::string folder_;
  Sizes sizes_;
  SharedPages control_;
  std::vector<std::uint32_t> unopened_;  // rings that were announced and are not there yet
  std::uint32_t announced_ = 0;
};

}  // namespace cxloom
