// A kill at every wait: whatever a fiber waits in, and however deep, it unwinds once, and everybody
// is told once. Here wait by wait; kill_storm_test.cpp does it at random on workers.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Go {};
struct Never {};
struct Question {};

// Looked at when everything else is gone.
struct Holdings {
  ~Holdings() {
    EXPECT_EQ(acquired, released);
    EXPECT_EQ(result.use_count(), 1) << "a result that nobody took is ended";
  }
  std::shared_ptr<int> result = std::make_shared<int>(1);  // of the future
  int acquired = 0;
  int released = 0;
};

// Everything that a test and its fiber share.
struct Scene : Holdings {
  Scene() : asked(loop.spawn_fn([this] { answer(); })) {
    watcher = loop.spawn_fn([this] {
      for (Wait wait = Wait::done; wait != Wait::killed;) {
        wait = receive([&](const Down& down) {
          ++downs;
          EXPECT_EQ(acquired, released) << "it is told when all is released";
          reason = down.reason;
        });
      }
    });
    SpawnOptions small;
    small.mailbox_cap = 4 + 1;
    small.overload = Overload::wait;
    slow = loop.spawn_fn_with(small, [] {
      while (sleep_for(10ms) != Wait::killed) {
        if (receive_for(0ms, [](int) {}) == Wait::killed) return;
      }
    });
    promise_again();
  }
  void promise_again() {
    auto made = jzx::promise<std::shared_ptr<int>>();
    future.emplace(std::move(made.future));
    promise.emplace(std::move(made.promise));
  }

  // Answers when it is told to.
  void answer() {
    for (Wait wait = Wait::done; wait != Wait::killed;) {
      wait = receive([](Question) {
        receive([](Go) {});
        return 3;
      });
    }
  }

  bool has_sent = false;
  int downs = 0;
  ExitReason reason = ExitReason::normal;
  std::optional<Future<std::shared_ptr<int>>> future;
  std::optional<Promise<std::shared_ptr<int>>> promise;
  ClockedLoop loop;  // ends first: what it unwinds uses the others
  Pid asked;
  Pid slow;  // and its mailbox is full
  Pid watcher;
  Pid fiber;
};

class Resource {
 public:
  explicit Resource(Scene& scene) : scene_(scene), text_(std::make_unique<std::string>("held")) {
    ++scene_.acquired;
  }
  ~Resource() {
    EXPECT_EQ(*text_, "held");
    ++scene_.released;
  }
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;

 private:
  Scene& scene_;
  std::unique_ptr<std::string> text_;
};

template <class T>
Wait wait_of(const Result<T>& result) {
  return result.error().code() == Errc::killed ? Wait::killed : Wait::done;
}

// Goes deeper. False: it is to end.
using Deeper = std::function<bool()>;

// A wait, what ends it, and how it leads on to the next one.
struct WaitPoint {
  const char* name;
  std::function<bool(Scene&, const Deeper&)> wait;
  std::function<void(Scene&)> wake;
};

// A wait that is over before what follows begins.
template <class F>
std::function<bool(Scene&, const Deeper&)> simply(F wait) {
  return [wait](Scene& scene, const Deeper& deeper) {
    Resource resource(scene);
    if (wait(scene) == Wait::killed) return false;
    Resource another(scene);
    return deeper();
  };
}
const auto send_go = [](Scene& scene) { (void)scene.fiber.send(Go{}); };
const auto let_time_pass = [](Scene& scene) { scene.loop.move_time(10ms); };

const std::vector<WaitPoint>& wait_points() {
  static const std::vector<WaitPoint> all = {
      {"receive", simply([](Scene&) { return receive([](Go) {}); }), send_go},
      {"receive_for, and mail comes", simply([](Scene&) { return receive_for(1h, [](Go) {}); }),
       send_go},
      {"receive_for, and time is up",
       simply([](Scene&) { return receive_for(10ms, [](Never) {}); }), let_time_pass},
      {"selective, with mail kept", simply([](Scene&) {
         for (int i = 0; i < 3; ++i) (void)self().send(i);
         (void)self().send(std::string("kept"));
         return receive_if([](const int& number) { return number == 7; }, [](int) {});
       }),
       [](Scene& scene) { (void)scene.fiber.send(7); }},
      {"sleep_for", simply([](Scene&) { return sleep_for(10ms); }), let_time_pass},
      {"future", simply([](Scene& scene) { return wait_of(scene.future->get()); }),
       [](Scene& scene) { scene.promise->resolve(scene.result); }},
      {"future, not for ever", simply([](Scene& scene) {
         scene.promise_again();
         return wait_of(scene.future->get_for(1h));
       }),
       [](Scene& scene) { scene.promise->resolve(scene.result); }},
      {"future, and time is up", simply([](Scene& scene) {
         scene.promise_again();
         return wait_of(scene.future->get_for(10ms));
       }),
       let_time_pass},
      {"ask", simply([](Scene& scene) { return wait_of(ask<int>(scene.asked, Question{}).get()); }),
       [](Scene& scene) { (void)scene.asked.send(Go{}); }},
      {"a send that waits for room", simply([](Scene& scene) {
         Errc sent = Errc::ok;
         do {
           sent = scene.slow.send(1);
         } while (sent == Errc::ok && !scene.has_sent);
         return sent == Errc::killed ? Wait::killed : Wait::done;
       }),
       [](Scene& scene) {
         scene.has_sent = true;
         scene.loop.move_time(10ms);
       }},
      {"in a handler",
       [](Scene& scene, const Deeper& deeper) {
         bool goes_on = true;
         (void)self().send(1L);
         const Wait wait = receive([&](long) {
           Resource resource(scene);
           goes_on = receive([](Go) {}) != Wait::killed && deeper();
         });
         return goes_on && wait != Wait::killed;
       },
       send_go},
      {"in a handler of an ask, in a helper of it",
       [](Scene& scene, const Deeper& deeper) {
         bool goes_on = true;
         Future<int> answer = ask<int>(self(), Question{});
         const Wait wait = receive([&](Question) {
           Resource resource(scene);
           goes_on = sleep_for(10ms) != Wait::killed && deeper();
           return 5;
         });
         return goes_on && wait != Wait::killed && wait_of(answer.get()) != Wait::killed;
       },
       let_time_pass},
      {"while an exception is handled",
       [](Scene& scene, const Deeper& deeper) {
         try {
           Resource resource(scene);
           throw std::runtime_error("caught");
         } catch (const std::runtime_error& error) {
           Resource resource(scene);
           const bool goes_on = receive([](Go) {}) != Wait::killed;
           EXPECT_STREQ(error.what(), "caught");
           return goes_on && deeper();
         }
       },
       send_go},
      {"in a destructor while an exception flies",
       [](Scene& scene, const Deeper& deeper) {
         struct Waits {
           ~Waits() {
             Resource resource(scene);
             result = receive([](Go) {});
           }
           Scene& scene;
           Wait& result;
         };
         Wait result = Wait::done;
         try {
           Waits waits{scene, result};
           throw std::runtime_error("flies");
         } catch (const std::runtime_error&) {
         }
         return result != Wait::killed && deeper();
       },
       send_go},
      {"the last", simply([](Scene&) { return receive([](Go) {}); }), send_go},
  };
  return all;
}

bool descend(Scene& scene, size_t index, size_t& reached) {
  if (index == wait_points().size()) return true;
  reached = index;
  return wait_points()[index].wait(scene, [&] { return descend(scene, index + 1, reached); });
}

// A fiber that is in its wait `number`, counted from 0.
void go_to(Scene& scene, size_t number, size_t& reached) {
  SpawnOptions options;
  options.monitor = scene.watcher;
  scene.fiber = scene.loop.spawn_fn_with(options, [&] { (void)descend(scene, 0, reached); });
  scene.loop.settle();
  for (size_t i = 0; i < number; ++i) {
    ASSERT_EQ(reached, i) << wait_points()[i].name;
    wait_points()[i].wake(scene);
    scene.loop.settle();
  }
  ASSERT_EQ(reached, number);
  ASSERT_EQ(scene.downs, 0);
}

class KillAtWait : public ::testing::TestWithParam<std::tuple<std::string, size_t>> {
 protected:
  static size_t number() { return std::get<1>(GetParam()); }
  void expect_end(ExitReason reason) {
    scene.loop.settle();
    EXPECT_EQ(scene.acquired, scene.released);
    EXPECT_GT(scene.acquired, 0);
    EXPECT_EQ(scene.downs, 1);
    EXPECT_EQ(scene.reason, reason);
    EXPECT_EQ(scene.loop.seen().stop_of(scene.fiber.id()).reason, reason);
    EXPECT_EQ(scene.fiber.send(Go{}), Errc::no_such_actor);
  }
  void kill() { EXPECT_EQ(scene.loop.kill(scene.fiber), Errc::ok); }
  void wake() { wait_points()[number()].wake(scene); }

  ChosenDriver driver{std::get<0>(GetParam())};
  Scene scene;
  size_t reached = 0;
};
INSTANTIATE_TEST_SUITE_P(All, KillAtWait,
                         ::testing::Combine(::testing::ValuesIn(all_drivers()),
                                            ::testing::Range(size_t{0}, wait_points().size())),
                         [](const auto& one) {
                           return std::to_string(std::get<1>(one.param)) + "_on_" +
                                  std::get<0>(one.param);
                         });

TEST_P(KillAtWait, UnwindsOnce) {
  go_to(scene, number(), reached);
  kill();
  expect_end(ExitReason::killed);
  EXPECT_EQ(reached, number());
}

TEST_P(KillAtWait, AStopUnwindsToo) {
  go_to(scene, number(), reached);
  EXPECT_EQ(scene.loop.stop(scene.fiber), Errc::ok);
  expect_end(ExitReason::normal);
}

TEST_P(KillAtWait, ThatIsJustOverUnwindsOnce) {
  go_to(scene, number(), reached);
  wake();
  kill();
  expect_end(ExitReason::killed);
  EXPECT_EQ(reached, number());
}

TEST_P(KillAtWait, AndWhatItWaitedForComesTooLate) {
  go_to(scene, number(), reached);
  kill();
  wake();
  expect_end(ExitReason::killed);
  EXPECT_EQ(reached, number());
}

TEST_P(KillAtWait, TheEndOfTheLoopUnwindsToo) { go_to(scene, number(), reached); }

TEST_P(KillAtWait, TheEndOfALinkedOneUnwindsToo) {
  go_to(scene, number(), reached);
  SpawnOptions options;
  options.link = scene.fiber;
  scene.loop.spawn_fn_with(options, [] { exit(ExitReason::fail, "take it along"); });
  expect_end(ExitReason::fail);
}

JZX_SUITE_ON_ALL_DRIVERS(KillAtNoWait);

TEST_P(KillAtNoWait, TheWholeScriptEndsByItself) {
  Scene scene;
  size_t reached = 0;
  go_to(scene, wait_points().size() - 1, reached);
  send_go(scene);
  scene.loop.settle();
  EXPECT_EQ(scene.downs, 1);
  EXPECT_EQ(scene.reason, ExitReason::normal);
  EXPECT_EQ(scene.acquired, scene.released);
}

}  // namespace
}  // namespace jzx::testing
