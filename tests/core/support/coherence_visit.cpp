#include "core/support/coherence_visit.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <set>

#include "core/support/coherence_explorer.hpp"

namespace cxloom::test {

CoherenceSetup two_caches(std::uint32_t cached, std::uint32_t entries, std::uint32_t others) {
  CoherenceSetup setup;
  setup.hosts = {{small_cache(cached), anything(2)}, {small_cache(cached), anything(others)}};
  setup.home = small_home(entries);
  return setup;
}

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

}  // namespace cxloom::test
