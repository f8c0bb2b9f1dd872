// Every kind of wait, by everybody who can wait, in every place: see scene.hpp for the kinds, and
// support/place.hpp for who and where.
//
//   a coroutine    co_awaits it, in a task that is an actor
//   a fiber        calls get()
//   a thread       calls get() on workers; on a loop it is the loop's own, and runs it meanwhile
//   a handler      attaches a function with then(), and goes on
//
// What a mailbox brings is not among these kinds: only an actor has one. See mail_test.cpp.
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/open_files.hpp"
#include "support/place.hpp"
#include "support/scale.hpp"
#include "waits/scene.hpp"

namespace jzx::testing {
namespace {

struct Case {
  Kind kind;
  Setting setting;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.kind.name << " of " << name_of(one.setting);
}

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (auto list : {future_kinds, lock_kinds, channel_kinds, stream_kinds, system_kinds}) {
    for (const Kind& kind : list()) kinds.push_back(kind);
  }
  return kinds;
}

template <class Accepts>
std::vector<Case> cases_that(Accepts accepts) {
  std::vector<Case> cases;
  for (const Kind& kind : all_kinds()) {
    for (const Setting& setting : settings_that([](const Setting&) { return true; })) {
      if (kind.is(Trait::on_workers) && setting.driver == Driver::loop) continue;
      if (accepts(kind, setting)) cases.push_back({kind, setting});
    }
  }
  return cases;
}

std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  return std::string(info.param.kind.name) + "_of_" + name_of(info.param.setting);
}

// ---- who waits ----

// A wait that was begun.
struct Begun {
  Future<Errc> result;
  Future<void> has_begun;  // of one that runs by itself
  Pid actor;
};

Task<Errc> tell_and_await(Promise<void> begun, Ways ways) {
  begun.resolve();
  auto waiting = ways.await();
  Result<Errc> result = co_await waiting;
  co_return result;
}

struct Attach {
  Ways ways;
  Promise<void> begun;
  Promise<Errc> result;
};
struct Handler {
  explicit Handler(SystemFace& the_system) : system(the_system) {}
  void on(Attach attach) {
    attach.ways.as_a_future(system).then(
        [result = std::move(attach.result)](const Result<Errc>& code) mutable {
          if (code) return result.resolve(*code);
          result.reject(code.error());
        });
    attach.begun.resolve();
  }
  SystemFace& system;
};

// A loop without actors has ended, and brings nobody anything any more, not even time.
struct Resident {};

class WaitsBase : private NoFileLeft, public ::testing::TestWithParam<Case> {
 protected:
  WaitsBase() : stage_(GetParam().setting) {}

  void SetUp() override {
    if (!stage_.is_there()) GTEST_SKIP() << "the kernel has no such reactor";
    (void)stage_.system().spawn<Resident>();
  }

  [[nodiscard]] Begun begin(const Ways& ways) {
    SystemFace& system = stage_.system();
    auto [result, promise] = jzx::promise<Errc>();
    auto [has_begun, begun] = jzx::promise<void>();
    Begun made{std::move(result), std::move(has_begun), {}};
    switch (stage_.setting().waiter) {
      case Waiter::coroutine:
        made.result = system.spawn_async(tell_and_await(std::move(begun), ways), &made.actor);
        break;
      case Waiter::fiber:
        made.actor =
            system.spawn_fn([ways, b = std::move(begun), p = std::move(promise)]() mutable {
              b.resolve();
              p.resolve(ways.block());
            });
        break;
      case Waiter::thread:
        begun.resolve();
        if (stage_.loop() != nullptr) {
          made.result = ways.as_a_future(system);
        } else {
          stage_.start_thread(
              [ways, p = std::move(promise)]() mutable { p.resolve(ways.block()); });
        }
        break;
      case Waiter::handler:
        handler_ = system.spawn<Handler>(system);
        EXPECT_EQ(handler_.send(Attach{ways, std::move(begun), std::move(promise)}), Errc::ok);
        break;
    }
    // A loop runs when it is told to: now, until everybody waits.
    for (int tick = 0; tick < 3 && stage_.loop() != nullptr; ++tick) stage_.loop()->run_once(0ms);
    return made;
  }
  // Asks for an early end, in the way of whoever waits.
  void cancel(Begun& begun) {
    // One that has not begun would end without waiting.
    EXPECT_TRUE(stage_.finish(std::move(begun.has_begun)).ok());
    if (stage_.setting().waiter == Waiter::fiber) {
      (void)stage_.system().kill(begun.actor);  // refused: it has ended
    } else {
      begun.result.cancel();
    }
  }
  [[nodiscard]] Errc end_of(Begun begun) {
    const Result<Errc> result = stage_.finish(std::move(begun.result));
    stage_.join();
    if (result) return *result;
    // A fiber that is killed unwinds, and takes its promise along.
    return stage_.setting().waiter == Waiter::fiber ? Errc::killed : result.error().code();
  }
  [[nodiscard]] Errc run(const Ways& ways) { return end_of(begin(ways)); }

  // What a cancelled wait must have left as it was is there for the next.
  void expect_nothing_taken(const Scene& scene) {
    if (!GetParam().kind.is(Trait::once_only) && !GetParam().kind.is(Trait::never_ends)) {
      EXPECT_EQ(run(scene.plain), Errc::ok);
    }
    EXPECT_TRUE(scene.is_whole());
  }
  void expect_nothing_or_all(Errc end, const Scene& scene) {
    if (ok(end)) {
      EXPECT_TRUE(scene.is_whole());
      return;
    }
    EXPECT_TRUE(end == Errc::cancelled || end == Errc::killed) << to_string(end);
    // What had come to a fiber that was killed has gone with it, as all else that it had.
    if (end == Errc::killed && GetParam().kind.is(Trait::takes)) return;
    expect_nothing_taken(scene);
  }

  Stage stage_;
  ActorRef<Handler> handler_;
};

// ---- the end ----

class Waits : public WaitsBase {};

TEST_P(Waits, EndWhenWhatTheyAreForComes) {
  const Scene scene = GetParam().kind.make(stage_);
  Begun begun = begin(scene.plain);
  if (stage_.loop() != nullptr && !GetParam().kind.is(Trait::ends_by_itself)) {
    EXPECT_FALSE(begun.result.is_ready());
  }
  scene.trigger();
  EXPECT_EQ(end_of(std::move(begun)), Errc::ok);
  EXPECT_TRUE(scene.is_whole());
}

INSTANTIATE_TEST_SUITE_P(All, Waits,
                         ::testing::ValuesIn(cases_that([](const Kind& kind, const Setting&) {
                           return !kind.is(Trait::never_ends);
                         })),
                         name_of_case);

// ---- an early end ----

// Not of handlers, which do not wait, and not of threads that block, to whom nobody can say it. The
// thread that runs a loop has the future, as a handler would, and cancels that.
bool can_be_cancelled(const Setting& setting) {
  if (setting.waiter == Waiter::thread) return setting.driver == Driver::loop;
  return setting.waiter != Waiter::handler;
}
bool needs_no_luck(const Kind& kind) { return !kind.is(Trait::ends_by_itself); }

class CancelledWaits : public WaitsBase {};

TEST_P(CancelledWaits, TakeNothing) {
  const Scene scene = GetParam().kind.make(stage_);
  Begun begun = begin(scene.plain);
  cancel(begun);
  const Errc end = end_of(std::move(begun));
  EXPECT_TRUE(end == Errc::cancelled || end == Errc::killed) << to_string(end);
  scene.trigger();
  expect_nothing_taken(scene);
}

// Both wake whoever waits, once: on a loop certainly in the same turn.
TEST_P(CancelledWaits, WhoseEndHasComeTakeNothingOrAll) {
  const Scene scene = GetParam().kind.make(stage_);
  Begun begun = begin(scene.plain);
  scene.trigger();
  cancel(begun);
  expect_nothing_or_all(end_of(std::move(begun)), scene);
}

INSTANTIATE_TEST_SUITE_P(All, CancelledWaits,
                         ::testing::ValuesIn(cases_that([](const Kind& kind,
                                                           const Setting& setting) {
                           return can_be_cancelled(setting) && needs_no_luck(kind);
                         })),
                         name_of_case);

class WaitsCancelledWhileTheyEnd : public WaitsBase {};

TEST_P(WaitsCancelledWhileTheyEnd, TakeNothingOrAll) {
  for (size_t round = 0; round < scaled(30, 3); ++round) {
    const Scene scene = GetParam().kind.make(stage_);
    Begun begun = begin(scene.plain);
    std::thread other([&] { scene.trigger(); });
    cancel(begun);
    const Errc end = end_of(std::move(begun));
    other.join();
    expect_nothing_or_all(end, scene);
  }
}

INSTANTIATE_TEST_SUITE_P(All, WaitsCancelledWhileTheyEnd,
                         ::testing::ValuesIn(cases_that([](const Kind& kind,
                                                           const Setting& setting) {
                           // Where two threads can meet.
                           return setting.driver == Driver::workers && can_be_cancelled(setting) &&
                                  needs_no_luck(kind) && !kind.is(Trait::never_ends);
                         })),
                         name_of_case);

// ---- a limit ----

class LimitedWaits : public WaitsBase {};

TEST_P(LimitedWaits, EndWhenTheTimeIsUpAndTakeNothing) {
  const Scene scene = GetParam().kind.make(stage_);
  const bool is_outside = stage_.setting().waiter == Waiter::thread;
  EXPECT_EQ(run(is_outside ? scene.limited_outside : scene.limited), Errc::timed_out);
  scene.trigger();
  expect_nothing_taken(scene);
}

INSTANTIATE_TEST_SUITE_P(All, LimitedWaits,
                         ::testing::ValuesIn(cases_that([](const Kind& kind, const Setting&) {
                           return needs_no_luck(kind);
                         })),
                         name_of_case);

}  // namespace
}  // namespace jzx::testing
