// Result and Error: a value, or why there is none.
#include <gtest/gtest.h>

#include <jzx/result.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace jzx::testing {
namespace {

TEST(Result, IsReadWhetherItIsConstantOrNot) {
  Result<std::string> result(std::string("text"));
  const Result<std::string>& looked_at = result;
  EXPECT_EQ(*looked_at, "text");
  EXPECT_EQ(looked_at.value(), "text");
  EXPECT_EQ(looked_at->size(), 4u);
  EXPECT_EQ(looked_at.error().code(), Errc::ok);
  const std::string taken = std::move(result).value();
  EXPECT_EQ(taken, "text");
}

TEST(Result, HoldsAndEndsOneOfTheTwo) {
  const auto value = std::make_shared<int>(5);
  Result<std::shared_ptr<int>> first(value);
  Result<std::shared_ptr<int>> second = first;
  EXPECT_EQ(value.use_count(), 3);
  second = Error(Errc::no_memory, "gone");
  EXPECT_EQ(value.use_count(), 2);
  EXPECT_STREQ(second.error().message(), "gone");
  std::swap(first, second);
  EXPECT_FALSE(first.ok());
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(**second, 5);
  first = second;
  EXPECT_EQ(value.use_count(), 3);
  first = std::move(second);
  EXPECT_EQ(value.use_count(), 2);
}

TEST(Result, WhoseNewValueCannotBeMovedIsAnError) {
  struct Fragile {
    explicit Fragile(int the_number) : number(the_number) {}
    Fragile(Fragile&& other) : number(other.number) {  // NOLINT: it may throw, that is the point
      throw std::runtime_error("it broke");
    }
    int number;
  };
  Result<Fragile> result = Error(Errc::no_memory);
  Result<Fragile> broken(std::in_place, 1);
  EXPECT_THROW(result = std::move(broken), std::runtime_error);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Errc::unknown);
}

TEST(Error, SaysWhatItsCodeMeansIfItHasNoTextOfItsOwn) {
  EXPECT_STREQ(Error(Errc::no_memory).message(), to_string(Errc::no_memory));
  EXPECT_STREQ(Result<int>(1).error().message(), to_string(Errc::ok));
}

TEST(ResultDeathTest, EndsTheProgramWhenAskedForAValueItDoesNotHave) {
  Result<int> result = Error(Errc::no_memory);
  EXPECT_DEATH((void)result.value(), "");
}

}  // namespace
}  // namespace jzx::testing
