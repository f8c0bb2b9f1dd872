// Actors of different bodies in one system: bonds, families and names do not ask what a body is
// made of. The messages of C and of C++ differ, so what one cannot read is dead-lettered.
#include "actors/stage/on_stage.hpp"

namespace jzx::actors {
namespace {

class Mixed : public OnStage {
 protected:
  // Runs the part for a partner of each body, this one's too.
  template <class Part>
  void for_each_partner(Part&& part) {
    for (const Body* other : all_bodies()) {
      SCOPED_TRACE(other->name());
      const std::unique_ptr<World> theirs = other->open_world(stage());
      ActorId partner = 0;
      EXPECT_EQ(theirs->spawn({}, partner), Errc::ok);
      part(*theirs, partner);
    }
  }
};
JZX_FOR_ALL_BODIES(Mixed);

TEST_P(Mixed, LinksTakeThePartnerAlong) {
  for_each_partner([&](World& theirs, ActorId partner) {
    const ActorId a = spawn();
    EXPECT_EQ(ask(a, say::link(partner)).error, Errc::ok);
    EXPECT_EQ(theirs.send(partner, say::fail("broken")), Errc::ok);
    EXPECT_EQ(await(seen::ended(a)).reason, ExitReason::fail);
  });
}

TEST_P(Mixed, ExitsAndDownsOfThePartnerAreTold) {
  for_each_partner([&](World& theirs, ActorId partner) {
    const ActorId a = spawn();
    ask(a, say::batch({say::trap_exit(true), say::link(partner), say::monitor(partner)}));
    EXPECT_EQ(theirs.send(partner, say::fail("broken")), Errc::ok);
    EXPECT_EQ(await(seen::exit(a, partner)).reason, ExitReason::fail);
    EXPECT_EQ(await(seen::down(a, partner)).reason, ExitReason::fail);
  });
}

TEST_P(Mixed, APartnerCanBeAChild) {
  for_each_partner([&](World& theirs, ActorId) {
    const ActorId a = spawn();
    ActorId child = 0;
    EXPECT_EQ(theirs.spawn({.parent = a}, child), Errc::ok);
    EXPECT_EQ(theirs.send(child, say::stop()), Errc::ok);
    EXPECT_EQ(await(seen::child_exit(a, child)).reason, ExitReason::normal);
    EXPECT_EQ(theirs.spawn({.parent = a}, child), Errc::ok);
    tell(a, say::stop());
    await(seen::ended(a));
    EXPECT_EQ(count(seen::ended(child)), 1u);
  });
}

TEST_P(Mixed, NamesAreOfAllBodies) {
  for_each_partner([&](World& theirs, ActorId partner) {
    const ActorId a = spawn();
    EXPECT_EQ(world().register_name(partner, "partner"), Errc::ok);
    EXPECT_EQ(ask(a, say::whereis("partner")).number, partner);
    EXPECT_EQ(theirs.whereis("partner"), partner);
    EXPECT_EQ(theirs.stop(partner), Errc::ok);
    await(seen::ended(partner));
  });
}

TEST_P(Mixed, OneSupervisesTheOther) {
  for_each_partner([&](World& theirs, ActorId partner) {
    const size_t before = journal().count(seen::begun("mixed"));
    ActorId supervisor = 0;
    EXPECT_EQ(world().supervise({.members = {{"mixed"}}}, partner, supervisor), Errc::ok);
    tell(await(seen::begun("mixed"), before + 1).who, say::fail("broken"));
    await(seen::begun("mixed"), before + 2);
    EXPECT_EQ(theirs.stop(partner), Errc::ok);
    await(seen::ended(partner));
    EXPECT_EQ(count(seen::ended(supervisor)), 1u);
  });
}

}  // namespace
}  // namespace jzx::actors
