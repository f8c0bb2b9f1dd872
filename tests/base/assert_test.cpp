#include "base/assert.hpp"

#include <gtest/gtest.h>

namespace jzx::base {
namespace {

#ifdef NDEBUG

TEST(Assert, IsNotEvaluatedInARelease) {
  int evaluations = 0;
  JZX_ASSERT(++evaluations == 0);
  EXPECT_EQ(evaluations, 0);
}

#else

TEST(Assert, EvaluatesItsPropertyOnceAndGoesOnWhenItHolds) {
  int evaluations = 0;
  JZX_ASSERT(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
}

TEST(AssertDeathTest, EndsTheProcessWithThePropertyAndThePlace) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(JZX_ASSERT(1 + 1 == 3), "assertion failed: 1 \\+ 1 == 3 \\(.*assert_test\\.cpp:");
}

#endif

}  // namespace
}  // namespace jzx::base
