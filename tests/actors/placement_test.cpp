// Where an actor runs changes none of the promises: on a worker of its own, or on a thread that may
// block.
#include "actors/stage/on_stage.hpp"

namespace jzx::actors {
namespace {

class Placed : public OnStage {
 protected:
  // What every actor promises, of one that is placed here.
  void expect_promises(Placement placement) {
    const ActorId a = spawn({.placement = placement});
    const ActorId b = spawn();
    tell(a, say::send_records(0, 1, 100));
    await(seen::recorded(a), 100);
    const std::vector<uint64_t> came = numbers(all(seen::recorded(a)));
    for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(came[i], i + 1);
    tell(b, say::send(a, say::reply(say::record(7))));
    EXPECT_EQ(await(seen::recorded(b, 7)).other, a);
    tell(a, say::send_after(1, 0, say::record(8)));
    await(seen::recorded(a, 8));
    ask(b, say::batch({say::trap_exit(true), say::link(a), say::monitor(a)}));
    EXPECT_EQ(ask(a, say::spawn_child("child")).error, Errc::ok);
    tell(a, say::batch({say::send_records(0, 201, 205), say::fail("broken")}));
    EXPECT_EQ(await(seen::exit(b, a)).reason, ExitReason::fail);
    EXPECT_EQ(await(seen::down(b, a)).reason, ExitReason::fail);
    await(seen::dead(a), 5);
    EXPECT_EQ(journal().count(seen::ended(a)), 1u);
  }
  // A blocking thread is no worker: its last steps are not settled with them.
  void TearDown() override { stage().end_everybody(); }
};
JZX_FOR_ALL_BODIES(Placed);

TEST_P(Placed, OnOneWorkerOnly) {
  NEEDS(Trait::placement);
  expect_promises(Placement::pin_to(0));
}

TEST_P(Placed, OnAThreadThatMayBlock) {
  NEEDS(Trait::placement);
  if (!stage().has_threads()) {
    ActorId out = 0;
    EXPECT_EQ(world().spawn({.placement = Placement::blocking()}, out), Errc::invalid_arg)
        << "a loop has none";
    return;
  }
  expect_promises(Placement::blocking());
}

}  // namespace
}  // namespace jzx::actors
