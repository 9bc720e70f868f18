#include "workload/placement/page_shares.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "workload/trace/page_map.hpp"

namespace cxloom {

namespace {

std::uint64_t last_page(Address address, std::uint64_t bytes, std::uint64_t page) {
  const std::uint64_t room = ~std::uint64_t{0} - address.value();
  return (address.value() + std::min(room, bytes == 0 ? 0 : bytes - 1)) / page;
}

void append(PageRuns& runs, std::uint64_t page, std::uint64_t count) {
  if (!runs.empty() && runs.back().first + runs.back().count == page) {
    runs.back().count += count;
  } else {
    runs.push_back({page, count});
  }
}

/// A program that takes its pages' frames from the frames left for all.
class Taker {
 public:
  Taker(const PlacedProgram& program, std::size_t nodes) : program_(&program), counts_(nodes) {
    runs_ = program.pages ? *program.pages : PageRuns{{0, 1}};
  }

  bool done() const { return at_ == runs_.size(); }
  /// Takes frames for the next pages of the program, at most so many.
  void take(std::uint64_t most, std::vector<std::uint64_t>& free) {
    while (most > 0 && !done()) {
      PageRun& run = runs_[at_];
      const std::uint64_t count = std::min(most, run.count);
      const PagePlacement::Round round = program_->placement->round(run.first, count);
      const bool rounds = round.pages > 0 && round.until / 2 >= round.pages;
      const std::uint64_t taken =
          rounds ? take_rounds(run.first, round, free) : take_turn(run.first, count, free);
      if (taken == 0) {  // it runs out of memory at this page
        at_ = runs_.size();
        return;
      }
      most -= taken;
      run.first += taken;
      run.count -= taken;
      if (run.count == 0) ++at_;
    }
  }
  std::vector<std::uint64_t>& counts() { return counts_; }
  bool may_use(std::size_t node) const {
    return std::ranges::find(program_->nodes, node) != program_->nodes.end();
  }
  bool known() const { return program_->pages.has_value(); }

 private:
  /// Takes frames for the pages of the next choice, at most so many, and says how many those are; zero: there
  /// is no frame for the first one.
  std::uint64_t take_turn(std::uint64_t page, std::uint64_t most, std::vector<std::uint64_t>& free) {
    seen_.clear();
    for (std::size_t i = 0; i < program_->nodes.size(); ++i)
      seen_.push_back(has_memory(i) ? free[program_->nodes[i]] : 0);
    const auto place = [&] { return program_->placement->place(page, most, seen_); };
    const auto choice = program_->path.empty() ? place() : with_path(program_->path, place);
    if (!choice) return 0;
    const std::size_t node = program_->nodes[choice->node];
    ensure(choice->pages > 0 && choice->pages <= free[node], "pages placed where no frames are left");
    counts_[node] += choice->pages;
    free[node] -= choice->pages;
    return choice->pages;
  }
  /// Takes frames for a round, and for those that are like it.
  std::uint64_t take_rounds(std::uint64_t page, const PagePlacement::Round& round,
                            std::vector<std::uint64_t>& free) {
    const std::vector<std::uint64_t> before = free;
    std::uint64_t taken = 0;
    while (taken < round.pages) {
      const std::uint64_t turn = take_turn(page + taken, round.pages - taken, free);
      if (turn == 0) return taken;
      taken += turn;
    }
    std::uint64_t more = round.until / round.pages - 1;
    for (std::size_t node = 0; node < free.size(); ++node) {
      if (const std::uint64_t each = before[node] - free[node]; each > 0)
        more = std::min(more, free[node] / each);
    }
    for (std::size_t node = 0; node < free.size(); ++node) {
      const std::uint64_t each = before[node] - free[node];
      counts_[node] += more * each;
      free[node] -= more * each;
    }
    return taken + more * round.pages;
  }
  bool has_memory(std::size_t node) const {
    return program_->has_memory.empty() || program_->has_memory[node];
  }

  const PlacedProgram* program_;
  PageRuns runs_;
  std::size_t at_ = 0;
  std::vector<std::uint64_t> counts_;
  std::vector<std::uint64_t> seen_;
};

/// The pages of each program that cannot fill a node, in whatever order they come.
std::uint64_t pages_a_turn(const std::vector<std::uint64_t>& free, std::uint64_t programs) {
  std::uint64_t least = ~std::uint64_t{0};
  for (const std::uint64_t left : free) {
    if (left > 0) least = std::min(least, left);
  }
  return std::max<std::uint64_t>(1, least / std::max<std::uint64_t>(1, programs));
}

void share_rest(std::vector<std::uint64_t>& free, std::vector<Taker>& takers) {
  for (std::size_t node = 0; node < free.size(); ++node) {
    const auto shares = [&](const Taker& each) { return !each.known() && each.may_use(node); };
    auto sharers = static_cast<std::uint64_t>(std::ranges::count_if(takers, shares));
    for (Taker& each : takers) {
      if (!shares(each)) continue;
      const std::uint64_t part = free[node] / sharers--;
      each.counts()[node] += part;
      free[node] -= part;
    }
  }
}

}  // namespace

std::uint64_t count_of(const PageRuns& pages) {
  return std::accumulate(pages.begin(), pages.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const PageRun& run) { return sum + run.count; });
}

PageRuns pages_touched(AccessStream& stream, std::uint64_t accesses, Bytes page) {
  PageMap pages;
  PageRuns runs;
  for (Access access; accesses > 0 && stream.next(access); --accesses) {
    const std::uint64_t last = last_page(access.address, access.size, page.count());
    for (std::uint64_t at = access.address.value() / page.count(); at <= last; ++at) {
      const std::uint64_t before = pages.frames();
      if (pages.frame_of(at) == before) append(runs, at, 1);
    }
  }
  return runs;
}

PageRuns pages_in(std::vector<AddressRange> ranges, Bytes page) {
  std::ranges::sort(ranges, {}, [](const AddressRange& range) { return range.base.value(); });
  PageRuns runs;
  std::uint64_t next = 0;  // the first page behind the taken ones
  for (const AddressRange& range : ranges) {
    const std::uint64_t first = std::max(next, range.base.value() / page.count());
    const std::uint64_t end = last_page(range.base, range.bytes, page.count()) + 1;
    if (end > first) append(runs, first, end - first);
    next = std::max(next, end);
  }
  return runs;
}

std::vector<std::vector<std::uint64_t>> share_out(std::vector<std::uint64_t> free,
                                                  std::span<const PlacedProgram> programs) {
  std::vector<Taker> takers;
  for (const PlacedProgram& program : programs) takers.emplace_back(program, free.size());
  for (Taker& each : takers) {
    if (!each.known()) each.take(1, free);
  }
  while (true) {
    const auto active = static_cast<std::uint64_t>(
        std::ranges::count_if(takers, [](const Taker& each) { return !each.done(); }));
    if (active == 0) break;
    const std::uint64_t turn = pages_a_turn(free, active);
    for (Taker& each : takers) each.take(turn, free);
  }
  share_rest(free, takers);
  std::vector<std::vector<std::uint64_t>> shares;
  for (Taker& each : takers) shares.push_back(std::move(each.counts()));
  return shares;
}

std::vector<std::vector<NodeShare>> lay_out(std::span<const PlacedProgram> programs,
                                            std::span<const std::vector<std::uint64_t>> shares) {
  std::vector<std::uint64_t> next(shares.empty() ? 0 : shares.front().size());
  std::vector<std::vector<NodeShare>> laid;
  for (std::size_t program = 0; program < programs.size(); ++program) {
    std::vector<NodeShare>& own = laid.emplace_back();
    for (const std::size_t node : programs[program].nodes) {
      own.push_back({next[node], shares[program][node]});
      next[node] += shares[program][node];
    }
  }
  return laid;
}

}  // namespace cxloom
