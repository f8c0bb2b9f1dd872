// all, race, any, all_settled: what each answers, in the order of JavaScript's own tables, of
// futures and of tasks alike. What only futures have is in combinators_test.cpp, how tasks run
// beside one another in scope_test.cpp.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <jzx/jzx.hpp>

#include "async/inputs.hpp"

namespace jzx::testing {
namespace {

struct Futures {
  static constexpr const char* kName = "futures";
  template <class T>
  using Of = Future<T>;
  template <class T>
  static Future<T> make(Future<T> future) {
    return future;
  }
  template <class T>
  Future<T> begin(Future<T> whole) {
    return whole;
  }
  void go_on() {}
};

// Each waits for a future. All of them run on a loop, whenever somebody looks.
struct Tasks {
  static constexpr const char* kName = "tasks";
  template <class T>
  using Of = Task<T>;
  template <class T>
  static Task<T> make(Future<T> future) {
    Result<T> result = co_await future;
    if constexpr (std::is_void_v<T>) {
      co_await result;
    } else {
      co_return result;
    }
  }
  template <class T>
  Future<T> begin(Task<T> whole) {
    return loop.spawn_async(std::move(whole));
  }
  // As often as anything could be passed on from one to another.
  void go_on() {
    for (int tick = 0; tick < 8; ++tick) loop.run_once(std::chrono::milliseconds(0));
  }
  Loop loop;
};

template <class Kind>
class Combinator : public ::testing::Test {
 protected:
  template <class T>
  using Of = typename Kind::template Of<T>;

  template <class T>
  [[nodiscard]] static Of<T> make(Future<T> future) {
    return Kind::make(std::move(future));
  }
  template <class T>
  [[nodiscard]] static Of<T> with(Result<T> result) {
    return make(Future<T>(std::move(result)));
  }
  [[nodiscard]] static std::vector<Of<int>> list(Inputs& in) {
    std::vector<Of<int>> made;
    for (Future<int>& future : in.take()) made.push_back(make(std::move(future)));
    return made;
  }
  [[nodiscard]] static std::vector<Of<int>> nothing() { return {}; }

  template <class Whole>
  [[nodiscard]] auto begin(Whole whole) {
    auto future = kind_.begin(std::move(whole));
    kind_.go_on();
    return future;
  }
  template <class T>
  [[nodiscard]] bool is_settled(const Future<T>& whole) {
    kind_.go_on();
    return whole.is_ready();
  }
  template <class T>
  [[nodiscard]] Result<T> result_of(Future<T>& whole) {
    if (!is_settled(whole)) {
      ADD_FAILURE() << "it is not settled";
      return Error(Errc::unknown);
    }
    return whole.get();
  }
  void go_on() { kind_.go_on(); }

 private:
  Kind kind_;
};

struct Name {
  template <class Kind>
  static std::string GetName(int /*number*/) {
    return Kind::kName;
  }
};
using Kinds = ::testing::Types<Futures, Tasks>;

// ---- all ----

template <class Kind>
class All : public Combinator<Kind> {};
TYPED_TEST_SUITE(All, Kinds, Name);

TYPED_TEST(All, OfNothingIsAnEmptyListAtOnce) {
  auto whole = this->begin(all(this->nothing()));
  EXPECT_TRUE(this->result_of(whole).value().empty());
}

TYPED_TEST(All, GivesTheValuesInTheOrderOfTheInputs) {
  Inputs in(3);
  auto whole = this->begin(all(this->list(in)));
  in.resolve(2, 30);
  in.resolve(0, 10);
  EXPECT_FALSE(this->is_settled(whole));
  in.resolve(1, 20);
  EXPECT_EQ(this->result_of(whole).value(), (std::vector<int>{10, 20, 30}));
}

TYPED_TEST(All, TakesWhatIsSettledAlready) {
  Inputs in(3);
  for (int i = 0; i < 3; ++i) in.resolve(i, i);
  auto whole = this->begin(all(this->list(in)));
  EXPECT_EQ(this->result_of(whole).value(), (std::vector<int>{0, 1, 2}));
}

TYPED_TEST(All, FailsWithTheFirstErrorAndCancelsTheRest) {
  Inputs in(3);
  auto whole = this->begin(all(this->list(in)));
  in.resolve(0, 1);
  in.reject(2, Errc::closed);
  EXPECT_EQ(this->result_of(whole).error().code(), Errc::closed);
  in.resolve(1, 5);  // to nobody
}

TYPED_TEST(All, FailsAtOnceIfOneHasFailedAlready) {
  Inputs in(3);
  in.reject(1, Errc::timed_out);
  auto whole = this->begin(all(this->list(in)));
  EXPECT_EQ(this->result_of(whole).error().code(), Errc::timed_out);
}

TYPED_TEST(All, FailsWithTheFirstOfSeveralErrorsInTime) {
  Inputs in(2);
  auto whole = this->begin(all(this->list(in)));
  in.reject(1, Errc::closed);
  this->go_on();
  in.reject(0, Errc::lagged);
  EXPECT_EQ(this->result_of(whole).error().code(), Errc::closed);
}

TYPED_TEST(All, OfDifferentTypesIsATuple) {
  auto [number, n] = promise<int>();
  auto [text, t] = promise<std::string>();
  auto [nothing, v] = promise<void>();
  auto whole = this->begin(all(this->make(std::move(number)), this->make(std::move(text)),
                               this->make(std::move(nothing))));
  v.resolve();
  t.resolve("two");
  EXPECT_FALSE(this->is_settled(whole));
  n.resolve(1);
  auto result = this->result_of(whole);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(std::get<0>(*result), 1);
  EXPECT_EQ(std::get<1>(*result), "two");
}

TYPED_TEST(All, OfDifferentTypesFailsWithTheFirstError) {
  auto [number, n] = promise<int>();
  auto [text, t] = promise<std::string>();
  auto whole = this->begin(all(this->make(std::move(number)), this->make(std::move(text))));
  t.reject(Error(Errc::closed));
  EXPECT_EQ(this->result_of(whole).error().code(), Errc::closed);
}

TYPED_TEST(All, OfThoseWithoutAValueHasNone) {
  auto [nothing, v] = promise<void>();
  std::vector<typename TypeParam::template Of<void>> list;
  list.push_back(this->make(std::move(nothing)));
  Future<void> whole = this->begin(all(std::move(list)));
  EXPECT_FALSE(this->is_settled(whole));
  v.resolve();
  EXPECT_TRUE(this->result_of(whole).ok());
}

TYPED_TEST(All, MovesWhatCanOnlyBeMoved) {
  using Owner = std::unique_ptr<int>;
  std::vector<typename TypeParam::template Of<Owner>> list;
  list.push_back(this->with(Result<Owner>(std::make_unique<int>(4))));
  auto whole = this->begin(all(std::move(list)));
  EXPECT_EQ(*this->result_of(whole).value().front(), 4);
  auto pack = this->begin(all(this->with(Result<Owner>(std::make_unique<int>(5)))));
  auto result = this->result_of(pack);
  EXPECT_EQ(*std::get<0>(*result), 5);
}

TYPED_TEST(All, OfAnEmptyOneFails) {
  auto whole = this->begin(all(typename TypeParam::template Of<int>(), this->with(Result<int>(1))));
  EXPECT_EQ(this->result_of(whole).error().code(), Errc::invalid_arg);
}

TYPED_TEST(All, SettlesOnlyWhenTheOthersHaveEnded) {
  SlowToCancel slow;
  auto [quick, q] = promise<int>();
  auto whole = this->begin(all(this->make(slow.future()), this->make(std::move(quick))));
  q.reject(Error(Errc::closed));
  EXPECT_FALSE(this->is_settled(whole));
  EXPECT_TRUE(slow.was_cancelled());
  slow.end();
  EXPECT_EQ(this->result_of(whole).error().code(), Errc::closed);
}

// ---- race ----

template <class Kind>
class Race : public Combinator<Kind> {};
TYPED_TEST_SUITE(Race, Kinds, Name);

TYPED_TEST(Race, OfNothingNeverSettlesButCanBeCancelled) {
  auto whole = this->begin(race(this->nothing()));
  EXPECT_FALSE(this->is_settled(whole));
  whole.cancel();
  EXPECT_EQ(this->result_of(whole).error().code(), Errc::cancelled);
}

TYPED_TEST(Race, IsWonByTheFirstValue) {
  Inputs in(3);
  auto whole = this->begin(race(this->list(in)));
  EXPECT_FALSE(this->is_settled(whole));
  in.resolve(1, 20);
  this->go_on();
  in.resolve(0, 10);  // too late
  EXPECT_EQ(this->result_of(whole).value(), 20);
}

TYPED_TEST(Race, IsWonByTheFirstError) {
  Inputs in(2);
  auto whole = this->begin(race(this->list(in)));
  in.reject(1, Errc::closed);
  this->go_on();
  in.resolve(0, 10);
  EXPECT_EQ(this->result_of(whole).error().code(), Errc::closed);
}

TYPED_TEST(Race, OfSettledOnesIsWonByTheFirstInOrder) {
  Inputs in(3);
  in.resolve(2, 2);
  in.resolve(1, 1);
  auto whole = this->begin(race(this->list(in)));
  EXPECT_EQ(this->result_of(whole).value(), 1);
}

TYPED_TEST(Race, OfDifferentTypesTellsWhoWon) {
  auto [number, n] = promise<int>();
  auto [text, t] = promise<std::string>();
  auto whole = this->begin(race(this->make(std::move(number)), this->make(std::move(text))));
  t.resolve("won");
  auto result = this->result_of(whole);
  ASSERT_EQ(result->index(), 1u);
  EXPECT_EQ(std::get<1>(*result), "won");
}

TYPED_TEST(Race, OfDifferentTypesIsWonByAnErrorToo) {
  auto [number, n] = promise<int>();
  auto [nothing, v] = promise<void>();
  auto whole = this->begin(race(this->make(std::move(number)), this->make(std::move(nothing))));
  v.reject(Error(Errc::closed));
  EXPECT_EQ(this->result_of(whole).error().code(), Errc::closed);
}

TYPED_TEST(Race, OfOneTypeIsOfThatType) {
  auto [a, pa] = promise<int>();
  auto [b, pb] = promise<int>();
  Future<int> whole = this->begin(race(this->make(std::move(a)), this->make(std::move(b))));
  pb.resolve(7);
  EXPECT_EQ(this->result_of(whole).value(), 7);
}

TYPED_TEST(Race, OfThoseWithoutAValueIsWonAllTheSame) {
  auto [nothing, v] = promise<void>();
  std::vector<typename TypeParam::template Of<void>> list;
  list.push_back(this->make(std::move(nothing)));
  Future<void> whole = this->begin(race(std::move(list)));
  v.resolve();
  EXPECT_TRUE(this->result_of(whole).ok());
}

TYPED_TEST(Race, SettlesOnlyWhenTheLosersHaveEnded) {
  SlowToCancel slow;
  auto [quick, q] = promise<int>();
  auto whole = this->begin(race(this->make(slow.future()), this->make(std::move(quick))));
  q.resolve(1);
  EXPECT_FALSE(this->is_settled(whole));
  EXPECT_TRUE(slow.was_cancelled());
  slow.end();
  EXPECT_EQ(this->result_of(whole).value(), 1);
}

TYPED_TEST(Race, OfWhichOneIsDecidedFromTheStartCancelsTheRest) {
  SlowToCancel slow;
  auto whole = this->begin(race(this->with(Result<int>(1)), this->make(slow.future())));
  EXPECT_FALSE(this->is_settled(whole));
  EXPECT_TRUE(slow.was_cancelled());
  slow.end();
  EXPECT_EQ(this->result_of(whole).value(), 1);
}

// ---- any ----

template <class Kind>
class Any : public Combinator<Kind> {};
TYPED_TEST_SUITE(Any, Kinds, Name);

TYPED_TEST(Any, OfNothingHasFailedWithoutCauses) {
  auto whole = this->begin(any(this->nothing()));
  const auto result = this->result_of(whole);
  EXPECT_EQ(result.error().code(), Errc::all_failed);
  EXPECT_TRUE(result.error().causes().empty());
}

TYPED_TEST(Any, GivesTheFirstValueAndNotTheErrorsBefore) {
  Inputs in(3);
  auto whole = this->begin(any(this->list(in)));
  in.reject(0, Errc::closed);
  EXPECT_FALSE(this->is_settled(whole));
  in.resolve(2, 30);
  this->go_on();
  in.resolve(1, 20);
  EXPECT_EQ(this->result_of(whole).value(), 30);
}

TYPED_TEST(Any, OfSettledOnesGivesTheFirstValueInOrder) {
  Inputs in(3);
  in.reject(0, Errc::closed);
  in.resolve(1, 1);
  in.resolve(2, 2);
  auto whole = this->begin(any(this->list(in)));
  EXPECT_EQ(this->result_of(whole).value(), 1);
}

TYPED_TEST(Any, ThatFailsHasAllErrorsInTheOrderOfTheInputs) {
  Inputs in(3);
  auto whole = this->begin(any(this->list(in)));
  in.reject(2, Errc::closed);
  in.reject(0, Errc::lagged);
  EXPECT_FALSE(this->is_settled(whole));
  in.reject(1, Errc::timed_out);
  const auto result = this->result_of(whole);
  EXPECT_EQ(result.error().code(), Errc::all_failed);
  ASSERT_EQ(result.error().causes().size(), 3u);
  EXPECT_EQ(result.error().causes()[0].code(), Errc::lagged);
  EXPECT_EQ(result.error().causes()[1].code(), Errc::timed_out);
  EXPECT_EQ(result.error().causes()[2].code(), Errc::closed);
}

TYPED_TEST(Any, OfDifferentTypesTellsWhoseValueItIs) {
  auto whole = this->begin(
      any(this->with(Result<int>(Error(Errc::closed))), this->with(Result<std::string>("x"))));
  auto result = this->result_of(whole);
  ASSERT_EQ(result->index(), 1u);
  EXPECT_EQ(std::get<1>(*result), "x");
}

TYPED_TEST(Any, OfDifferentTypesThatFailHasTheErrorsOfAll) {
  auto whole = this->begin(any(this->with(Result<int>(Error(Errc::closed))),
                               this->with(Result<std::string>(Error(Errc::lagged)))));
  const auto result = this->result_of(whole);
  EXPECT_EQ(result.error().code(), Errc::all_failed);
  ASSERT_EQ(result.error().causes().size(), 2u);
  EXPECT_EQ(result.error().causes()[1].code(), Errc::lagged);
}

TYPED_TEST(Any, SettlesOnlyWhenTheLosersHaveEnded) {
  SlowToCancel slow;
  auto [quick, q] = promise<int>();
  auto whole = this->begin(any(this->make(slow.future()), this->make(std::move(quick))));
  q.resolve(1);
  EXPECT_FALSE(this->is_settled(whole));
  EXPECT_TRUE(slow.was_cancelled());
  slow.end();
  EXPECT_EQ(this->result_of(whole).value(), 1);
}

TYPED_TEST(Any, ThatIsCancelledSaysSo) {
  Inputs in(2);
  auto whole = this->begin(any(this->list(in)));
  whole.cancel();
  EXPECT_EQ(this->result_of(whole).error().code(), Errc::cancelled);
}

// ---- all_settled ----

template <class Kind>
class AllSettled : public Combinator<Kind> {};
TYPED_TEST_SUITE(AllSettled, Kinds, Name);

TYPED_TEST(AllSettled, OfNothingIsAnEmptyListAtOnce) {
  auto whole = this->begin(all_settled(this->nothing()));
  EXPECT_TRUE(this->result_of(whole).value().empty());
}

TYPED_TEST(AllSettled, GivesEveryResultInOrder) {
  Inputs in(3);
  auto whole = this->begin(all_settled(this->list(in)));
  in.reject(2, Errc::closed);
  in.resolve(0, 10);
  EXPECT_FALSE(this->is_settled(whole));
  in.drop(1);
  auto results = this->result_of(whole);
  ASSERT_EQ(results->size(), 3u);
  EXPECT_EQ((*results)[0].value(), 10);
  EXPECT_EQ((*results)[1].error().code(), Errc::broken_promise);
  EXPECT_EQ((*results)[2].error().code(), Errc::closed);
}

TYPED_TEST(AllSettled, CancelsNobodyForAnError) {
  SlowToCancel slow;
  auto whole = this->begin(
      all_settled(this->with(Result<int>(Error(Errc::closed))), this->make(slow.future())));
  EXPECT_FALSE(this->is_settled(whole));
  EXPECT_FALSE(slow.was_cancelled());
  slow.end_well(2);
  auto results = this->result_of(whole);
  EXPECT_EQ(std::get<1>(*results).value(), 2);
}

TYPED_TEST(AllSettled, OfDifferentTypesIsATupleOfResults) {
  auto whole =
      this->begin(all_settled(this->with(Result<int>(Error(Errc::closed))),
                              this->with(Result<void>()), this->with(Result<std::string>("text"))));
  auto results = this->result_of(whole);
  EXPECT_EQ(std::get<0>(*results).error().code(), Errc::closed);
  EXPECT_TRUE(std::get<1>(*results).ok());
  EXPECT_EQ(std::get<2>(*results).value(), "text");
}

// ---- all of them ----

template <class Kind>
class Cancelled : public Combinator<Kind> {};
TYPED_TEST_SUITE(Cancelled, Kinds, Name);

TYPED_TEST(Cancelled, CombinationCancelsEveryInput) {
  SlowToCancel a;
  SlowToCancel b;
  auto whole = this->begin(all(this->make(a.future()), this->make(b.future())));
  whole.cancel();
  EXPECT_FALSE(this->is_settled(whole));
  EXPECT_TRUE(a.was_cancelled());
  EXPECT_TRUE(b.was_cancelled());
  a.end();
  EXPECT_FALSE(this->is_settled(whole));
  b.end();
  EXPECT_EQ(this->result_of(whole).error().code(), Errc::cancelled);
}

TEST(CancelledTasks, TogetherKeepWhatCameAllTheSame) {
  Loop loop;
  SlowToCancel a;
  Future<std::tuple<int, int>> whole =
      loop.spawn_async(all(Tasks::make(a.future()), Tasks::make(Future<int>(Result<int>(2)))));
  for (int tick = 0; tick < 8; ++tick) loop.run_once(std::chrono::milliseconds(0));
  whole.cancel();
  for (int tick = 0; tick < 8; ++tick) loop.run_once(std::chrono::milliseconds(0));
  a.end_well(1);
  auto result = loop.run_until(std::move(whole));
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(std::get<0>(*result), 1);
}

}  // namespace
}  // namespace jzx::testing
