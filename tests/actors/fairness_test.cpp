// Whoever has something to do gets on, beside busy actors and below those of higher priority.
#include "actors/stage/on_stage.hpp"

namespace jzx::actors {
namespace {

// A message is a turn, so that the busy ones cannot do all their work in one.
class Fairness : public OnStage {
 protected:
  Fairness() : OnStage(SystemOptions{.max_msgs_per_actor = 1}) {}

  // Actors that are never done before the gate opens.
  void keep_busy(int actors, Priority priority = Priority::normal) {
    for (int i = 0; i < actors; ++i) tell(spawn({.priority = priority}), say::spin(busy_));
  }
  // Under load the journal is not searched while it waits: each number is asked for by itself.
  void expect_progress(ActorId a) {
    for (uint64_t i = 1; i <= 20; ++i) ask(a, say::record(i));
  }
  void TearDown() override { busy_->open(); }

  // Closed on a loop too: nothing waits at it.
  std::shared_ptr<testing::Gate> busy_ = std::make_shared<testing::Gate>();
};
JZX_FOR_ALL_BODIES(Fairness);

TEST_P(Fairness, BusyActorsKeepNobodyWaiting) {
  keep_busy(4);
  expect_progress(spawn());
}

TEST_P(Fairness, BusyActorsDoNotHoldUpTimers) {
  keep_busy(4);
  const ActorId a = spawn();
  // The clock of a loop moves only when there is nothing else to do: one that is due at once.
  ask(a, say::send_after(0, 0, say::record(1)));
  await(seen::recorded(a, 1));
}

TEST_P(Fairness, BusyActorsCanBeKilled) {
  const ActorId a = spawn();
  tell(a, say::spin(busy_));
  EXPECT_EQ(world().kill(a), Errc::ok);
  EXPECT_EQ(await(seen::ended(a)).reason, world().kill_reason());
}

TEST_P(Fairness, BusyActorsHearOfWhatTheyMonitor) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  tell(a, say::batch({say::monitor(b), say::spin(busy_)}));
  tell(b, say::stop());
  await(seen::down(a, b));
}

TEST_P(Fairness, AnActorOfLowPriorityGetsOnBesideBusyCriticalOnes) {
  NEEDS(Trait::priority);
  keep_busy(4, Priority::critical);
  expect_progress(spawn({.priority = Priority::low}));
}

TEST_P(Fairness, EveryPriorityIsServedBesideAllOthers) {
  NEEDS(Trait::priority);
  const Priority levels[] = {Priority::critical, Priority::high, Priority::normal, Priority::low};
  for (const Priority level : levels) keep_busy(1, level);
  for (const Priority level : levels) expect_progress(spawn({.priority = level}));
}

}  // namespace
}  // namespace jzx::actors
