// When a program accesses its pages, by count of its accesses: what a pattern says of its parts
// (workload/stream/demand.hpp), seen by page. Nothing is drawn for accesses that nobody asks for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "base/units.hpp"
#include "workload/placement/page_runs.hpp"
#include "workload/stream/demand.hpp"

namespace cxloom {

class PageDemand {
 public:
  /// A count of accesses that is never reached.
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct ThreadPart {
    DemandPart demand;                    ///< `share` is of all threads' accesses
    std::optional<std::uint32_t> thread;  ///< none: of all threads
  };
  /// Phases follow each other over and over, each for so many accesses.
  struct Phase {
    std::uint64_t requests = 0;
    std::vector<ThreadPart> parts = {};
  };
  /// `pages` are all of the program, which are numbered in this order; all parts lie in them.
  PageDemand(const std::vector<Phase>& phases, const PageRuns& pages, Bytes page);

  std::size_t phases() const { return phases_.size(); }
  /// The phase in which the access of that number is made.
  std::size_t phase_at(double accesses) const;
  /// The first access behind it that is of another phase.
  double phase_end(double accesses) const;
  /// What comes to a page of the accesses of a phase in the long run.
  double share(std::size_t phase, std::uint64_t page) const;
  /// The number of the next access to a page, of those from `accesses` on.
  double next(std::uint64_t page, double accesses, RandomStream& random) const;
  /// Whether one of the accesses from one number up to another, that one excluded, is to the page.
  bool visited(std::uint64_t page, double from, double to, RandomStream& random) const;
  /// The expected number of accesses to a page among these.
  double expected(std::uint64_t page, double from, double to) const;
  /// The thread that accesses a page in a phase; none: any thread.
  std::optional<std::uint32_t> thread_of(std::size_t phase, std::uint64_t page) const;
  /// The share of reads among the accesses to it.
  double reads_of(std::size_t phase, std::uint64_t page) const;

  /// An access of a phase in which blocks come in turn, drawn among its parts.
  struct Drawn {
    std::uint64_t page = 0;
    std::optional<std::uint32_t> thread;
    double reads = 1;
  };
  Drawn draw(std::size_t phase, double accesses, RandomStream& random) const;
  /// Some parts of it come in turn, so that a stream of its own does not tell where it is.
  bool has_turns(std::size_t phase) const;
  /// `draw` can tell: none of the others goes to some pages more than to others.
  bool can_draw(std::size_t phase) const;

  /// A part of a phase whose blocks come in turn, and where it is.
  struct Sweep {
    double share = 0;         ///< of the phase's accesses
    std::uint64_t first = 0;  ///< page
    std::uint64_t pages = 0;
    std::uint64_t at = 0;     ///< page, from the first on
    std::uint64_t ahead = 0;  ///< pages that so many accesses go through, all of them at most
  };
  std::vector<Sweep> sweeps(std::size_t phase, double accesses, double ahead) const;
  /// The share of a phase's accesses that are drawn, and not in turn.
  double drawn_share(std::size_t phase, std::uint64_t page) const;

 private:
  struct Part {
    DemandPart demand;
    std::optional<std::uint32_t> thread;
    std::uint64_t first = 0;    // page
    std::uint64_t pages = 0;    // that have blocks of it
    std::uint64_t address = 0;  // of the first page
    std::uint64_t blocks = 0;
    double inner = 0;                 // weight of pages that are neither the first nor the last; 0: it varies
    std::vector<float> weights = {};  // of pages, if they are not as many as their blocks
  };
  struct Blocks {
    std::uint64_t first;
    std::uint64_t end;
  };
  /// Pages that the same parts go to.
  struct Span {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::vector<std::uint32_t> parts;
  };
  struct PlacedPhase {
    double start = 0;   // in the round
    double length = 0;  // accesses
    std::vector<Part> parts = {};
    std::vector<Span> spans = {};  // by page
  };

  void place(Part& part, const PageRuns& pages) const;
  static void weigh(Part& part, std::uint64_t page);
  static void divide(PlacedPhase& phase);
  const Span* span_of(const PlacedPhase& phase, std::uint64_t page) const;
  Blocks blocks_of(const Part& part, std::uint64_t page) const;
  double weight(const Part& part, std::uint64_t page) const;
  /// The rate of drawn accesses to a page, by access: -log of the chance that one of them is to another.
  double drawn_rate(const PlacedPhase& phase, std::uint64_t page) const;
  /// Accesses of a phase before that one of all.
  double of_phase(const PlacedPhase& phase, double accesses) const;
  /// The number of the access behind so many of a phase.
  double behind(const PlacedPhase& phase, double count) const;
  double next_drawn(std::uint64_t page, double accesses, double budget) const;
  double next_in_turn(const PlacedPhase& phase, const Part& part, std::uint64_t page, double accesses) const;

  std::uint64_t page_;
  double round_ = 0;  // accesses
  std::vector<PlacedPhase> phases_;
  bool in_turn_ = false;
};

}  // namespace cxloom
