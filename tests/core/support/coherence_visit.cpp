#include "core/support/coherence_visit.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <set>

namespace cxloom::test {

CoherenceSetup two_caches(std::uint32_t cached, std::uint32_t entries, std::uint32_t others) {
  CoherenceSetup setup;
  setup.hosts = {{small_cache(cached), anything(2)}, {small_cache(cached), anything(others)}};
  setup.home = small_home(entries);
  return setup;
}
CoherenceSetup small_filter() { return two_caches(2, 1, 2); }
CoherenceSetup small_caches() { return two_caches(1, 2, 1); }

CoherenceSetup hdm_h(CoherenceSetup setup) {
  setup.home.coherence = Coherence::kHdmH;
  return setup;
}
CoherenceSetup hdm_d(CoherenceSetup setup) {
  setup.home.coherence = Coherence::kHdmD;
  setup.home.in_first = true;
  return setup;
}

bool large_systems() { return std::getenv("CXLOOM_COHERENCE_LARGE") != nullptr; }

void visit_all(const CoherenceSetup& setup, std::size_t least, const std::vector<std::string>& opcodes) {
  std::set<std::string> unseen(opcodes.begin(), opcodes.end());
  Explorer explorer([&] { return std::make_unique<CoherenceBench>(setup); });
  explorer.show([&](const Explorable& /*system*/, const std::string& fingerprint) {
    std::erase_if(unseen, [&](const std::string& opcode) {
      return fingerprint.find(opcode + " ") != std::string::npos;
    });
  });
  const Exploration& found = explorer.explore();
  std::cout << found.text() << "\n";
  ASSERT_EQ(found.violation, "") << found.path;
  EXPECT_TRUE(found.whole);
  EXPECT_GT(found.states, least);
  EXPECT_GT(found.ends, 0U);
  for (const std::string& opcode : unseen) ADD_FAILURE() << "never sent: " << opcode;
}

Exploration explored_with(CoherenceSetup setup, const Fault& fault) {
  setup.fault = fault.on_send;
  return Explorer([&] { return std::make_unique<CoherenceBench>(setup); }).explore();
}

void finds(const CoherenceSetup& setup, const Fault& fault, const std::string& violation) {
  const Exploration found = explored_with(setup, fault);
  EXPECT_NE(found.violation.find(violation), std::string::npos)
      << fault.name << " violates: " << found.violation << "\n"
      << found.path;
}

}  // namespace cxloom::test
