#include "tags/prefetch_best_offset.hpp"

#include <algorithm>

#include "tags/prefetcher_schema.hpp"

namespace cxloom {

namespace {

/// It has no prime factor above 5: few numbers, but multiples of each other, as strides and their
/// combinations are.
bool is_tried(std::uint64_t offset) {
  for (const std::uint64_t factor : {2U, 3U, 5U}) {
    while (offset % factor == 0) offset /= factor;
  }
  return offset == 1;
}

}  // namespace

void BestOffsetPrefetcher::Params::describe(Schema<Params>& schema) {
  schema.doc(
      "The line at the one offset that would have been asked for in time most often, learnt as the work goes "
      "on (Michaud's best-offset prefetcher).");
  describe_prefetcher(schema);
  schema.field("max_offset", &Params::max_offset)
      .min(1)
      .max(1U << 16U)
      .default_text("256, or as far as a page reaches")
      .doc(
          "Largest offset that is tried, in lines: all up to it, and within a page, without a prime factor "
          "above 5.")
      .source("Michaud, HPCA 2016, section 4.2: 52 offsets up to 256");
  schema.field("best_score", &Params::best_score)
      .min(1)
      .max(1U << 16U)
      .doc("A learning phase ends when an offset has this score.")
      .source("Michaud, HPCA 2016, table 2: 31");
  schema.field("rounds", &Params::rounds)
      .min(1)
      .max(1U << 16U)
      .doc("A learning phase ends when each offset has been tried so often.")
      .source("Michaud, HPCA 2016, table 2: 100");
  schema.field("confidence", &Params::confidence)
      .min(1)
      .max(1U << 16U)
      .doc(
          "The score that the best offset must have at the end of a phase; if it has less nothing is asked "
          "for in the next one. At most `best_score`, and at most `rounds`.")
      .source("Michaud, HPCA 2016, table 2: more than 1");
  schema.field("recent", &Params::recent)
      .min(1)
      .max(4096)
      .doc("Lines that came lately and are remembered, each in a place that its number gives.")
      .source("Michaud, HPCA 2016, table 2: 256");
  schema.rule("confidence must be at most best_score and at most rounds", [](const Params& params) {
    return params.confidence <= std::min(params.best_score, params.rounds);
  });
}

BestOffsetPrefetcher::BestOffsetPrefetcher(const Params& params, PrefetcherContext& /*context*/)
    : Prefetcher(params),
      best_score_(params.best_score),
      rounds_(params.rounds),
      confidence_(params.confidence),
      recent_(params.recent) {
  const std::uint64_t largest = std::min<std::uint64_t>(params.max_offset.value_or(256), lines_of_page() - 1);
  for (std::uint64_t offset = 1; offset <= largest; ++offset) {
    if (is_tried(offset)) candidates_.emplace_back(offset);
  }
}

void BestOffsetPrefetcher::accessed(const Trigger& trigger, std::vector<LineAddress>& wanted) {
  if (!trigger.is_new()) return;
  learn(trigger.line);
  if (offset_ > 0) wanted.emplace_back(trigger.line.number() + offset_);
}

// One offset at each access, in turn.
void BestOffsetPrefetcher::learn(LineAddress line) {
  Candidate& candidate = candidates_[next_];
  if (line.number() >= candidate.offset && remembers(LineAddress{line.number() - candidate.offset}))
    ++candidate.score;
  const bool enough = candidate.score >= best_score_;
  if (++next_ == candidates_.size()) {
    next_ = 0;
    ++round_;
  }
  if (enough || round_ == rounds_) end_of_phase();
}

// Takes the offset with the best score; among equals, the shortest.
void BestOffsetPrefetcher::end_of_phase() {
  const auto best = std::ranges::max_element(candidates_, {}, &Candidate::score);
  offset_ = best->score >= confidence_ ? best->offset : 0;
  for (Candidate& each : candidates_) each.score = 0;
  next_ = 0;
  round_ = 0;
}

// While nothing is asked for ahead, what accesses ask for says what would have been in time. What is on its
// way when the offset changes counts as if it had been asked for with the new one, as in hardware, where a
// line that comes does not say why.
void BestOffsetPrefetcher::filled(LineAddress line, bool ahead) {
  if (ahead && line.number() >= offset_) {
    remember(LineAddress{line.number() - offset_});
  } else if (!ahead && offset_ == 0) {
    remember(line);
  }
}

void BestOffsetPrefetcher::remember(LineAddress base) { recent_[place_of(base)] = base.number() + 1; }

// Lines that follow each other have places of their own.
std::size_t BestOffsetPrefetcher::place_of(LineAddress line) const {
  return static_cast<std::size_t>((line.number() + line.number() / recent_.size()) % recent_.size());
}

}  // namespace cxloom
