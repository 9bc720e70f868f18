#include "system/epochs/page_demand.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

namespace {

// Ranks of a Zipf pattern that are weighed one by one. What all others have together is spread evenly: a page
// has many of them, no one of which counts.
constexpr std::uint64_t kRanks = 1ULL << 22U;

/// The sum of k^-exponent over the ranks from `from` to `to`, by the midpoint rule.
double tail(std::uint64_t from, std::uint64_t to, double exponent) {
  if (to < from) return 0;
  const double low = static_cast<double>(from) - 0.5;
  const double high = static_cast<double>(to) + 0.5;
  if (std::abs(exponent - 1.0) < 1e-9) return natural_log(high / low);
  return (power_of(high, 1 - exponent) - power_of(low, 1 - exponent)) / (1 - exponent);
}

double rate_of(double probability) {
  if (probability >= 1.0) return PageDemand::kNever;
  if (probability < 1e-6) return probability * (1 + probability / 2);
  return -natural_log(1.0 - probability);
}

}  // namespace

PageDemand::PageDemand(const std::vector<Phase>& phases, const PageRuns& pages, Bytes page)
    : page_(page.count()) {
  for (const Phase& phase : phases) {
    PlacedPhase placed{.start = round_, .length = static_cast<double>(phase.requests)};
    round_ += placed.length;
    for (const ThreadPart& each : phase.parts) {
      Part part{.demand = each.demand, .thread = each.thread};
      place(part, pages);
      if (part.demand.exponent > 0) weigh(part, page_);
      in_turn_ |= part.demand.order == DemandPart::Order::kInTurn;
      placed.parts.push_back(std::move(part));
    }
    divide(placed);
    phases_.push_back(std::move(placed));
  }
}

void PageDemand::place(Part& part, const PageRuns& pages) const {
  const DemandPart& demand = part.demand;
  part.blocks = demand.range.bytes / demand.block;
  const std::uint64_t first = demand.range.base.value() / page_;
  const std::uint64_t last = (demand.range.base.value() + (part.blocks - 1) * demand.block) / page_;
  std::uint64_t number = 0;
  for (const PageRun& run : pages) {
    if (first >= run.first && last < run.first + run.count) {
      part.first = number + first - run.first;
      part.pages = last - first + 1;
      part.address = first * page_;
      const bool whole = page_ % demand.block == 0 && demand.range.base.value() % demand.block == 0;
      const std::uint64_t of_a_page = page_ / demand.block;
      if (whole && demand.exponent == 0)
        part.inner = static_cast<double>(of_a_page) / static_cast<double>(part.blocks);
      return;
    }
    number += run.count;
  }
  throw InternalError("a part of a pattern that leaves the pages of its program");
}

void PageDemand::weigh(Part& part, std::uint64_t page) {
  const std::uint64_t ranks = std::min(part.blocks, kRanks);
  const double rest = tail(ranks + 1, part.blocks, part.demand.exponent);
  std::vector<double> weights(part.pages);
  const auto page_of = [&](std::uint64_t block) {
    return (part.demand.range.base.value() + block * part.demand.block - part.address) / page;
  };
  double sum = rest;
  for (std::uint64_t rank = 1; rank <= ranks; ++rank) {
    const double weight = power_of(static_cast<double>(rank), -part.demand.exponent);
    sum += weight;
    weights[page_of(static_cast<std::uint64_t>(Wide{rank - 1} * part.demand.scatter % part.blocks))] +=
        weight;
  }
  part.weights.reserve(part.pages);
  for (const double weight : weights)
    part.weights.push_back(static_cast<float>((weight + rest / static_cast<double>(part.pages)) / sum));
}

void PageDemand::divide(PlacedPhase& phase) {
  std::vector<std::uint64_t> borders;
  for (const Part& part : phase.parts) {
    borders.push_back(part.first);
    borders.push_back(part.first + part.pages);
  }
  std::ranges::sort(borders);
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  for (std::size_t i = 1; i < borders.size(); ++i) {
    Span span{borders[i - 1], borders[i], {}};
    for (std::uint32_t part = 0; part < phase.parts.size(); ++part) {
      const Part& each = phase.parts[part];
      if (each.first <= span.first && span.end <= each.first + each.pages) span.parts.push_back(part);
    }
    if (!span.parts.empty()) phase.spans.push_back(std::move(span));
  }
}

const PageDemand::Span* PageDemand::span_of(const PlacedPhase& phase, std::uint64_t page) const {
  const auto behind = std::ranges::upper_bound(phase.spans, page, {}, &Span::first);
  if (behind == phase.spans.begin()) return nullptr;
  const Span& span = *std::prev(behind);
  return page < span.end ? &span : nullptr;
}

// The blocks whose first byte lies in the page.
PageDemand::Blocks PageDemand::blocks_of(const Part& part, std::uint64_t page) const {
  const std::uint64_t base = part.demand.range.base.value();
  const auto first_from = [&](std::uint64_t address) {
    const std::uint64_t block =
        address <= base ? 0 : (address - base + part.demand.block - 1) / part.demand.block;
    return std::min(block, part.blocks);
  };
  const std::uint64_t start = part.address + (page - part.first) * page_;
  return {first_from(start), first_from(start + page_)};
}

double PageDemand::weight(const Part& part, std::uint64_t page) const {
  if (part.inner > 0 && page > part.first && page + 1 < part.first + part.pages) return part.inner;
  if (!part.weights.empty()) return static_cast<double>(part.weights[page - part.first]);
  const Blocks blocks = blocks_of(part, page);
  return static_cast<double>(blocks.end - blocks.first) / static_cast<double>(part.blocks);
}

std::size_t PageDemand::phase_at(double accesses) const {
  const double within = std::fmod(accesses, round_);
  std::size_t phase = phases_.size() - 1;
  while (phase > 0 && within < phases_[phase].start) --phase;
  return phase;
}

double PageDemand::phase_end(double accesses) const {
  if (phases_.size() == 1) return kNever;
  const PlacedPhase& phase = phases_[phase_at(accesses)];
  return std::floor(accesses / round_) * round_ + phase.start + phase.length;
}

double PageDemand::share(std::size_t phase, std::uint64_t page) const {
  const Span* const span = span_of(phases_[phase], page);
  double sum = 0;
  if (!span) return sum;
  for (const std::uint32_t each : span->parts) {
    const Part& part = phases_[phase].parts[each];
    sum += part.demand.share * weight(part, page);
  }
  return sum;
}

double PageDemand::drawn_share(std::size_t phase, std::uint64_t page) const {
  const Span* const span = span_of(phases_[phase], page);
  double sum = 0;
  if (!span) return sum;
  for (const std::uint32_t each : span->parts) {
    const Part& part = phases_[phase].parts[each];
    if (part.demand.order == DemandPart::Order::kDrawn) sum += part.demand.share * weight(part, page);
  }
  return sum;
}

double PageDemand::drawn_rate(const PlacedPhase& phase, std::uint64_t page) const {
  const auto number = static_cast<std::size_t>(&phase - phases_.data());
  return rate_of(in_turn_ ? drawn_share(number, page) : share(number, page));
}

std::optional<std::uint32_t> PageDemand::thread_of(std::size_t phase, std::uint64_t page) const {
  const Span* const span = span_of(phases_[phase], page);
  return span ? phases_[phase].parts[span->parts.front()].thread : std::nullopt;
}

double PageDemand::reads_of(std::size_t phase, std::uint64_t page) const {
  const Span* const span = span_of(phases_[phase], page);
  return span ? phases_[phase].parts[span->parts.front()].demand.reads : 1.0;
}

double PageDemand::of_phase(const PlacedPhase& phase, double accesses) const {
  if (phases_.size() == 1) return accesses;
  const double rounds = std::floor(accesses / round_);
  const double within = accesses - rounds * round_;
  return rounds * phase.length + std::clamp(within - phase.start, 0.0, phase.length);
}

double PageDemand::behind(const PlacedPhase& phase, double count) const {
  const double rounds = std::max(std::ceil(count / phase.length) - 1, 0.0);
  return rounds * round_ + phase.start + (count - rounds * phase.length);
}

double PageDemand::next(std::uint64_t page, double accesses, RandomStream& random) const {
  double found = next_drawn(page, accesses, random.exponential());
  if (!in_turn_) return found;
  for (const PlacedPhase& phase : phases_) {
    const Span* const span = span_of(phase, page);
    if (!span) continue;
    for (const std::uint32_t each : span->parts) {
      if (phase.parts[each].demand.order == DemandPart::Order::kInTurn)
        found = std::min(found, next_in_turn(phase, phase.parts[each], page, accesses));
    }
  }
  return found;
}

// The budget is drawn once; the accesses of each phase use it up at the page's rate.
double PageDemand::next_drawn(std::uint64_t page, double accesses, double budget) const {
  if (phases_.size() == 1) {
    const double rate = drawn_rate(phases_.front(), page);
    if (rate == 0) return kNever;
    return accesses + (rate == kNever ? 0.0 : std::floor(budget / rate));
  }
  std::vector<double> rates;
  double in_round = 0;
  for (const PlacedPhase& phase : phases_) {
    rates.push_back(drawn_rate(phase, page));
    if (rates.back() > 0) in_round += rates.back() * phase.length;
  }
  if (in_round == 0) return kNever;
  double start = std::floor(accesses / round_) * round_;
  double from = accesses - start;
  while (true) {
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      const double begin = std::max(from, phases_[i].start);
      const double length = phases_[i].start + phases_[i].length - begin;
      if (length <= 0 || rates[i] == 0) continue;
      if (rates[i] == kNever) return start + begin;
      if (budget < rates[i] * length) return start + begin + std::floor(budget / rates[i]);
      budget -= rates[i] * length;
    }
    const double skipped = std::isinf(in_round) ? 0.0 : std::floor(budget / in_round);
    budget -= skipped > 0 ? skipped * in_round : 0.0;
    start += (skipped + 1) * round_;
    from = 0;
  }
}

double PageDemand::next_in_turn(const PlacedPhase& phase, const Part& part, std::uint64_t page,
                                double accesses) const {
  const Blocks blocks = blocks_of(part, page);
  if (blocks.first == blocks.end) return kNever;
  const double all = static_cast<double>(part.blocks);
  const double made = of_phase(phase, accesses);
  const double place = made * part.demand.share;
  const double within = std::fmod(place, all);
  const bool here = static_cast<double>(blocks.first) <= within && within < static_cast<double>(blocks.end);
  double ahead = here ? 0.0 : static_cast<double>(blocks.first) - within;
  if (ahead < 0) ahead += all;
  if (ahead == 0 && phase_at(accesses) == static_cast<std::size_t>(&phase - phases_.data())) return accesses;
  // The access of that number is the first one of the page: as many as before it are made.
  return std::max(accesses, behind(phase, std::ceil(made + ahead / part.demand.share)));
}

bool PageDemand::visited(std::uint64_t page, double from, double to, RandomStream& random) const {
  if (to <= from) return false;
  double budget = 0;
  for (const PlacedPhase& phase : phases_) {
    const double made = of_phase(phase, to) - of_phase(phase, from);
    if (made <= 0) continue;
    const double rate = drawn_rate(phase, page);
    if (rate > 0) budget += rate * made;
    const Span* const span = in_turn_ ? span_of(phase, page) : nullptr;
    if (!span) continue;
    for (const std::uint32_t each : span->parts) {
      if (phase.parts[each].demand.order == DemandPart::Order::kInTurn &&
          next_in_turn(phase, phase.parts[each], page, from) < to)
        return true;
    }
  }
  // Beyond that the chance of none is below what 53 random bits can say.
  return budget > 40 || (budget > 0 && random.exponential() < budget);
}

double PageDemand::expected(std::uint64_t page, double from, double to) const {
  double sum = 0;
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    const double made = of_phase(phases_[i], to) - of_phase(phases_[i], from);
    if (made > 0) sum += made * share(i, page);
  }
  return sum;
}

bool PageDemand::has_turns(std::size_t phase) const {
  return std::ranges::any_of(
      phases_[phase].parts, [](const Part& part) { return part.demand.order == DemandPart::Order::kInTurn; });
}

bool PageDemand::can_draw(std::size_t phase) const {
  return !has_turns(phase) ||
         std::ranges::all_of(phases_[phase].parts, [](const Part& part) { return part.weights.empty(); });
}

PageDemand::Drawn PageDemand::draw(std::size_t phase, double accesses, RandomStream& random) const {
  const PlacedPhase& placed = phases_[phase];
  double left = random.uniform();
  const Part* chosen = &placed.parts.back();
  for (const Part& part : placed.parts) {
    if (left < part.demand.share) {
      chosen = &part;
      break;
    }
    left -= part.demand.share;
  }
  const bool in_turn = chosen->demand.order == DemandPart::Order::kInTurn;
  const std::uint64_t block =
      in_turn ? static_cast<std::uint64_t>(of_phase(placed, accesses) * chosen->demand.share) % chosen->blocks
              : random.below(chosen->blocks);
  const std::uint64_t address = chosen->demand.range.base.value() + block * chosen->demand.block;
  return {chosen->first + (address - chosen->address) / page_, chosen->thread, chosen->demand.reads};
}

std::vector<PageDemand::Sweep> PageDemand::sweeps(std::size_t phase, double accesses, double ahead) const {
  std::vector<Sweep> found;
  const PlacedPhase& placed = phases_[phase];
  for (const Part& part : placed.parts) {
    if (part.demand.order != DemandPart::Order::kInTurn) continue;
    const double place =
        std::fmod(of_phase(placed, accesses) * part.demand.share, static_cast<double>(part.blocks));
    const std::uint64_t base = part.demand.range.base.value() - part.address;
    const auto page_at = [&](double block) {
      return (base + static_cast<std::uint64_t>(block) * part.demand.block) / page_;
    };
    const double pages =
        ahead * part.demand.share * static_cast<double>(part.demand.block) / static_cast<double>(page_);
    found.push_back({part.demand.share, part.first, part.pages, std::min(page_at(place), part.pages - 1),
                     std::min(static_cast<std::uint64_t>(pages) + 1, part.pages)});
  }
  return found;
}

}  // namespace cxloom
