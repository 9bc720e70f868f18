// Tiering over minutes: a program's pages, its policy and the time between what happens to them. Accesses are
// made at the rates of short runs of lines; which pages they reach first is drawn as the pattern would.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"
#include "base/value.hpp"
#include "system/epochs/epoch_kernel.hpp"
#include "system/epochs/rate_windows.hpp"
#include "system/epochs/studied_program.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

struct Registry;

struct EpochParams {
  Time duration;
  std::optional<Time> epoch;
  std::uint64_t window = 20'000;
  double tolerance = 0.05;

  static void describe(Schema<EpochParams>& schema);
};

class PageStudy {
 public:
  /// Throws InputError for a spec that epochs cannot give, with the path of what is in the way.
  PageStudy(const Registry& registry, Spec spec, const EpochParams& params);

  /// Goes on with so many steps at most; true when the study is over.
  bool advance(std::uint64_t steps);
  Time now() const { return clock_.now(); }
  /// All there is to tell: what was counted, epoch by epoch, and the windows.
  Value result() const;

 private:
  struct Window {
    std::size_t phase;
    std::vector<double> shares;
    WindowRate rate;
    std::uint64_t uses = 0;
  };
  struct Row {
    Time until;
    double accesses = 0;
    double lost = 0;  // ps
    KernelCounts counts;
    std::vector<std::uint64_t> pages;
    std::vector<std::uint64_t> free;
    std::vector<double> shares;
  };

  bool over() const { return clock_.now() >= end_ || clock_.accesses() >= most_; }
  void step();
  void look_at_rates();
  /// The part of the rate that is left while a page moves.
  double part_beside_move() const;
  const Window& window_at(std::size_t phase, std::vector<double> shares);
  NodeOfPage placement_at(std::size_t phase) const;
  void end_row();
  Value value_of(const Row& row, const Row& before) const;
  Value by_node(std::span<const std::uint64_t> counts, std::uint64_t times) const;
  Value counts_of(const KernelCounts& now, const KernelCounts& before) const;

  const Registry& registry_;
  Spec spec_;
  EpochParams params_;
  StudiedProgram program_;
  EpochClock clock_;
  EpochPages pages_;
  RateWindows windows_;
  std::unique_ptr<EpochKernel> kernel_;
  std::vector<Window> known_;
  std::vector<std::optional<WindowCosts>> costs_;  // by phase
  WindowRate rate_;
  WindowCosts cost_;
  double ahead_ = 0;  // accesses that shares are of
  double turn_ = 0;   // accesses at which they are looked at
  double most_ = 0;   // accesses
  Time end_;
  std::vector<Row> rows_;
  std::uint64_t looked_ = 0;  // moves that were made when rates were looked at
  std::size_t phase_ = 0;
};

}  // namespace cxloom
