// Rounds of a placement that are alike are taken at once: against the same placement, asked for one page
// after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "workload/placement/page_placement.hpp"
#include "workload/placement/page_shares.hpp"
#include "workload/placement/placed_stream.hpp"

namespace cxloom {
namespace {

constexpr std::uint64_t kRoundPage = 4096;

/// What is asked for one page at a time, and counts that.
class OneByOne final : public PagePlacement {
 public:
  explicit OneByOne(std::unique_ptr<PagePlacement> placement) : placement_(std::move(placement)) {}
  std::optional<Choice> place(std::uint64_t page, std::uint64_t /*count*/,
                              std::span<const std::uint64_t> free) override {
    return placement_->place(page, 1, free);
  }

 private:
  std::unique_ptr<PagePlacement> placement_;
};

class EachPage final : public AccessStream {
 public:
  explicit EachPage(const PageRuns& pages) : pages_(pages) {}
  bool next(Access& access) override {
    if (run_ == pages_.size()) return false;
    access.address = Address{(pages_[run_].first + at_++) * kRoundPage};
    access.size = 64;
    if (at_ == pages_[run_].count) ++run_, at_ = 0;
    return true;
  }

 private:
  PageRuns pages_;
  std::size_t run_ = 0;
  std::uint64_t at_ = 0;
};

const PlacementRegistry& placements() {
  static const PlacementRegistry kinds = [] {
    PlacementRegistry made("placement");
    register_placements(made);
    return made;
  }();
  return kinds;
}

/// Nodes of parts, and a placement that goes round them: with weights, by touch or by address, over all pages
/// or differently over a range of them.
struct RoundCase {
  std::vector<std::vector<std::uint64_t>> parts;
  KindSpec placement{"interleave", Value(Value::Map{})};
  PageRuns pages;
};

Value::Map interleave(RandomStream& random, std::size_t nodes) {
  Value::List weights;
  for (std::size_t node = 0; node < nodes; ++node)
    weights.emplace_back(static_cast<std::int64_t>(random.below(4)));
  weights[random.below(nodes)] = Value(std::int64_t{1 + static_cast<std::int64_t>(random.below(3))});
  return {{"weights", Value(std::move(weights))}, {"by", Value(random.chance(0.5) ? "touch" : "address")}};
}

RoundCase drawn_case(RandomStream& random) {
  RoundCase made;
  std::uint64_t frames = 0;
  for (std::size_t node = 0; node < 1 + random.below(4); ++node) {
    made.parts.emplace_back();
    for (std::size_t part = 0; part < 1 + random.below(2); ++part) {
      made.parts.back().push_back(1 + random.below(60));
      frames += made.parts.back().back();
    }
  }
  const std::size_t nodes = made.parts.size();
  made.placement = {"interleave", Value(interleave(random, nodes))};
  if (random.chance(0.4)) {
    const auto page = [](std::uint64_t number) { return Value(std::to_string(number * kRoundPage) + "B"); };
    Value::Map place = interleave(random, nodes);
    place.emplace_back("kind", Value("interleave"));
    Value::Map range{{"base", page(random.below(50))},
                     {"size", page(1 + random.below(50))},
                     {"place", Value(std::move(place))}};
    Value::Map otherwise{{"kind", Value("interleave")}};
    made.placement = {"ranges", Value(Value::Map{{"ranges", Value(Value::List{Value(std::move(range))})},
                                                 {"otherwise", Value(std::move(otherwise))}})};
  }
  const std::uint64_t pages = 1 + random.below(frames);
  const std::uint64_t first = 1 + random.below(pages);
  const std::uint64_t base = random.below(40);
  made.pages.push_back({base, first});
  if (pages > first) made.pages.push_back({base + first + 1 + random.below(9), pages - first});
  return made;
}

/// The address of each page, touched before the run.
std::vector<std::uint64_t> addresses_of(const RoundCase& given, bool one_by_one) {
  std::vector<NumaNode> nodes;
  ProgramMemory::Parts parts;
  std::vector<std::string> names;
  for (std::size_t node = 0; node < given.parts.size(); ++node) {
    names.push_back("m" + std::to_string(node));
    nodes.push_back({{names.back()}, {}, Time{static_cast<std::int64_t>(node)}});
    parts.emplace_back();
    for (std::size_t part = 0; part < given.parts[node].size(); ++part) {
      const std::uint64_t frames = given.parts[node][part];
      const Frames run{{Address{(node << 40U) + (part << 30U)}, frames}};
      nodes.back().frames.push_back(run.front());
      parts.back().push_back({std::make_shared<FrameOrder>(run, Bytes{kRoundPage}), 0, frames});
    }
  }
  PlacementContext context{nodes, Bytes{kRoundPage}, placements()};
  auto placement = placements().make(given.placement, context);
  if (one_by_one) placement = std::make_unique<OneByOne>(std::move(placement));
  PlacedStream stream(std::make_unique<EachPage>(given.pages), std::move(placement), ProgramMemory(parts),
                      names, Bytes{kRoundPage}, {}, "workload.h");
  stream.touch(given.pages);
  std::vector<std::uint64_t> found;
  stream.touched_last(~std::uint64_t{0} >> 1U,
                      [&](Address base, std::uint64_t) { found.push_back(base.value()); });
  std::size_t at = 0;
  for (Access access; stream.next(access);) {
    EXPECT_EQ(access.address.value(), found[at]) << "the page that is touched as number " << at;
    ++at;
  }
  EXPECT_EQ(at, found.size());
  return found;
}

TEST(PlacementRounds, PutPagesWhereTheyGoOneByOne) {
  RandomStream random(1, "rounds", "frames");
  for (int round = 0; round < 2000; ++round) {
    const RoundCase given = drawn_case(random);
    EXPECT_EQ(addresses_of(given, false), addresses_of(given, true)) << "case " << round;
  }
}

TEST(PlacementRounds, ShareMemoryAsPagesDoOneByOne) {
  RandomStream random(1, "rounds", "shares");
  for (int round = 0; round < 2000; ++round) {
    const RoundCase given = drawn_case(random);
    const std::size_t nodes = given.parts.size();
    std::vector<NumaNode> of(nodes);
    std::vector<std::uint64_t> free;
    for (std::size_t node = 0; node < nodes; ++node) {
      of[node].memories = {"m" + std::to_string(node)};
      free.push_back(random.below(80));
    }
    PlacementContext context{of, Bytes{kRoundPage}, placements()};
    const auto shares = [&](bool one_by_one) {
      std::vector<std::unique_ptr<PagePlacement>> owned;
      std::vector<PlacedProgram> programs;
      for (int program = 0; program < 2; ++program) {
        owned.push_back(placements().make(given.placement, context));
        if (one_by_one) owned.back() = std::make_unique<OneByOne>(std::move(owned.back()));
        programs.push_back({.placement = owned.back().get(), .pages = given.pages, .nodes = {}});
        for (std::size_t node = 0; node < nodes; ++node) programs.back().nodes.push_back(node);
      }
      return share_out(free, programs);
    };
    EXPECT_EQ(shares(false), shares(true)) << "case " << round;
  }
}

// 64 TiB of pages in turns are as soon placed as one round of them.
TEST(PlacementRounds, TakeNoTimeByPages) {
  const std::uint64_t many = std::uint64_t{1} << 33U;
  RoundCase given{{{many}, {many}}, {"interleave", Value(Value::Map{})}, {{0, 2 * many}}};
  std::vector<NumaNode> nodes(2);
  PlacementContext context{nodes, Bytes{kRoundPage}, placements()};
  ProgramMemory::Parts parts;
  for (std::uint64_t node = 0; node < 2; ++node) {
    const Frames run{{Address{node << 50U}, many}};
    parts.push_back({{std::make_shared<FrameOrder>(run, Bytes{kRoundPage}), 0, many}});
  }
  const PageRuns last{{2 * many - 1, 1}};
  PlacedStream stream(std::make_unique<EachPage>(last), placements().make(given.placement, context),
                      ProgramMemory(parts), {"a", "b"}, Bytes{kRoundPage}, {}, "workload.h");
  stream.touch(given.pages);
  Access access;
  ASSERT_TRUE(stream.next(access));
  EXPECT_EQ(access.address.value(), (std::uint64_t{1} << 50U) + (many - 1) * kRoundPage);
}

}  // namespace
}  // namespace cxloom
