#include "system/work/pattern_ranges.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "workload/placement/page_shares.hpp"

namespace cxloom {

namespace {

// Accesses of a work: sums of a few of these still fit.
constexpr std::uint64_t kMost = std::uint64_t{1} << 62U;

}  // namespace

std::optional<PageRuns> footprint_of(const std::vector<PhasedStream::Phase>& phases, Bytes page) {
  std::vector<AddressRange> ranges;
  for (const PhasedStream::Phase& phase : phases) {
    const std::vector<AddressRange> of_phase = phase.stream->ranges();
    if (of_phase.empty()) return std::nullopt;
    ranges.insert(ranges.end(), of_phase.begin(), of_phase.end());
  }
  return pages_in(std::move(ranges), page);
}

AddressRange part_of(const AddressRange& whole, std::uint32_t thread, std::uint32_t threads) {
  const std::uint64_t part = whole.bytes / threads / kLineBytes * kLineBytes;
  if (part == 0) {
    throw InputError({"a footprint of fewer lines than threads",
                      to_text(Bytes{whole.bytes}) + " for " + counted(threads, "thread"),
                      "64B for each thread at least, or shared_footprint: true",
                      {},
                      InputError::Kind::kBetween},
                     "footprint");
  }
  return {Address{whole.base.value() + thread * part}, part};
}

Value in_range(const Value& pattern, const AddressRange& range) {
  Value::Map keys{{"base", to_text(range.base)}, {"footprint", to_text(Bytes{range.bytes})}};
  for (const auto& entry : *pattern.as_map()) {
    if (entry.first != "base" && entry.first != "footprint") keys.push_back(entry);
  }
  return Value(std::move(keys));
}

std::uint64_t given_for(const AccessStream& pattern, std::uint64_t accesses) {
  const std::uint64_t each = pattern.per_access();
  if (accesses <= kMost / each) return accesses * each;
  throw InputError({"more accesses than can be counted",
                    std::to_string(accesses) + (each == 1 ? "" : " of " + counted(each, "line")),
                    "at most " + std::to_string(kMost / each),
                    {}},
                   "requests");
}

std::uint64_t round_of(const std::vector<PhasedStream::Phase>& phases, std::uint32_t threads) {
  Wide round = 0;
  for (const PhasedStream::Phase& phase : phases) round += phase.requests;
  if (round * threads <= kMost) return static_cast<std::uint64_t>(round) * threads;
  throw InputError({"more accesses in a round of phases than can be counted",
                    counted(phases.size(), "phase") + ", " + counted(threads, "thread"),
                    "at most " + std::to_string(kMost) + " accesses of a line or less, of all threads",
                    {},
                    InputError::Kind::kBetween},
                   "phases");
}

std::uint64_t given_for(const std::vector<PhasedStream::Phase>& phases, std::uint64_t accesses) {
  const auto counted_of = [](const PhasedStream::Phase& phase) {
    return phase.requests / phase.stream->per_access();
  };
  std::uint64_t round = 0;
  std::uint64_t given = 0;
  for (const PhasedStream::Phase& phase : phases) {
    round += counted_of(phase);
    given += phase.requests;
  }
  const Wide rounds = Wide{accesses / round} * given;
  std::uint64_t made = rounds > kMost ? kMost : static_cast<std::uint64_t>(rounds);
  std::uint64_t left = accesses % round;
  for (const PhasedStream::Phase& phase : phases) {
    const std::uint64_t part = std::min(left, counted_of(phase));
    made += part * phase.stream->per_access();
    left -= part;
  }
  return made;
}

}  // namespace cxloom
