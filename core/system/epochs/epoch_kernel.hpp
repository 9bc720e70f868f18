// The part of a kernel that moves a program's pages, by epochs: it shows a policy what TieringAgent
// (device/requester/tiering_agent.hpp) shows it of lines, and charges the same costs. Six bytes for each
// page.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "system/epochs/epoch_clock.hpp"
#include "system/epochs/epoch_pages.hpp"
#include "system/epochs/fault_calendar.hpp"
#include "system/epochs/page_demand.hpp"
#include "system/epochs/rate_windows.hpp"
#include "workload/tiering/tiering.hpp"

namespace cxloom {

/// What the kernel has done so far: the measures `tiering` of a requester, by their names.
struct KernelCounts {
  std::uint64_t faults = 0;
  std::uint64_t protected_pages = 0;
  std::uint64_t scanned = 0;
  std::uint64_t samples = 0;
  std::uint64_t shootdowns = 0;
  std::uint64_t moved = 0;
  std::uint64_t promoted = 0;  ///< pages
  std::uint64_t demoted = 0;
  double interrupted = 0;  ///< ps, of all threads
  double moving = 0;       ///< ps
};

class EpochKernel final : private TieredPages {
 public:
  /// What there is of the program.
  struct Program {
    const PageDemand& demand;
    PageRuns pages;
    std::function<bool(std::uint64_t page)> is_explicit;  ///< by its number in the program's addresses
    std::uint32_t threads = 1;
    bool has_cores = false;
    /// An access drawn as the pattern draws them; none: its blocks come in turn.
    std::function<PageAccess(std::size_t phase)> draw;
  };
  /// `expected`: accesses in all, about; `width`: those of a stretch of the calendar. All outlive it.
  EpochKernel(const Tiering& tiering, EpochClock& clock, EpochPages& pages, Program program, double width,
              double expected, std::uint64_t seed);

  /// The program begins.
  void start();
  /// What windows have found last.
  void set_rates(const WindowRate& rate, const WindowCosts& costs);

  /// The number of the next access that something happens with: a fault, or the end of a stretch.
  double next_access() const;
  /// The next instant at which something happens besides.
  Time next_time() const;
  /// What happens with the access that is next, and at this instant.
  void reach();
  /// Accesses go on as they do from here on: what counters of memory say is kept.
  void count_traffic(double accesses);

  bool moves() const { return pages_.under_way().has_value(); }
  const KernelCounts& counts() const { return counts_; }
  std::uint64_t not_moved() const { return pages_.not_moved(); }
  bool reads_traffic() const { return sources_.traffic; }

 private:
  struct State {
    bool is_protected : 1 = false;
    bool faulting : 1 = false;
    bool accessed : 1 = false;
  };
  struct Fault {
    Time over;
    std::uint32_t page;
  };

  Time now() const override { return clock_.now(); }
  std::uint64_t pages() const override { return states_.size(); }
  std::size_t node_of(std::uint64_t page) const override { return pages_.node_of(known(page)); }
  bool is_table(std::uint64_t /*page*/) const override { return false; }
  bool is_explicit(std::uint64_t page) const override;
  Address address_of(std::uint64_t page) const override;
  std::uint64_t free(std::size_t node) const override { return pages_.free(node); }
  NodeTraffic traffic(std::size_t node) const override;
  std::uint64_t moves_waiting() const override { return pages_.waiting(); }
  std::uint64_t coming(std::uint64_t page) const override;
  bool protect(std::uint64_t page) override;
  bool accessed(std::uint64_t page) override;
  void move(std::uint64_t page, std::size_t node) override;
  void look_at(Time time) override;

  std::uint64_t known(std::uint64_t page) const;
  std::uint64_t number_of(std::uint64_t page) const;
  /// Its accessed bit is what the accesses up to now make it.
  void settle_accessed(std::uint64_t page);
  std::uint32_t stamp(double accesses) const { return static_cast<std::uint32_t>(accesses / unit_); }
  void fault(std::uint64_t page);
  void end_fault();
  void sample();
  void look();
  void begin_moves();
  void end_move();
  Time pay();
  void shot_down(bool stalls);
  void take(Time time, bool all_threads);
  /// Stalls one of so many threads, or 1: all of them, for so long, of which so much costs nothing while
  /// accesses are under way as usual. It is less behind another stall, and if they are answered sooner.
  void stall(double ps, double hidden, double threads);

  const Tiering& tiering_;
  const KernelCosts& costs_;
  TieringSources sources_;
  EpochClock& clock_;
  EpochPages& pages_;
  Program program_;
  FaultCalendar calendar_;
  RandomStream random_;
  double unit_;  // accesses of a stamp
  WindowRate rate_;
  WindowCosts window_;
  std::vector<State> states_;        // by page
  std::vector<std::uint32_t> seen_;  // when the accessed bit was settled, by page; none if nobody reads them
  std::deque<Fault> faults_;         // under way
  std::vector<double> answered_;     // by node
  std::vector<double> latency_;
  double next_sample_ = PageDemand::kNever;
  Time next_look_ = Time::max();
  Time move_ends_ = Time::max();
  Time busy_until_;
  std::uint64_t protected_now_ = 0;
  std::uint64_t scanned_now_ = 0;
  bool looking_ = false;
  bool urgent_ = false;
  KernelCounts counts_;
};

}  // namespace cxloom
