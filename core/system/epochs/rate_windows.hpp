// How fast a program makes its accesses, and what the kernel's work takes of it: short runs of lines on the
// whole system, at the placement of the moment.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "system/epochs/window_kinds.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

struct Registry;

/// What a window has found of a program without the kernel's work.
struct WindowRate {
  double rate = 0;                   ///< accesses a picosecond
  std::vector<double> latency = {};  ///< picoseconds of an answer of each node; 0: it gave none
  double in_flight = 1;              ///< accesses, on average
  double answered = 1;               ///< share of accesses that memory answers: the others hit a cache
};

/// What the kernel's work takes of it.
struct WindowCosts {
  double moving = 1;   ///< the rate while pages are copied / the rate otherwise
  double beside = 1;   ///< of that what waiting for the page alone leaves, of pages as few as the folded ones
  double move = 0;     ///< ps of a page's move in the background
  double urgent = 0;   ///< ps of a move that an access waits for
  double latency = 1;  ///< ps of an access when the next two were found
  /// Picoseconds of a fault, and of an interrupt, that cost nothing: accesses that are under way go on, and
  /// as many can be made at once behind it.
  double hidden_fault = 0;
  double hidden_interrupt = 0;
};

/// The least share of the usual rate while a page is copied: a program that comes to nothing would never end.
inline constexpr double kLeastRate = 1e-3;

/// The part of its accesses that somebody makes in a time in which the first one to a page waits for its end,
/// where accesses are drawn and so many of them would be to that page.
double made_beside(double to_page);

class RateWindows {
 public:
  /// `phases` are workloads with a pattern, one for each phase of that workload of the spec. All outlive it.
  RateWindows(const Registry& registry, const Spec& spec, std::vector<Spec::Workload> phases,
              std::vector<std::uint64_t> frames, std::size_t nearest, std::uint64_t requests);

  WindowRate rate(std::size_t phase, const NodeOfPage& node_of) const;
  WindowCosts costs(std::size_t phase, const NodeOfPage& node_of) const;
  std::uint64_t runs() const { return runs_; }
  std::uint64_t accesses() const { return accesses_; }

 private:
  struct Setting {
    WindowWork work = WindowWork::kNothing;
    bool folded = false;
    Time period = Time::max();
    KernelCosts kernel = {};
    std::uint64_t windows = 1;  // that it is as long as
  };
  struct Found {
    double time = 0;    // ps, of all accesses
    double window = 0;  // ps
    std::uint64_t completed = 0;
    std::vector<double> latency = {};  // means, by node
    std::vector<std::uint64_t> answers = {};
    double moved = 0;
    double moving = 0;  // ps
    double faults = 0;
    double taken = 0;  // ps, of all threads

    /// Mean picoseconds of an answer.
    double latency_of_all() const;
  };
  Found run(std::size_t phase, const NodeOfPage& node_of, const Setting& setting) const;
  Spec window_of(std::size_t phase, const Setting& setting) const;
  double made_beside_folded(const Found& plain, double move) const;

  const Registry& registry_;
  const Spec& spec_;
  std::vector<Spec::Workload> phases_;
  std::size_t nodes_;
  std::size_t nearest_;   // of them
  std::uint64_t folded_;  // pages of each node
  std::uint64_t requests_;
  mutable std::uint64_t runs_ = 0;
  mutable std::uint64_t accesses_ = 0;
};

}  // namespace cxloom
