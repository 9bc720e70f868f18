#include "workload/placement/page_placement.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/schema.hpp"
#include "core/support/errors.hpp"

namespace cxloom {
namespace {

using test::input_error;
using Counts = std::vector<std::uint64_t>;

/// Three nodes, of so many frames each and so far away.
struct Nodes {
  explicit Nodes(Counts room, const std::vector<std::int64_t>& distances = {0, 10, 20})
      : free(std::move(room)), nodes(nodes_of(free, distances)) {}
  static std::vector<NumaNode> nodes_of(const Counts& room, const std::vector<std::int64_t>& distances) {
    const std::vector<std::string> names{"local", "cxl", "far"};
    std::vector<NumaNode> made;
    for (std::size_t i = 0; i < room.size(); ++i) {
      made.push_back({{names[i]}, {{Address{i << 40U}, room[i]}}, Time{distances[i]}});
    }
    return made;
  }
  std::unique_ptr<PagePlacement> make(const std::string& kind, Value::Map params = {}) {
    return registry().make({kind, Value(std::move(params))}, context);
  }
  /// The node of one page after the other, until there is none.
  std::vector<std::size_t> place(PagePlacement& placement, std::vector<std::uint64_t> pages) {
    std::vector<std::size_t> chosen;
    for (const std::uint64_t page : pages) {
      const auto choice = placement.place(page, 1, free);
      if (!choice) break;
      EXPECT_EQ(choice->pages, 1U);
      --free[choice->node];
      chosen.push_back(choice->node);
    }
    return chosen;
  }
  static const PlacementRegistry& registry() {
    static const PlacementRegistry kinds = [] {
      PlacementRegistry made("placement");
      register_placements(made);
      return made;
    }();
    return kinds;
  }

  Counts free;
  std::vector<NumaNode> nodes;
  PlacementContext context{nodes, Bytes{4096}, registry()};
};

std::vector<std::uint64_t> pages_to(std::uint64_t end) {
  std::vector<std::uint64_t> pages(end);
  std::iota(pages.begin(), pages.end(), std::uint64_t{0});
  return pages;
}

Counts counts(const std::vector<std::size_t>& chosen) {
  Counts all(3);
  for (const std::size_t node : chosen) ++all[node];
  return all;
}

Value names(const std::vector<std::string>& all) {
  Value::List list;
  for (const std::string& name : all) list.emplace_back(name);
  return list;
}

Value numbers(const std::vector<std::int64_t>& all) {
  Value::List list;
  for (const std::int64_t each : all) list.emplace_back(each);
  return list;
}

TEST(PagePlacement, AsIsPlacesNothing) { EXPECT_EQ(Nodes({1, 1, 1}).make("as-is"), nullptr); }

// A full node keeps its turns, which fall to the nearest other; a node without memory has none, and the
// others' shares stay as their weights say.
TEST(PagePlacement, InterleaveSkipsNodesWithoutMemory) {
  const Value::Map params{{"nodes", names({"local", "cxl", "far"})}, {"weights", numbers({2, 1, 1})}};
  Nodes nodes({100, 0, 100});
  const auto skips = nodes.make("interleave", params);
  skips->nodes_changed({true, false, true});
  EXPECT_EQ(counts(nodes.place(*skips, pages_to(30))), (Counts{20, 0, 10}));
  Nodes full({100, 0, 100});
  EXPECT_EQ(counts(full.place(*full.make("interleave", params), pages_to(40))), (Counts{30, 0, 10}));
  Nodes none({100, 0, 0});
  const auto nowhere = none.make("interleave", Value::Map{{"nodes", names({"cxl"})}});
  nowhere->nodes_changed({true, false, false});
  EXPECT_EQ(counts(none.place(*nowhere, pages_to(10))), (Counts{10, 0, 0}));
}

TEST(PagePlacement, FirstTouchFillsOneMemoryAfterTheOther) {
  Nodes nodes({2, 3, 1}, {20, 10, 0});
  EXPECT_EQ(nodes.place(*nodes.make("first-touch"), pages_to(9)),
            (std::vector<std::size_t>{0, 0, 1, 1, 1, 2}));
}

TEST(PagePlacement, BoundPagesGoNowhereElse) {
  Nodes nodes({4, 2, 3});
  EXPECT_EQ(nodes.place(*nodes.make("bind", {{"nodes", names({"cxl"})}}), pages_to(9)),
            (std::vector<std::size_t>{1, 1}));
  Nodes two({4, 2, 3}, {0, 20, 10});  // of several the nearest first, however they are written
  EXPECT_EQ(two.place(*two.make("bind", {{"nodes", names({"cxl", "far"})}}), pages_to(9)),
            (std::vector<std::size_t>{2, 2, 2, 1, 1}));
}

TEST(PagePlacement, PreferredSpillsOverWhenTheNodeIsFull) {
  Nodes nodes({4, 2, 3});
  EXPECT_EQ(nodes.place(*nodes.make("preferred", {{"nodes", names({"cxl"})}}), pages_to(12)),
            (std::vector<std::size_t>{1, 1, 0, 0, 0, 0, 2, 2, 2}));
  Nodes local({4, 2, 3}, {20, 0, 10});  // without nodes the nearest
  EXPECT_EQ(local.place(*local.make("preferred"), pages_to(12)),
            (std::vector<std::size_t>{1, 1, 2, 2, 2, 0, 0, 0, 0}));
}

TEST(PagePlacement, ALimitSpillsOverBefore) {
  Nodes nodes({4, 9, 3});
  const auto placement = nodes.make("preferred", {{"limit", Value("8KiB")}});
  EXPECT_EQ(nodes.place(*placement, pages_to(5)), (std::vector<std::size_t>{0, 0, 1, 1, 1}));
  Nodes none({4, 9, 3});
  EXPECT_EQ(none.place(*none.make("preferred", {{"limit", Value("4095B")}}), pages_to(2)),
            (std::vector<std::size_t>{1, 1}));
}

TEST(PagePlacement, WeightsAreTheSharesOfPages) {
  Nodes nodes({1000, 1000, 1000});
  const auto placement =
      nodes.make("interleave", {{"nodes", names({"far", "local"})}, {"weights", numbers({3, 1})}});
  const auto chosen = nodes.place(*placement, pages_to(10));
  EXPECT_EQ(chosen, (std::vector<std::size_t>{2, 2, 2, 0, 2, 2, 2, 0, 2, 2}));
  for (std::int64_t a = 0; a < 5; ++a) {
    for (std::int64_t b = a == 0 ? 1 : 0; b < 5; ++b) {
      Nodes many({9000, 9000, 9000});
      const auto made =
          many.make("interleave", {{"nodes", names({"local", "cxl"})}, {"weights", numbers({a, b})}});
      const auto rounds = static_cast<std::uint64_t>(a + b) * 100;
      EXPECT_EQ(counts(many.place(*made, pages_to(rounds))),
                (Counts{static_cast<std::uint64_t>(a) * 100, static_cast<std::uint64_t>(b) * 100, 0}));
    }
  }
}

TEST(PagePlacement, AFullNodesTurnGoesToTheNearestOther) {
  Nodes nodes({2, 9, 9}, {0, 20, 10});
  EXPECT_EQ(nodes.place(*nodes.make("interleave", {{"nodes", names({"local", "cxl"})}}), pages_to(8)),
            (std::vector<std::size_t>{0, 1, 0, 1, 2, 1, 2, 1}));
}

TEST(PagePlacement, TurnsGoByTouchOrByAddress) {
  const std::vector<std::uint64_t> even{0, 2, 4, 6, 8, 10};
  Nodes touch({9, 9, 9});
  EXPECT_EQ(counts(touch.place(*touch.make("interleave"), even)), (Counts{2, 2, 2}));
  Nodes address({9, 9, 9});
  const auto placement =
      address.make("interleave", {{"nodes", names({"local", "cxl"})}, {"by", Value("address")}});
  EXPECT_EQ(counts(address.place(*placement, even)), (Counts{6, 0, 0}));
}

TEST(PagePlacement, RangesHaveTheirOwn) {
  Nodes nodes({9, 9, 9});
  const auto range = [](const char* base, const char* size, const char* kind, const std::string& node) {
    return Value(Value::Map{{"base", Value(base)},
                            {"size", Value(size)},
                            {"place", Value::Map{{"kind", Value(kind)}, {"nodes", names({node})}}}});
  };
  const auto placement = nodes.make(
      "ranges",
      {{"ranges", Value::List{range("0x4000", "8KiB", "bind", "far"), range("0x0", "4KiB", "bind", "cxl")}}});
  EXPECT_EQ(nodes.place(*placement, {5, 4, 3, 0, 1, 6}), (std::vector<std::size_t>{2, 2, 0, 1, 0, 0}));
  const InputError overlap = input_error([&] {
    static_cast<void>(
        nodes.make("ranges", {{"ranges", Value::List{range("0x4000", "8KiB", "bind", "far"),
                                                     range("0x5000", "4KiB", "bind", "cxl")}}}));
  });
  EXPECT_EQ(overlap.path(), "ranges[1].base");
  const InputError part = input_error([&] {
    static_cast<void>(
        nodes.make("ranges", {{"ranges", Value::List{range("0x4000", "6KiB", "bind", "far")}}}));
  });
  EXPECT_EQ(part.path(), "ranges[0].size");
}

// What is said of many pages at once is what is said of them one by one.
TEST(PagePlacement, ManyPagesAtOnceGoWhereTheyGoOneByOne) {
  const std::vector<std::pair<std::string, Value::Map>> kinds{
      {"first-touch", {}},
      {"bind", {{"nodes", names({"far", "local"})}}},
      {"preferred", {{"nodes", names({"cxl"})}, {"limit", Value("28KiB")}}},
      {"interleave", {{"weights", numbers({3, 1, 2})}}},
      {"interleave", {{"weights", numbers({3, 0, 2})}, {"by", Value("address")}}},
      {"ranges",
       {{"ranges",
         Value::List{Value::Map{{"base", Value("0x5000")},
                                {"size", Value("16KiB")},
                                {"place", Value::Map{{"kind", Value("bind")}, {"nodes", names({"far"})}}}}}},
        {"otherwise", Value("interleave")}}}};
  for (const auto& [kind, params] : kinds) {
    Nodes one({10, 12, 9});
    const Counts each = counts(one.place(*one.make(kind, params), pages_to(29)));
    Nodes all({10, 12, 9});
    const auto placement = all.make(kind, params);
    Counts sums(3);
    for (std::uint64_t page = 0; page < 29;) {
      const auto choice = placement->place(page, 29 - page, all.free);
      if (!choice) break;
      ASSERT_LE(choice->pages, all.free[choice->node]);
      all.free[choice->node] -= choice->pages;
      sums[choice->node] += choice->pages;
      page += choice->pages;
    }
    EXPECT_EQ(sums, each) << kind;
    // Restarted, it has forgotten all that it placed, also in the middle of a turn or at its limit.
    placement->restart();
    Nodes again({10, 12, 9});
    EXPECT_EQ(counts(again.place(*placement, pages_to(29))), each) << kind;
  }
}

TEST(PagePlacement, RefusesWhatPlacesNothing) {
  Nodes nodes({1, 1, 1});
  const auto error = [&](Value::Map params) {
    return input_error([&] { static_cast<void>(nodes.make("interleave", std::move(params))); });
  };
  const InputError nothing = error({{"weights", numbers({0, 0, 0})}});
  EXPECT_EQ(nothing.path(), "weights");
  EXPECT_EQ(nothing.detail().problem, "the weights sum to nothing: no node would get a page");
  EXPECT_EQ(error({{"weights", numbers({1, 2})}}).detail().problem, "as many weights as nodes are needed");
  const InputError unknown = error({{"nodes", names({"local", "cx"})}});
  EXPECT_EQ(unknown.path(), "nodes[1]");
  EXPECT_EQ(unknown.detail().suggestion, "cxl");
}

}  // namespace
}  // namespace cxloom
