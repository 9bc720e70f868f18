#include "system/spec/memory_need.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "core/support/system.hpp"
#include "interconnect/wire/credit_line.hpp"

namespace cxloom::test {
namespace {

std::uint64_t need(const char* coherence, std::uint64_t credits) {
  SpecBuilder system;
  system.device("host", "host").device("mem", "memory", {{"capacity", "1MiB"}, {"dcoh", Value::Map{}}});
  system.link("host", "mem", {{"bandwidth", "64GB/s"}, {"credits", static_cast<std::int64_t>(credits)}});
  system.region({"mem"}, {{"coherence", coherence}});
  return estimate_memory(Running::registry(), Spec::read(system.value(), Running::registry())).bytes();
}

// Without coherent memory a link has messages of five of the thirteen classes, in each direction at most.
TEST(MemoryNeed, CountsCreditsOfTheClassesThatMessagesMayHave) {
  constexpr std::uint32_t kMany = 1000;
  const std::uint64_t for_many = CreditLine::arena_bytes(kMany) - CreditLine::arena_bytes(1);
  EXPECT_EQ(need("none", kMany) - need("none", 1), 2 * 5 * for_many);
  EXPECT_EQ(need("hdm-db", kMany) - need("hdm-db", 1), 2 * 13 * for_many);
}

}  // namespace
}  // namespace cxloom::test
