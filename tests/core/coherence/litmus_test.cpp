// The table of litmus tests in docs/model/ordering.md against all orders of messages that the agents allow,
// and against the models that it names. CXLOOM_COHERENCE_LARGE also plays what takes minutes (make
// coherence-check).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/support/coherence_visit.hpp"
#include "core/support/docs_table.hpp"
#include "core/support/litmus.hpp"

namespace cxloom::test {
namespace {

struct Litmus {
  std::string name;
  LitmusProgram program;
  LitmusOutcomes never_one;     // with one in flight
  LitmusOutcomes never_empty;   // with more, from empty caches
  LitmusOutcomes never_cached;  // with more, and lines in caches
};

LitmusOutcomes listed(const std::string& cell) {
  if (cell.empty()) return {};
  const std::vector<std::string> outcomes = split(cell);
  return {outcomes.begin(), outcomes.end()};
}

const std::vector<Litmus>& table() {
  static const std::vector<Litmus> tests = [] {
    std::vector<Litmus> read;
    for (const DocsRow& row : docs_table("docs/model/ordering.md", {"test", "threads"})) {
      read.push_back({row.at("test"), litmus_program(row.at("threads")),
                      listed(row.at("never with one in flight")),
                      listed(row.at("never with more, from empty caches")),
                      listed(row.at("never with more, and lines in caches"))});
    }
    return read;
  }();
  return tests;
}

LitmusOutcomes without(LitmusOutcomes all, const LitmusOutcomes& some) {
  for (const std::string& each : some) all.erase(each);
  return all;
}

/// What never comes up in the simulator.
LitmusOutcomes never(const LitmusProgram& program, LitmusStart start, std::uint32_t in_flight,
                     NetworkOrder order, AtomicsAt atomics = AtomicsAt::kCache) {
  CoherenceSetup system;
  system.home = small_home(2);
  system.quick_memory =
      true;  // when memory answers changes no order: the home takes a line's accesses one by one
  system.order = order;
  const LitmusFound found = outcomes_explored(program, start, system, small_cache(2), in_flight, atomics);
  EXPECT_EQ(found.exploration.violation, "") << found.exploration.path;
  EXPECT_TRUE(found.exploration.whole);
  return without(outcomes_thinkable(program), found.outcomes);
}

/// Three threads and more have so many orders that only some are tried, unless there is time.
NetworkOrder order_for(const LitmusProgram& program) {
  return program.size() < 3 || large_systems() ? NetworkOrder::kOfClass : NetworkOrder::kOfAll;
}
bool takes_long(const LitmusProgram& program, LitmusStart start, std::uint32_t in_flight) {
  if (program.size() > 3) return in_flight > 1 || start != LitmusStart::kOwned;
  return in_flight > 1 && start == LitmusStart::kOwned;
}

void compare(LitmusStart start, std::uint32_t in_flight, LitmusOutcomes Litmus::* expected) {
  for (const Litmus& test : table()) {
    if (takes_long(test.program, start, in_flight) && !large_systems()) continue;
    EXPECT_EQ(never(test.program, start, in_flight, order_for(test.program)), test.*expected) << test.name;
  }
}

TEST(Litmus, TheTableIsWhatItsModelsForbid) {
  ASSERT_GE(table().size(), 14U);
  for (const Litmus& test : table()) {
    const LitmusOutcomes all = outcomes_thinkable(test.program);
    EXPECT_EQ(test.never_one, without(all, outcomes_in_order(test.program))) << test.name;
    EXPECT_EQ(test.never_cached, without(all, outcomes_in_order_of_lines(test.program))) << test.name;
  }
}

TEST(Litmus, OneInFlightIsSequentiallyConsistent) {
  for (const LitmusStart start : {LitmusStart::kEmpty, LitmusStart::kShared, LitmusStart::kOwned})
    compare(start, 1, &Litmus::never_one);
}

TEST(Litmus, MoreInFlightFromEmptyCaches) { compare(LitmusStart::kEmpty, 2, &Litmus::never_empty); }

TEST(Litmus, MoreInFlightWithLinesInCaches) {
  for (const LitmusStart start : {LitmusStart::kShared, LitmusStart::kOwned})
    compare(start, 2, &Litmus::never_cached);
}

bool changes_lines(const LitmusProgram& program) {
  for (const std::vector<Step>& thread : program) {
    for (const Step& step : thread) {
      if (step.kind == AccessKind::kAtomic) return true;
    }
  }
  return false;
}

// An atomic operation of the memory is asked for in the class of writes: requests to other lines may overtake
// it.
TEST(Litmus, AtomicOperationsOfTheMemory) {
  std::size_t some = 0;
  for (const Litmus& test : table()) {
    if (!changes_lines(test.program)) continue;
    ++some;
    for (const AtomicsAt at : {AtomicsAt::kHome, AtomicsAt::kCacheOrHome}) {
      for (const LitmusStart start : {LitmusStart::kEmpty, LitmusStart::kShared, LitmusStart::kOwned}) {
        const NetworkOrder order = order_for(test.program);
        EXPECT_EQ(never(test.program, start, 1, order, at), test.never_one) << test.name;
        if (!takes_long(test.program, start, 2) || large_systems()) {
          const LitmusOutcomes found = never(test.program, start, 2, order, at);
          if (at == AtomicsAt::kHome) {
            EXPECT_EQ(found, test.never_cached) << test.name;
          }
          EXPECT_TRUE(
              std::includes(found.begin(), found.end(), test.never_cached.begin(), test.never_cached.end()))
              << test.name;
        }
      }
    }
  }
  EXPECT_GE(some, 4U);
}

// Requests to different lines that overtake each other on the way are as good as hits that overtake misses.
TEST(Litmus, MoreInFlightOverSeveralPaths) {
  for (std::size_t i = 0; i < table().size(); ++i) {
    const Litmus& test = table()[i];
    if ((i > 2 || test.program.size() > 2) && !large_systems()) continue;
    if (test.program.size() > 3) continue;
    EXPECT_EQ(never(test.program, LitmusStart::kEmpty, 2, NetworkOrder::kOfLine), test.never_cached)
        << test.name;
    EXPECT_EQ(never(test.program, LitmusStart::kEmpty, 1, NetworkOrder::kOfLine), test.never_one)
        << test.name;
  }
}

// Two threads write, and two read twice: all agree on the order of the writes.
TEST(Litmus, ReadersAgreeOnTheOrderOfWrites) {
  if (!large_systems()) GTEST_SKIP() << kTakesLong;
  const LitmusProgram program = litmus_program("Wx / Wx / Rx Rx / Rx Rx");
  const LitmusOutcomes forbidden = without(outcomes_thinkable(program), outcomes_in_order_of_lines(program));
  for (const char* const disagree : {"1 2 2 1 1", "1 2 2 1 2", "2 1 1 2 1"})
    EXPECT_TRUE(forbidden.contains(disagree));
  for (const std::uint32_t in_flight : {1U, 2U})
    EXPECT_EQ(never(program, LitmusStart::kEmpty, in_flight, NetworkOrder::kOfClass), forbidden);
}

}  // namespace
}  // namespace cxloom::test
