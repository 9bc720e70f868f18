// The explorer on systems whose states can be counted, and whose faults are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/support/coherence_explorer.hpp"

namespace cxloom::test {
namespace {

/// Counters that are asked to count one after the other, and do so when the message arrives.
class Counters final : public Explorable {
 public:
  struct Setup {
    std::size_t counters = 1;
    std::size_t most = 1;          ///< each counts so far
    std::size_t forbidden = 1000;  ///< sum that is a violation
    std::size_t throws = 1000;     ///< sum that throws
    bool stuck = false;            ///< the last message never comes
    bool restless = false;         ///< a message at the last count follows itself for ever
    bool vague = false;            ///< the fingerprint leaves out the first counter
  };
  explicit Counters(const Setup& setup) : setup_(setup), counts_(setup.counters), asked_(setup.counters) {}

  std::size_t choices() const override { return deliveries() + may_ask().size(); }
  std::size_t deliveries() const override { return may_count().size(); }
  void take(std::size_t choice) override {
    log_.push_back("choice " + std::to_string(choice));
    if (choice >= deliveries()) {
      ++asked_[may_ask()[choice - deliveries()]];
      return;
    }
    const std::size_t counter = may_count()[choice];
    if (counts_[counter] < setup_.most) ++counts_[counter];
    if (sum() == setup_.throws) throw std::logic_error("thrown");
  }
  bool idle() const override { return counts_ == asked_; }
  std::string violation() override { return sum() == setup_.forbidden ? "forbidden" : ""; }
  std::string fingerprint() const override {
    std::string text;
    for (std::size_t i = setup_.vague ? 1 : 0; i < counts_.size(); ++i)
      text += std::to_string(counts_[i]) + "/" + std::to_string(asked_[i]) + " ";
    return text;
  }
  void keep_log() override { log_.clear(); }
  const std::vector<std::string>& log() const override { return log_; }

 private:
  std::size_t sum() const { return std::accumulate(counts_.begin(), counts_.end(), std::size_t{0}); }
  std::vector<std::size_t> may_count() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const bool last = asked_[i] == setup_.most;
      if ((counts_[i] < asked_[i] && !(setup_.stuck && last)) ||
          (setup_.restless && counts_[i] == setup_.most))
        all.push_back(i);
    }
    return all;
  }
  std::vector<std::size_t> may_ask() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (asked_[i] == counts_[i] && asked_[i] < setup_.most) all.push_back(i);
    }
    return all;
  }

  Setup setup_;
  std::vector<std::size_t> counts_;
  std::vector<std::size_t> asked_;
  std::vector<std::string> log_;
};

Explorer explorer_of(const Counters::Setup& setup) {
  return Explorer([setup] { return std::make_unique<Counters>(setup); });
}

// A counter has 2 m + 1 states in a row. Of three of them there are (2 m + 1)^3, and 3 (2 m) (2 m + 1)^2
// transitions. Nothing is under way in (m + 1)^3, and the last state is 3 (2 m) choices from the first.
TEST(Explorer, CountsStates) {
  for (const std::size_t m : {1U, 2U, 4U}) {
    Explorer explorer = explorer_of({.counters = 3, .most = m});
    std::size_t shown = 0;
    explorer.show([&](const Explorable& /*system*/, const std::string& /*fingerprint*/) { ++shown; });
    const Exploration& found = explorer.explore();
    EXPECT_TRUE(found.whole);
    EXPECT_EQ(found.violation, "");
    EXPECT_EQ(found.states, (2 * m + 1) * (2 * m + 1) * (2 * m + 1));
    EXPECT_EQ(found.transitions, 6 * m * (2 * m + 1) * (2 * m + 1));
    EXPECT_EQ(found.ends, (m + 1) * (m + 1) * (m + 1));
    EXPECT_EQ(found.depth, 6 * m);
    EXPECT_EQ(shown, found.states);
    EXPECT_EQ(explorer.check_fingerprints(), "");
  }
}

TEST(Explorer, FindsTheShortestWayToAViolation) {
  const Exploration found = explorer_of({.counters = 2, .most = 3, .forbidden = 4}).explore();
  EXPECT_EQ(found.violation, "forbidden");
  EXPECT_FALSE(found.whole);
  const auto lines = std::count(found.path.begin(), found.path.end(), '\n');
  EXPECT_EQ(lines, 8 + 1) << found.path;  // four questions and four counts
}

TEST(Explorer, FindsWhatThrows) {
  const Exploration found = explorer_of({.counters = 2, .most = 3, .throws = 3}).explore();
  EXPECT_EQ(found.violation, "thrown");
}

TEST(Explorer, FindsADeadlock) {
  const Exploration found = explorer_of({.counters = 2, .most = 2, .stuck = true}).explore();
  EXPECT_EQ(found.violation.substr(0, 8), "deadlock") << found.text();
}

TEST(Explorer, FindsALivelock) {
  const Exploration found = explorer_of({.counters = 2, .most = 2, .restless = true}).explore();
  EXPECT_EQ(found.violation.substr(0, 8), "livelock") << found.text();
}

TEST(Explorer, FindsAFingerprintThatSaysTooLittle) {
  Explorer explorer = explorer_of({.counters = 2, .most = 2, .vague = true});
  explorer.explore();
  EXPECT_EQ(explorer.check_fingerprints().substr(0, 15), "one fingerprint");
}

TEST(Explorer, SaysWhenItStoppedEarly) {
  const Counters::Setup setup{.counters = 3, .most = 4};
  Explorer explorer([setup] { return std::make_unique<Counters>(setup); }, 100);
  const Exploration& found = explorer.explore();
  EXPECT_FALSE(found.whole);
  EXPECT_GT(found.states, 100U);
  EXPECT_LT(found.states, 729U);
}

}  // namespace
}  // namespace cxloom::test
