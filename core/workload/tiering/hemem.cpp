#include "workload/tiering/hemem.hpp"

#include <utility>

namespace cxloom {

void HeMem::Params::describe(Schema<Params>& schema) {
  schema.doc(
      "Samples are counted for each page, and cooled; a page with enough is hot and comes to the nearest "
      "node, where cold pages make room.");
  schema.field("every", &Params::every)
      .min(1)
      .doc("Accesses that memory answers, from one sample to the next.")
      .source("Raybuck et al., HeMem, SOSP 2021: 5000");
  schema.field("hot_reads", &Params::hot_reads)
      .min(1)
      .doc("Sampled reads that make a page hot.")
      .source("Raybuck et al., HeMem, SOSP 2021: 8");
  schema.field("hot_writes", &Params::hot_writes)
      .min(1)
      .doc("Sampled writes that make a page hot.")
      .source("Raybuck et al., HeMem, SOSP 2021: 4");
  schema.field("cool", &Params::cool)
      .min(2)
      .doc("Samples of a page with which the counts of all pages are halved.")
      .source("Raybuck et al., HeMem, SOSP 2021: 18");
  schema.field("period", &Params::period)
      .min(Time{1})
      .doc("Time from one round of moves to the next.")
      .source("Raybuck et al., HeMem, SOSP 2021: 10 ms");
  schema.field("keep_free", &Params::keep_free)
      .doc("Free memory of the nearest node below which cold pages leave it, in whole pages.")
      .source("Raybuck et al., HeMem, SOSP 2021: 1 GB for new pages");
  schema.field("rate_limit", &Params::rate_limit)
      .doc("Hot pages come no faster, over a period.")
      .source("Raybuck et al., HeMem, SOSP 2021: 10 GB/s");
  schema.rule(
      "cool is not above hot_reads and hot_writes: no page would be hot",
      [](const Params& params) { return params.cool > params.hot_reads && params.cool > params.hot_writes; },
      "cool");
}

HeMem::HeMem(const Params& params, const TieringContext& context)
    : params_(params),
      page_(context.page),
      keep_free_(params.keep_free.count() / context.page.count()),
      nodes_(context.nodes),
      order_(nearest_first(context.nodes)),
      limit_(params.rate_limit, params.period - Time{1}) {
  refuse_equally_near(context);
  refuse_above("keep_free", params.keep_free, Params{}.keep_free,
               std::span(context.nodes).subspan(order_.front(), 1), context);
}

HeMem::Counts& HeMem::counts_of(std::uint64_t page) {
  if (page >= counts_.size()) counts_.resize(page + 1);
  Counts& counts = counts_[page];
  const std::uint32_t halvings = std::min(coolings_ - counts.cooled, 31U);
  counts.reads >>= halvings;
  counts.writes >>= halvings;
  counts.cooled = coolings_;
  return counts;
}

bool HeMem::is_hot(std::uint64_t page) {
  const Counts& counts = counts_of(page);
  return counts.reads >= params_.hot_reads || counts.writes >= params_.hot_writes;
}

void HeMem::sampled(const PageAccess& access, TieredPages& /*pages*/) {
  Counts& counts = counts_of(access.page);
  ++(access.write ? counts.writes : counts.reads);
  if (!counts.candidate && is_hot(access.page) && is_farther(access.node)) {
    counts.candidate = true;
    candidates_.push_back(access.page);
  }
  if ((access.write ? counts.writes : counts.reads) >= params_.cool) ++coolings_;
}

bool HeMem::demote(TieredPages& pages) {
  const auto to = std::ranges::find_if(
      order_, [&](std::size_t node) { return is_farther(node) && pages.free(node) > 0; });
  if (to == order_.end()) return false;
  const std::uint64_t all = pages.pages();
  for (; seen_ < all; ++seen_) {
    if (hand_ >= all) hand_ = 0;
    const std::uint64_t page = hand_++;
    if (pages.is_table(page) || pages.node_of(page) != order_.front() || is_hot(page)) continue;
    if (!leaving_.insert(page).second) continue;
    pages.move(page, *to);
    return true;
  }
  return false;
}

void HeMem::look(TieredPages& pages) {
  if (pages.moves_waiting() > 0) return;
  leaving_.clear();
  seen_ = 0;
  std::uint64_t free = pages.free(order_.front());
  std::vector<std::uint64_t> later;
  for (const std::uint64_t page : std::exchange(candidates_, {})) {
    counts_of(page).candidate = false;
    if (!is_farther(pages.node_of(page)) || !is_hot(page)) continue;
    const bool room = free > 0 || demote(pages);
    if (!room || !limit_.allows(pages.now(), page_)) {
      if (room && free == 0) ++free;
      counts_of(page).candidate = true;
      later.push_back(page);
      continue;
    }
    free -= free > 0 ? 1 : 0;
    pages.move(page, order_.front());
  }
  candidates_ = std::move(later);
  for (; free < keep_free_ && demote(pages); ++free) {
  }
}

}  // namespace cxloom
