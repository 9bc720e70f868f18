#include "base/error.hpp"

#include <gtest/gtest.h>

namespace cxloom {
namespace {

TEST(InputError, GrowsItsPathFromTheInsideOut) {
  const InputError inner({"out of bounds", "0", "at least 1", {}}, "ways");
  EXPECT_EQ(inner.with_path("cache").with_path("host").with_path("devices").path(),
            "devices.host.cache.ways");
  EXPECT_EQ(inner.with_path("[3]").with_path("links").path(), "links[3].ways");
  EXPECT_EQ(InputError({"wrong", {}, {}, {}}).with_path("run").path(), "run");
  EXPECT_STREQ(inner.with_path("cache").what(), "cache.ways: out of bounds, found 0; allowed: at least 1");
  EXPECT_STREQ(InputError({"unknown key 'queu'", {}, {}, "queue"}).what(),
               "unknown key 'queu'; did you mean 'queue'?");
}

TEST(NearestName, FindsTheTypoAndLeavesStrangersAlone) {
  const std::vector<std::string> names{"queue", "process_time", "cache", "issue_interval"};
  EXPECT_EQ(nearest_name("queu", names), "queue");
  EXPECT_EQ(nearest_name("qeuue", names), "queue");  // neighbours swapped count as one
  EXPECT_EQ(nearest_name("proces_tme", names), "process_time");
  EXPECT_EQ(nearest_name("cache", names), "cache");
  EXPECT_EQ(nearest_name("interval", names), "issue_interval");  // a part of it
  EXPECT_EQ(nearest_name("pr", names), "");
  EXPECT_EQ(nearest_name("bandwidth", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(Counted, HasThePluralOfAllButOne) {
  EXPECT_EQ(counted(0, "link"), "0 links");
  EXPECT_EQ(counted(1, "link"), "1 link");
  EXPECT_EQ(counted(2000, "link"), "2000 links");
  EXPECT_EQ(counted(1, "access"), "1 access");
  EXPECT_EQ(counted(2, "access"), "2 accesses");
  EXPECT_EQ(counted(2, "switch"), "2 switches");
  EXPECT_EQ(counted(2, "box"), "2 boxes");
  EXPECT_EQ(counted(2, "memory"), "2 memories");
  EXPECT_EQ(counted(2, "way"), "2 ways");
  EXPECT_EQ(counted(2, "CXL.io packet"), "2 CXL.io packets");
}

TEST(ListNames, ReadsAsASentence) {
  EXPECT_EQ(list_names({}), "");
  EXPECT_EQ(list_names({"a"}), "a");
  EXPECT_EQ(list_names({"a", "b"}), "a or b");
  EXPECT_EQ(list_names({"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace cxloom
