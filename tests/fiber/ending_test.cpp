// How fibers end, and what is told of it.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Go {};
struct Never {};

// Says when it is gone.
struct Resource {
  explicit Resource(int& count) : alive(count) { ++alive; }
  ~Resource() { --alive; }
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;
  int& alive;
};

JZX_SUITE_ON_ALL_DRIVERS(FiberEnd);

TEST_P(FiberEnd, ReturningIsANormalEnd) {
  ClockedLoop loop;
  const Pid fiber = loop.spawn_fn([] {});
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).reason, ExitReason::normal);
  EXPECT_FALSE(loop.seen().is_alive(fiber.id()));
}

JZX_SUITE_ON_ALL_DRIVERS(FiberSpawn);

TEST_P(FiberSpawn, TakesAFunctionAndItsArguments) {
  ClockedLoop loop;
  std::string seen;
  loop.spawn(
      [&](const std::string& text, std::unique_ptr<int> number) {
        spawn([&](int given) { seen = text + std::to_string(given); }, *number);
        yield();
      },
      std::string("number "), std::make_unique<int>(7));
  loop.settle();
  EXPECT_EQ(seen, "number 7");
}

TEST_P(FiberSpawn, OfATypedActorThatCannotBeLinkedIsCalledOff) {
  struct Idle {
    std::shared_ptr<int> held;
    void on(Go) {}
  };
  ClockedLoop loop;
  const Pid gone = loop.spawn_fn([] {});
  loop.settle();
  auto held = std::make_shared<int>(1);
  SpawnOptions options;
  options.link = gone;
  EXPECT_FALSE(loop.spawn_with<Idle>(options, held));
  EXPECT_EQ(loop.spawn_error(), Errc::no_such_actor);
  EXPECT_EQ(held.use_count(), 1) << "it has been destroyed, once";
}

TEST_P(FiberEnd, ExitSaysWhy) {
  ClockedLoop loop;
  int alive = 0;
  const Pid fiber = loop.spawn_fn([&] {
    Resource resource(alive);
    exit(ExitReason::fail, "out of paper");
#ifndef JZX_LIBRARY_NOEXCEPT
    ADD_FAILURE() << "exit() unwinds";
#endif
  });
  loop.settle();
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).reason, ExitReason::fail);
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).text, "out of paper");
}

TEST_P(FiberEnd, AKillUnwindsTheStackBeforeOthersHearOfIt) {
  ClockedLoop loop;
  int alive = 0;
  int alive_when_told = -1;
  const Pid fiber = loop.spawn_fn([&] {
    Resource resource(alive);
    receive([](Never) {});
  });
  loop.spawn_fn([&] {
    ASSERT_EQ(monitor(fiber), Errc::ok);
    receive([&](const Down& down) {
      alive_when_told = alive;
      EXPECT_EQ(down.reason, ExitReason::killed);
    });
  });
  loop.settle();
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(loop.kill(fiber), Errc::ok);
  loop.settle();
  EXPECT_EQ(alive_when_told, 0);
}

TEST_P(FiberEnd, AKillReachesEveryKindOfWait) {
  auto [future, promise] = jzx::promise<int>();
  const std::function<void()> waits[] = {
      [] { receive([](Never) {}); },
      [] { receive_for(1h, [](Never) {}); },
      [] { sleep_for(1h); },
      [] {
        for (;;) {
          if (yield() == Wait::killed) return;
        }
      },
      [&future = future] { (void)future.get(); },
  };
  for (const auto& wait : waits) {
    ClockedLoop loop;
    int alive = 0;
    const Pid fiber = loop.spawn_fn([&] {
      Resource resource(alive);
      wait();
    });
    for (int i = 0; i < 10; ++i) (void)loop.run_once(0ms);
    EXPECT_EQ(alive, 1);
    EXPECT_EQ(loop.kill(fiber), Errc::ok);
    loop.settle();
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(loop.seen().stop_of(fiber.id()).reason, ExitReason::killed);
  }
  promise.resolve(1);  // nobody waits any more
}

TEST_P(FiberEnd, MailIsDeadLetteredInTheOrderItCame) {
  ClockedLoop loop;
  std::vector<int> dead;
  loop.seen().on_dead_letter = [&](const auto&, Envelope& envelope) {
    dead.push_back(detail::key_of(envelope) == detail::receive_key<int>()
                       ? detail::received<int>(envelope)
                       : static_cast<int>(detail::received<long>(envelope)));
  };
  const Pid fiber = loop.spawn_fn([] { receive([](Go) {}); });
  fiber << 1 << 2L << 3;  // seen and kept
  loop.settle();
  fiber << 4L << 5;
  EXPECT_EQ(loop.kill(fiber), Errc::ok);
  loop.settle();
  EXPECT_EQ(dead, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST_P(FiberEnd, AKillTakesEffectBeforeAMessageThatWasKept) {
  ClockedLoop loop;
  bool has_received = false;
  const Pid fiber = loop.spawn_fn([&] {
    receive([](Go) {});
    EXPECT_EQ(FiberSystem().kill(self()), Errc::ok);
    receive([&](int) { has_received = true; });
  });
  fiber << 1 << Go{};
  loop.settle();
  EXPECT_FALSE(has_received);
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).reason, ExitReason::killed);
  EXPECT_EQ(loop.seen().dead.size(), 1u);
}

TEST_P(FiberEnd, AWaitAfterExitInAHandlerLeavesTheMessageToTheHandler) {
  struct Waits {
    ~Waits() {
      EXPECT_EQ(receive_for(1h, [](Never) {}), Wait::killed);
    }
  };
  ClockedLoop loop;
  auto text = std::make_shared<int>(1);
  const Pid fiber = loop.spawn_fn([&] {
    receive([](const std::shared_ptr<int>& held) {
      Waits waits;
      EXPECT_EQ(*held, 1);
      exit(ExitReason::fail, "in the middle");
    });
  });
  fiber << text;
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).text, "in the middle");
  EXPECT_TRUE(loop.seen().dead.empty()) << "it was handled";
  EXPECT_EQ(text.use_count(), 1);
}

TEST_P(FiberEnd, OneThatPollsLetsOthersRunAndCanBeKilled) {
  constexpr int kFarTooOften = 1'000'000;
  ClockedLoop loop;
  int polls = 0;
  const Pid poller = loop.spawn_fn([&] {
    while (++polls < kFarTooOften) {
      if (receive_for(0ms, [](Never) {}) == Wait::killed) return;
    }
  });
  loop.spawn_fn([&] { EXPECT_EQ(FiberSystem().kill(poller), Errc::ok); });
  loop.settle();
  EXPECT_LT(polls, kFarTooOften);
  EXPECT_EQ(loop.seen().stop_of(poller.id()).reason, ExitReason::killed);
}

TEST_P(FiberEnd, OneThatNeverRanIsNotEntered) {
  ClockedLoop loop;
  bool has_run = false;
  int alive = 0;
  auto resource = std::make_unique<Resource>(alive);
  const Pid fiber = loop.spawn_fn([&has_run, resource = std::move(resource)] { has_run = true; });
  EXPECT_EQ(loop.kill(fiber), Errc::ok);
  loop.settle();
  EXPECT_FALSE(has_run);
  EXPECT_EQ(alive, 0) << "what it was to run with is gone";
}

TEST_P(FiberEnd, TheEndOfTheLoopUnwindsThoseThatWait) {
  int alive = 0;
  {
    ClockedLoop loop;
    for (int i = 0; i < 3; ++i) {
      loop.spawn_fn([&] {
        Resource resource(alive);
        receive_for(1h, [](Never) {});
      });
    }
    loop.spawn_fn([&] {
      Resource resource(alive);
      sleep_for(1h);
    });
    loop.settle();
    EXPECT_EQ(alive, 4);
  }
  EXPECT_EQ(alive, 0);
}

TEST_P(FiberEnd, TheEndOfALinkedOneTakesItAlong) {
  ClockedLoop loop;
  int alive = 0;
  const Pid first = loop.spawn_fn([&] {
    spawn_link([&] {
      Resource resource(alive);
      receive([](Never) {});
    });
    receive([](Go) {});
    exit(ExitReason::fail, "on purpose");
  });
  loop.settle();
  EXPECT_EQ(alive, 1);
  first << Go{};
  loop.settle();
  EXPECT_EQ(alive, 0);
}

TEST_P(FiberEnd, WhoTrapsExitsIsToldOfTheEndOfALinkedOne) {
  ClockedLoop loop;
  std::string seen;
  loop.spawn_fn([&] {
    ASSERT_EQ(trap_exit(true), Errc::ok);
    spawn_link([] { exit(ExitReason::fail, "on purpose"); });
    receive([&](const Exit& exit) { seen = exit.text.c_str(); });
  });
  loop.settle();
  EXPECT_EQ(seen, "on purpose");
}

TEST_P(FiberEnd, AMonitorFromBirthMissesNothing) {
  ClockedLoop loop;
  std::string seen;
  loop.spawn_fn([&] {
    spawn_monitor([] { exit(ExitReason::fail, "at once"); });
    receive([&](const Down& down) { seen = down.text.c_str(); });
  });
  loop.settle();
  EXPECT_EQ(seen, "at once");
}

TEST_P(FiberEnd, ASupervisorStartsItAgain) {
  ClockedLoop loop;
  int starts = 0;
  const SupervisorRef family = loop.supervise({}, {child_fn("worker", [&starts] {
                                                ++starts;
                                                receive([](Go) {});
                                                exit(ExitReason::fail, "again");
                                              })});
  loop.settle();
  EXPECT_EQ(starts, 1);
  const Pid before = family.child(0);
  before << Go{};
  loop.settle();
  EXPECT_EQ(starts, 2);
  EXPECT_NE(family.child(0), before);
}

TEST_P(FiberEnd, TheFunctionsOfFibersAreRefusedElsewhere) {
#ifndef JZX_LIBRARY_NOEXCEPT
  EXPECT_THROW((void)self(), std::logic_error);
  EXPECT_THROW(receive([](Go) {}), std::logic_error);
  EXPECT_THROW(sleep_for(1ms), std::logic_error);

  struct Handler {
    std::string* text;
    void on(Go) {
      try {
        receive([](Go) {});
      } catch (const std::logic_error& error) {
        *text = error.what();
      }
    }
  };
  ClockedLoop loop;
  std::string text;
  EXPECT_EQ(loop.spawn<Handler>(&text).send(Go{}), Errc::ok);
  loop.settle();
  EXPECT_NE(text.find("outside of a fiber"), std::string::npos) << text;
#endif
}

TEST_P(FiberEnd, AWaitWhileItsCapturesEndAnswersKilled) {
  struct Waits {
    explicit Waits(Wait& where) : result(&where) {}
    Waits(Waits&& other) noexcept : result(std::exchange(other.result, nullptr)) {}
    ~Waits() {
      if (result != nullptr) *result = receive_for(1h, [](Never) {});
    }
    Wait* result;
  };
  ClockedLoop loop;
  Wait result = Wait::done;
  const Pid fiber = loop.spawn_fn([waits = Waits(result)] { receive([](Never) {}); });
  loop.settle();
  EXPECT_EQ(loop.kill(fiber), Errc::ok);
  loop.settle();
  EXPECT_EQ(result, Wait::killed);
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).reason, ExitReason::killed);
}

TEST_P(FiberEnd, TooMuchMailThatNobodyWantsEndsItWithAReason) {
  ClockedLoop loop;
  const Pid gone = loop.spawn_fn([] {});
  loop.settle();
  const Pid fiber = loop.spawn_fn([&] {
    for (int i = 0; i < 61'000; ++i) ASSERT_EQ(monitor(gone), Errc::ok);
    receive_for(1h, [](Never) {});
  });
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).reason, ExitReason::fail);
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).text, "too many messages that no receive wants");
  loop.advance(2h);
}

TEST_P(FiberEnd, ItsMailboxIsNeverLargerThanWhatItCanKeep) {
  ClockedLoop loop(Time::manual, {.default_mailbox_cap = 200'000});
  const Pid fiber = loop.spawn_fn([] { receive([](Never) {}); });
  int sent = 0;
  while (fiber.send(sent) == Errc::ok) {
    if (++sent % 1000 == 0) loop.settle();
  }
  EXPECT_LE(sent, 60'000);
  loop.settle();
  EXPECT_TRUE(loop.seen().is_alive(fiber.id()));
}

TEST(FiberAmongSystems, InAnotherLoopThatItRunsItIsNobody) {
  struct Asker {
    std::string* text;
    void on(Go) {
      EXPECT_FALSE(detail::is_in_fiber());
      auto [future, promise] = jzx::promise<int>();
      const Result<int> result = future.get();
      *text = result.ok() ? "waited" : result.error().message();
    }
  };
  ClockedLoop loop;
  ClockedLoop other;
  std::string text;
  const auto asker = other.spawn<Asker>(&text);
  loop.spawn_fn([&] {
    EXPECT_EQ(asker.send(Go{}), Errc::ok);
    (void)other.run_once(0ms);
    EXPECT_TRUE(detail::is_in_fiber());
  });
  loop.settle();
  EXPECT_NE(text.find("would wait inside a handler"), std::string::npos) << text;
}

TEST(FiberAmongSystems, WhoPollsAnActorOfAnotherSystemStaysWhoItIs) {
  struct Counter {
    int* count;
    void on(Go) { ++*count; }
  };
  Runtime runtime;
  ASSERT_TRUE(runtime);
  int count = 0;
  const auto polled = spawn_manual<Counter>(runtime, &count);
  ClockedLoop loop;
  Pid seen;
  const Pid receiver = loop.spawn_fn([&] { receive([&](Go) { seen = sender(); }); });
  const Pid fiber = loop.spawn_fn([&] {
    EXPECT_EQ(polled.send(Go{}), Errc::ok);
    (void)polled.drain();
    EXPECT_EQ(receiver.send(Go{}), Errc::ok);
  });
  loop.settle();
  EXPECT_EQ(count, 1);
  EXPECT_EQ(seen, fiber);
}

JZX_SUITE_ON_ALL_DRIVERS(FiberFuture);

TEST_P(FiberFuture, GetSuspendsTheFiberAndNotTheLoop) {
  ClockedLoop loop;
  auto [future, promise] = jzx::promise<int>();
  int got = 0;
  bool other_ran = false;
  loop.spawn_fn([&got, future = std::move(future)]() mutable { got = future.get().value(); });
  loop.spawn_fn([&] { other_ran = true; });
  loop.settle();
  EXPECT_TRUE(other_ran);
  EXPECT_EQ(got, 0);
  promise.resolve(5);
  loop.settle();
  EXPECT_EQ(got, 5);
}

TEST_P(FiberFuture, TwoFibersAskEachOther) {
  ClockedLoop loop;
  int got = 0;
  const Pid doubler = loop.spawn_fn([] {
    for (;;) {
      if (receive([](int number) { return number * 2; }) == Wait::killed) return;
    }
  });
  loop.spawn_fn([&] {
    for (int i = 0; i < 10; ++i) got += ask<int>(doubler, i).get().value();
    (void)FiberSystem().stop(doubler);
  });
  loop.settle();
  EXPECT_EQ(got, 90);
}

#ifndef JZX_LIBRARY_NOEXCEPT

TEST_P(FiberEnd, AnExceptionThatLeavesIsAPanicWithItsText) {
  ClockedLoop loop;
  const Pid fiber = loop.spawn_fn([] {
    yield();
    throw std::runtime_error("no such table");
  });
  loop.settle();
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).reason, ExitReason::panic);
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).text, "no such table");
}

TEST_P(FiberEnd, WhoSwallowsAKillHasBeenKilledAndIsToldAgain) {
  ClockedLoop loop;
  int swallowed = 0;
  const Pid fiber = loop.spawn_fn([&] {
    for (int i = 0; i < 3; ++i) {
      try {
        receive([](Never) {});
      } catch (...) {
        ++swallowed;
      }
    }
  });
  loop.settle();
  EXPECT_EQ(loop.kill(fiber), Errc::ok);
  loop.settle();
  EXPECT_EQ(swallowed, 3) << "every wait throws again";
  EXPECT_EQ(loop.seen().stop_of(fiber.id()).reason, ExitReason::killed);
}

TEST_P(FiberEnd, AWaitWhileUnwindingAnswersKilled) {
  struct Waits {
    ~Waits() {
      *result = receive_for(1h, [](Never) {});
    }
    Wait* result;
  };
  ClockedLoop loop;
  Wait result = Wait::done;
  const Pid fiber = loop.spawn_fn([&] {
    Waits waits{&result};
    receive([](Never) {});
  });
  loop.settle();
  EXPECT_EQ(loop.kill(fiber), Errc::ok);
  loop.settle();
  EXPECT_EQ(result, Wait::killed);
}

TEST_P(FiberEnd, AnExceptionThatIsBeingHandledStaysTheFibersOwn) {
  ClockedLoop loop;
  std::vector<std::string> caught;
  std::vector<Pid> fibers;
  for (int i = 0; i < 2; ++i) {
    fibers.push_back(loop.spawn_fn([&caught, i] {
      try {
        throw std::runtime_error(std::to_string(i));
      } catch (const std::exception&) {
        EXPECT_EQ(std::uncaught_exceptions(), 0);
        receive([](Go) {});
        try {
          throw;  // the one that this fiber caught, and not the other's
        } catch (const std::exception& again) {
          caught.push_back(again.what());
        }
      }
    }));
  }
  loop.settle();
  fibers[0] << Go{};
  loop.settle();
  fibers[1] << Go{};
  loop.settle();
  EXPECT_EQ(caught, (std::vector<std::string>{"0", "1"}));
}

JZX_SUITE_ON_ALL_DRIVERS(ReceiveByGuard);

TEST_P(ReceiveByGuard, AGuardThatThrowsTakesTheTimeAlong) {
  ClockedLoop loop;
  std::vector<uint64_t> times;
  const Pid fiber = loop.spawn_fn([&] {
    try {
      receive_for(1s, when([](const int&) -> bool { throw std::runtime_error("no"); }, [](int) {}));
    } catch (const std::runtime_error&) {
    }
    receive_for(2s, [](Never) {});
    times.push_back(loop.now_ms());
    sleep_for(3s);
    times.push_back(loop.now_ms());
  });
  loop.settle();
  fiber << 7;
  const uint64_t begin = loop.now_ms();
  for (int i = 0; i < 6; ++i) loop.advance(1s);
  EXPECT_EQ(times, (std::vector<uint64_t>{begin + 2000, begin + 5000}));
  EXPECT_FALSE(loop.seen().is_alive(fiber.id()));
}

TEST_P(ReceiveByGuard, AGuardThatWaitsIsToldThatItMustNot) {
  ClockedLoop loop;
  int refused = 0;
  int got = 0;
  const auto waits = [&](const std::function<void()>& wait) {
    return [&refused, wait](const int&) {
      try {
        wait();
      } catch (const std::logic_error&) {
        ++refused;
      }
      return false;
    };
  };
  const Pid fiber = loop.spawn_fn([&] {
    auto [future, promise] = jzx::promise<int>();
    receive(when(waits([] { receive([](Never) {}); }), [](int) {}), [](Go) {});
    receive_for(0ms, when(waits([] { yield(); }), [](int) {}));
    receive_for(0ms, when(waits([] { sleep_for(1ms); }), [](int) {}));
    receive_for(0ms, when([&](const int&) { return future.get().ok(); }, [](int) {}));
    receive([&](int number) { got = number; });
  });
  loop.settle();
  fiber << 7 << Go{};
  loop.settle();
  EXPECT_EQ(refused, 3);
  EXPECT_EQ(got, 7) << "the message is where it was";
}

TEST_P(ReceiveByGuard, AGuardThatThrowsLosesNothing) {
  ClockedLoop loop;
  int got = 0;
  const Pid fiber = loop.spawn_fn([&] {
    try {
      receive_if([](const int&) -> bool { throw std::runtime_error("no"); }, [](int) {});
    } catch (const std::runtime_error&) {
    }
    receive([&](int number) { got = number; });
  });
  loop.settle();
  fiber << 7;
  loop.settle();
  EXPECT_EQ(got, 7);
}

#endif

}  // namespace
}  // namespace jzx::testing
