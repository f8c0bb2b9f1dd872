// Routers: which of several actors gets a message, and who gets it if that one cannot.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <jzx/router.hpp>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "cpp/census.hpp"
#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Job {
  int number;
};
struct Finish {};
struct Who {};
struct Fail {};
using Parcel = std::unique_ptr<int>;
using Work = std::function<void()>;

struct Worker {
  void on(Job job) { log.push_back(name + std::to_string(job.number)); }
  void on(Finish, Context& context) { context.stop(); }
  void on(Parcel parcel) { log.push_back(name + std::to_string(*parcel)); }
  void on(Work work) { work(); }
  void on(Small) {}
  void on(jzx::testing::Big) {}
  std::string on(Who) { return name; }
  int on(Fail) { throw 1; }

  std::vector<std::string>& log;
  std::string name;
};

class RouterScene {
 protected:
  using Log = std::vector<std::string>;

  ActorRef<Worker> worker(const char* name, uint32_t mailbox_cap = 0) {
    SpawnOptions options;
    options.mailbox_cap = mailbox_cap;
    return loop.spawn_with<Worker>(options, std::ref(log), std::string(name));
  }
  Router<Worker> router(Routing routing) { return Router<Worker>(loop, routing, {a, b, c}); }
  // What was logged since the last look, by whom first.
  Log done() {
    loop.settle();
    std::stable_sort(log.begin(), log.end(), [](auto& x, auto& y) { return x[0] < y[0]; });
    return std::exchange(log, {});
  }
  size_t done_by(char name) {
    return static_cast<size_t>(
        std::count_if(log.begin(), log.end(), [&](auto& entry) { return entry[0] == name; }));
  }
  // One turn of the loop's for as many as it takes.
  void end(ActorRef<Worker> actor) {
    actor << Finish{};
    loop.settle();
  }

  Log log;
  ClockedLoop loop;
  ActorRef<Worker> a = worker("a");
  ActorRef<Worker> b = worker("b");
  ActorRef<Worker> c = worker("c");
};

class RouterTest : public OnAnyDriver, protected RouterScene {};
JZX_ON_ALL_DRIVERS(RouterTest);

TEST_P(RouterTest, RoundRobinTakesOneAfterTheOther) {
  const auto workers = router(Routing::round_robin);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(workers.send(Job{i}), Errc::ok);
  EXPECT_EQ(done(), (Log{"a0", "a3", "a6", "b1", "b4", "c2", "c5"}));
}

TEST_P(RouterTest, CopiesShareTheTurn) {
  const auto workers = router(Routing::round_robin);
  const auto copy = workers;
  EXPECT_EQ(copy, workers);
  workers << Job{0};
  copy << Job{1};
  workers << Job{2};
  EXPECT_EQ(done(), (Log{"a0", "b1", "c2"}));
}

// On the simulator it is the policy that chooses, and not at random by all of them.
class RandomRouting : public ::testing::Test, protected RouterScene {};

TEST_F(RandomRouting, ReachesAllAlike) {
  const auto workers = router(Routing::random);
  for (int i = 0; i < 900; ++i) {
    EXPECT_EQ(workers.send(Job{i}), Errc::ok);
    loop.settle();
  }
  // 300 are expected, with a deviation of 14: this fails once in 10^12 runs.
  for (const char name : {'a', 'b', 'c'}) {
    EXPECT_GT(done_by(name), 200u);
    EXPECT_LT(done_by(name), 400u);
  }
}

TEST_F(RandomRouting, ReachesAllAlikeFromInsideAHandler) {
  const auto workers = router(Routing::random);
  a << Work([&] {
    for (int i = 0; i < 900; ++i) EXPECT_EQ(workers.send(Job{i}), Errc::ok);
  });
  loop.settle();
  for (const char name : {'a', 'b', 'c'}) {
    EXPECT_GT(done_by(name), 200u);
    EXPECT_LT(done_by(name), 400u);
  }
}

TEST_P(RouterTest, SmallestMailboxTakesTheShortestQueue) {
  a << Job{1} << Job{2} << Job{3};
  b << Job{1};
  c << Job{1} << Job{2};
  EXPECT_EQ(detail::queue_length(*a.pid().port(), a.id()), 3u);
  const auto workers = router(Routing::smallest_mailbox);
  workers << Job{10};  // to b, which then has as many as c
  EXPECT_EQ(detail::queue_length(*b.pid().port(), b.id()), 2u);
  workers << Job{11} << Job{12};
  for (const ActorRef<Worker>& one : {a, b, c}) {
    EXPECT_EQ(detail::queue_length(*one.pid().port(), one.id()), 3u);
  }
}

TEST_P(RouterTest, SmallestMailboxTakesTurnsAmongEquals) {
  const auto workers = router(Routing::smallest_mailbox);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(workers.send(Job{i}), Errc::ok);
    loop.settle();
  }
  EXPECT_EQ(done_by('a'), 2u);
  EXPECT_EQ(done_by('b'), 2u);
  EXPECT_EQ(done_by('c'), 2u);
}

TEST_P(RouterTest, SmallestMailboxPrefersWhoIsNotAtWork) {
  const auto workers = router(Routing::smallest_mailbox);
  int number = 0;
  for (const ActorRef<Worker>& busy : {a, b, c}) {
    busy << Work([&] { workers << Job{number} << Job{number}; });
    loop.settle();
    ++number;
  }
  EXPECT_EQ(done(), (Log{"a1", "a2", "b0", "b2", "c0", "c1"})) << "each sent to the two others";
}

TEST_P(RouterTest, QueueLengthOfWhoIsGoneIsNone) {
  detail::Port& port = *a.pid().port();
  EXPECT_EQ(detail::queue_length(port, a.id()), 0u);
  end(a);
  EXPECT_EQ(detail::queue_length(port, a.id()), 0u);
  EXPECT_EQ(detail::queue_length(port, 0), 0u);
}

// ---- who cannot take it ----

class AnyRouting : public ::testing::TestWithParam<std::tuple<std::string, Routing>>,
                   private ChosenDriver,
                   protected RouterScene {
 public:
  static std::string name(const ParamType& param) {
    const char* names[] = {"round_robin", "random", "smallest_mailbox"};
    return std::string(names[static_cast<size_t>(std::get<1>(param))]) + "_on_" +
           std::get<0>(param);
  }

 protected:
  AnyRouting() : ChosenDriver(std::get<0>(GetParam())) {}
  static Routing routing() { return std::get<1>(GetParam()); }
};

TEST_P(AnyRouting, TheDeadArePassedOverAndForgotten) {
  const auto workers = router(routing());
  end(b);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(workers.send(Job{i}), Errc::ok);
  EXPECT_EQ(done().size(), 30u);
  EXPECT_EQ(workers.size(), 2u);
  EXPECT_EQ(loop.stop(a), Errc::ok);
  EXPECT_EQ(workers.send(Job{1}), Errc::ok) << "one that was asked to end is gone, too";
  EXPECT_EQ(done(), (Log{"c1"}));
  EXPECT_TRUE(loop.seen().dead.empty());
}

TEST_P(AnyRouting, WhoIsFullIsPassedOver) {
  const auto d = worker("d", 5);  // one of the user's
  const Router<Worker> workers(loop, routing(), {a, d});
  d << Job{0};
  for (int i = 1; i <= 10; ++i) EXPECT_EQ(workers.send(Job{i}), Errc::ok);
  loop.settle();
  EXPECT_EQ(done_by('a'), 10u);
  EXPECT_EQ(done_by('d'), 1u);
}

TEST_P(AnyRouting, OnlyWhenAllAreFullItIsRefused) {
  const Router<Worker> workers(loop, routing(), {worker("d", 6), worker("e", 6)});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(workers.send(Job{i}), Errc::ok);
  EXPECT_EQ(workers.send(Job{4}), Errc::mailbox_full);
  EXPECT_EQ(workers.ask(Who{}).get().error().code(), Errc::mailbox_full);
  EXPECT_EQ(done().size(), 4u);
  EXPECT_EQ(workers.send(Job{5}), Errc::ok);
}

TEST_P(AnyRouting, AllButOneFullAndThatOneGoneIsFull) {
  const auto d = worker("d", 5);
  const auto e = worker("e");
  const Router<Worker> workers(loop, routing(), {d, e});
  d << Job{0};
  EXPECT_EQ(loop.stop(e), Errc::ok);
  EXPECT_EQ(workers.send(Job{1}), Errc::mailbox_full);
  EXPECT_EQ(workers.send(Job{2}), Errc::mailbox_full);
}

TEST_P(AnyRouting, WithoutAnybodyThereIsNoSuchActor) {
  const auto workers = router(routing());
  for (const ActorRef<Worker>& one : {a, b, c}) end(one);
  EXPECT_EQ(workers.send(Job{1}), Errc::no_such_actor);
  EXPECT_EQ(workers.size(), 0u);
  EXPECT_EQ(workers.send(Job{1}), Errc::no_such_actor);
  EXPECT_EQ(workers.ask(Who{}).get().error().code(), Errc::no_such_actor);
  EXPECT_EQ(Router<Worker>().send(Job{1}), Errc::no_such_actor);
  EXPECT_EQ(Router<Worker>().ask(Who{}).get().error().code(), Errc::no_such_actor);
}

TEST_P(AnyRouting, AMessageThatCannotBeCopiedSurvivesTheDead) {
  const auto workers = router(routing());
  EXPECT_EQ(loop.stop(a), Errc::ok);
  EXPECT_EQ(loop.stop(c), Errc::ok);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(workers.send(std::make_unique<int>(i)), Errc::ok);
  EXPECT_EQ(done(), (Log{"b0", "b1", "b2"}));
}

TEST_P(AnyRouting, ARefusedMessageEndsOnce) {
  Census census;
  const Router<Worker> workers(loop, routing(), {worker("d", 5), a});
  EXPECT_EQ(loop.stop(a), Errc::ok);
  EXPECT_EQ(workers.send(Job{0}), Errc::ok);
  EXPECT_EQ(workers.send(Small(census)), Errc::mailbox_full);
  EXPECT_EQ(workers.send(jzx::testing::Big(census)), Errc::mailbox_full);
  EXPECT_EQ(census.ended(), 2);
  EXPECT_EQ(Router<Worker>(loop, routing()).send(Small(census)), Errc::no_such_actor);
  EXPECT_EQ(census.ended(), 3);
}

TEST_P(AnyRouting, ADeadOneIsPassedOverFromInsideAHandlerToo) {
  const auto workers = router(routing());
  end(c);
  a << Work([&] {
    for (int i = 0; i < 9; ++i) EXPECT_EQ(workers.send(std::make_unique<int>(i)), Errc::ok);
  });
  EXPECT_EQ(done().size(), 9u);
  EXPECT_EQ(workers.size(), 2u);
}

TEST_P(AnyRouting, AnAskIsAnsweredByOneOfThem) {
  const auto workers = router(routing());
  for (int i = 0; i < 10; ++i) {
    const Result<std::string> answer = loop.run_until(workers.ask(Who{}));
    ASSERT_TRUE(answer.ok());
    EXPECT_TRUE(*answer == "a" || *answer == "b" || *answer == "c") << *answer;
  }
}

INSTANTIATE_TEST_SUITE_P(Routings, AnyRouting,
                         ::testing::Combine(::testing::ValuesIn(all_drivers()),
                                            ::testing::Values(Routing::round_robin, Routing::random,
                                                              Routing::smallest_mailbox)),
                         [](const auto& one) { return AnyRouting::name(one.param); });

#ifndef JZX_LIBRARY_NOEXCEPT
TEST_P(RouterTest, AnAskThatFailsIsNotAskedAgain) {
  const auto workers = router(Routing::round_robin);
  EXPECT_FALSE(loop.run_until(workers.ask(Fail{})).ok());
  loop.settle();
  EXPECT_EQ(workers.size(), 2u);
}
#endif

TEST_P(RouterTest, MembersComeAndGo) {
  const Router<Worker> workers(loop, Routing::round_robin);
  EXPECT_EQ(workers.send(Job{0}), Errc::no_such_actor);
  EXPECT_EQ(workers.add(a), Errc::ok);
  EXPECT_EQ(workers.add(b), Errc::ok);
  EXPECT_EQ(workers.members(), (std::vector<ActorRef<Worker>>{a, b}));
  workers << Job{1} << Job{2};
  EXPECT_EQ(workers.remove(a), Errc::ok);
  EXPECT_EQ(workers.remove(a), Errc::no_such_actor);
  workers << Job{3} << Job{4};
  EXPECT_EQ(done(), (Log{"a1", "b2", "b3", "b4"}));
}

TEST_P(RouterTest, ABroadcastGoesToEach) {
  const auto workers = router(Routing::random);
  end(b);
  EXPECT_EQ(workers.broadcast(Job{5}), (Delivery{2, 0}));
  EXPECT_EQ(done(), (Log{"a5", "c5"}));
}

TEST_P(RouterTest, WhoIsFoundGoneLosesItsPlace) {
  const auto workers = router(Routing::round_robin);
  const auto places = [&] { return detail::Snapshot(*workers.set()).size(); };
  end(a);
  EXPECT_EQ(places(), 3u) << "nobody has looked";
  workers << Job{1};
  EXPECT_EQ(places(), 2u);
  end(b);
  EXPECT_EQ(workers.broadcast(Job{2}), (Delivery{1, 0}));
  EXPECT_EQ(places(), 1u);
}

}  // namespace
}  // namespace jzx::testing
