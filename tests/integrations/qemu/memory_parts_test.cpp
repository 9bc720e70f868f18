#include "integrations/qemu/memory_parts.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/support/files.hpp"
#include "integrations/qemu/marks.hpp"

namespace cxloom::qemu {
namespace {

TEST(MarksTest, AreKnownByTheirBytes) {
  const unsigned char mark[] = {0x0f, 0x1f, 0x80, 0x06, 0x4c, 0x58, 0x43};
  const unsigned char other[] = {0x0f, 0x1f, 0x80, 0x06, 0x4c, 0x58, 0x44};
  EXPECT_EQ(mark_of(mark, sizeof mark), kProgramBegins);
  EXPECT_EQ(mark_of(mark, sizeof mark - 1), kNoMark);
  EXPECT_EQ(mark_of(other, sizeof other), kNoMark);
}

class MemoryPartsTest : public ::testing::Test {
 protected:
  bool reads(const std::string& text) {
    return parts_.read(std::filesystem::path(test::write_file("memory", text)).parent_path().c_str());
  }

  MemoryParts parts_;
};

TEST_F(MemoryPartsTest, EachPartHasItsPlace) {
  ASSERT_TRUE(reads("100000000 1000 5000\n0 800 0\n"));
  std::uint64_t place = 0;
  ASSERT_TRUE(parts_.place_of(0x1'0000'0FFF, place));
  EXPECT_EQ(place, 0x5FFFU);
  ASSERT_TRUE(parts_.place_of(0x7FF, place));
  EXPECT_EQ(place, 0x7FFU);
  EXPECT_FALSE(parts_.place_of(0x800, place));          // a device
  EXPECT_FALSE(parts_.place_of(0x1'0000'1000, place));  // behind the last byte
}

TEST_F(MemoryPartsTest, WhatIsNoListIsRefused) {
  EXPECT_FALSE(parts_.read("/nowhere"));
  EXPECT_FALSE(reads(""));
  EXPECT_FALSE(reads("0 800\n"));
  EXPECT_FALSE(reads("0 800 0\nRAM\n"));
}

}  // namespace
}  // namespace cxloom::qemu
