// Futures, tasks, time, and other actors.
#include <future>
#include <memory>
#include <string>

#include "waits/scene.hpp"

namespace jzx::testing {
namespace {

constexpr int kValue = 7;
constexpr auto kIsValue = [](int value) { return value == kValue; };

struct Promised {
  Promised() {
    FutureAndPromise<int> made = jzx::promise<int>();
    future = std::move(made.future);
    promise = std::move(made.promise);
  }
  Future<int> future;
  Promise<int> promise;
};

Scene promised(Stage& stage) {
  auto it = std::make_shared<Promised>();
  return scene(
      stage, [it] { return std::move(it->future); }, [it] { it->promise.resolve(kValue); },
      Always{}, kIsValue);
}
Scene chained(Stage& stage) {
  auto it = std::make_shared<Promised>();
  return scene(
      stage,
      [it] {
        return it->future.then([](int value) { return std::to_string(value); })
            .finally([] {})
            .then([](const std::string& text) { return std::stoi(text); });
      },
      [it] { it->promise.resolve(kValue); }, Always{}, kIsValue);
}
Scene combined(Stage& stage) {
  struct Two {
    Promised first;
    Promised second;
  };
  auto it = std::make_shared<Two>();
  return scene(
      stage, [it] { return all(std::move(it->first.future), std::move(it->second.future)); },
      [it] {
        it->second.promise.resolve(kValue);
        it->first.promise.resolve(kValue);
      },
      Always{}, [](const std::tuple<int, int>& both) { return both == std::tuple(7, 7); });
}
Scene raced(Stage& stage) {
  struct Two {
    Promised first;
    Promised second;
  };
  auto it = std::make_shared<Two>();
  return scene(
      stage, [it] { return race(std::move(it->first.future), std::move(it->second.future)); },
      [it] { it->second.promise.resolve(kValue); }, Always{}, kIsValue);
}

// ---- tasks ----

// Two tasks deep.
Task<int> inner(Latch& latch) {
  auto opening = latch.wait();
  Result<void> opened = co_await opening;
  co_await opened;
  co_return kValue;
}
Task<int> outer(std::shared_ptr<Latch> latch) {
  auto waiting = inner(*latch);
  Result<int> result = co_await waiting;
  co_return result;
}

Scene task(Stage& stage) {
  auto it = std::make_shared<Latch>(1);
  return scene(
      stage, [it] { return outer(it); }, [it] { it->count_down(); }, Always{}, kIsValue);
}
Scene spawned(Stage& stage) {
  auto it = std::make_shared<Latch>(1);
  return scene(
      stage, [it, &stage] { return stage.system().spawn_async(outer(it)); },
      [it] { it->count_down(); }, Always{}, kIsValue);
}
Scene scoped(Stage& stage) {
  auto it = std::make_shared<Latch>(1);
  return scene(
      stage,
      [it] {
        return scope([it](Scope& own) -> Task<int> {
          own.spawn(outer(it));
          auto second = own.start(outer(it));
          Result<int> result = co_await second;
          co_return result;
        });
      },
      [it] { it->count_down(); }, Always{}, kIsValue);
}
Scene limited_task(Stage& stage) {
  auto it = std::make_shared<Latch>(1);
  return scene(
      stage,
      [it, &stage] {
        return with_timeout(stage.system().sleep(1h), stage.system().spawn_async(outer(it)));
      },
      [it] { it->count_down(); }, Always{}, kIsValue);
}

// ---- time ----

Scene short_sleep(Stage& stage) {
  return scene(
      stage, [&stage] { return stage.system().sleep(1ms); }, [] {});
}
Scene long_sleep(Stage& stage) {
  return scene(
      stage, [&stage] { return stage.system().sleep(1h); }, [] {});
}

// ---- other actors ----

struct Question {};
struct Clerk {
  std::shared_ptr<Latch> latch;
  Task<int> on(Question) {
    auto thinking = outer(latch);
    Result<int> result = co_await thinking;
    co_return result;
  }
};

Scene ask(Stage& stage) {
  auto latch = std::make_shared<Latch>(1);
  const auto clerk = stage.system().spawn<Clerk>(latch);
  return scene(
      stage, [clerk] { return clerk.ask(Question{}); }, [latch] { latch->count_down(); }, Always{},
      kIsValue);
}
Scene ask_for(Stage& stage) {
  auto latch = std::make_shared<Latch>(1);
  const auto clerk = stage.system().spawn<Clerk>(latch);
  return scene(
      stage, [clerk] { return clerk.ask_for(1h, Question{}); }, [latch] { latch->count_down(); },
      Always{}, kIsValue);
}
Scene when_down(Stage& stage) {
  const Pid clerk = stage.system().spawn<Clerk>(std::make_shared<Latch>(1));
  return scene(
      stage, [clerk, &stage] { return stage.system().when_down(clerk); },
      [clerk, &stage] { EXPECT_EQ(stage.system().kill(clerk), Errc::ok); }, Always{},
      // To one that asks again it may be gone for good.
      [](const Down& down) {
        return down.reason == ExitReason::killed || down.reason == ExitReason::noproc;
      });
}

// ---- threads for what blocks ----

Scene blocking(Stage& stage) {
  struct Gate {
    std::promise<void> opens;
    std::shared_future<void> is_open = opens.get_future().share();
  };
  auto it = std::make_shared<Gate>();
  return scene(
      stage,
      [it, &stage] {
        return stage.runtime()->spawn_blocking([gate = it->is_open] {
          gate.wait();
          return kValue;
        });
      },
      [it] { it->opens.set_value(); }, Always{}, kIsValue);
}

}  // namespace

std::vector<Kind> future_kinds() {
  return {{"promise", &promised, Trait::once_only},
          {"chain", &chained, Trait::once_only},
          {"all", &combined, Trait::once_only},
          {"race", &raced, Trait::once_only},
          {"task", &task},
          {"spawned_task", &spawned},
          {"scope", &scoped},
          {"with_timeout", &limited_task},
          {"short_sleep", &short_sleep, Trait::ends_by_itself},
          {"long_sleep", &long_sleep, Trait::never_ends},
          {"ask", &ask},
          {"ask_for", &ask_for},
          {"when_down", &when_down},
          {"spawn_blocking", &blocking, Trait::on_workers}};
}

}  // namespace jzx::testing
