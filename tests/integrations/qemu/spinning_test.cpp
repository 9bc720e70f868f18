#include "integrations/qemu/spinning.hpp"

#include <gtest/gtest.h>

namespace cxloom::qemu {
namespace {

TEST(SpinningTest, APauseIsKnownByItsBytes) {
  const unsigned char pause[] = {0xf3, 0x90};
  const unsigned char nothing[] = {0x90};
  const unsigned char repeated[] = {0xf3, 0xa4};
  EXPECT_TRUE(is_pause(pause, sizeof pause));
  EXPECT_FALSE(is_pause(nothing, sizeof nothing));
  EXPECT_FALSE(is_pause(repeated, sizeof repeated));
}

}  // namespace
}  // namespace cxloom::qemu
