// Ids that are reserved before their actor is spawned.
#include <gtest/gtest.h>

#include <set>

#include "core/bonds.hpp"
#include "core/rig.hpp"

namespace jzx::core {
namespace {

using jzx::testing::Rig;
using jzx::testing::Script;

TEST(ReservedId, IsNobodysUntilItsActorIsSpawned) {
  Rig rig;
  const ActorId other = rig.spawn();
  ActorId id = kNobody;
  ASSERT_EQ(reserve(rig.host(), id), Errc::ok);
  EXPECT_EQ(rig.send(id, 1), Errc::no_such_actor);
  EXPECT_EQ(link(rig.host(), other, id), Errc::no_such_actor);
  EXPECT_EQ(request_exit(rig.host(), id, ExitReason::killed), Errc::no_such_actor);
  EXPECT_EQ(rig.system().alive_count(), 1u);
  EXPECT_NE(slot_of(rig.spawn()), slot_of(id));  // nobody else gets the slot

  SpawnOptions options;
  options.reserved = id;
  uint32_t handled = 0;
  Script script;
  script.handle = [&](Turn&, Envelope&) { return ++handled, Outcome::wants_mail; };
  EXPECT_EQ(rig.spawn(std::move(script), options), id);
  EXPECT_EQ(rig.send(id, 2), Errc::ok);
  rig.settle();
  EXPECT_EQ(handled, 1u);
}

TEST(ReservedId, ThatIsReleasedIsNeverGivenAgain) {
  Rig rig;
  std::set<ActorId> seen;
  for (int i = 0; i < 1000; ++i) {
    ActorId id = kNobody;
    ASSERT_EQ(reserve(rig.host(), id), Errc::ok);
    EXPECT_TRUE(seen.insert(id).second);
    release_reserved(rig.host(), id);
    EXPECT_EQ(rig.send(id, 1), Errc::no_such_actor);
  }
  EXPECT_FALSE(seen.contains(rig.spawn()));
}

TEST(ReservedId, CountsAgainstTheLimitOfActors) {
  runtime::LoopOptions options;
  options.max_actors = 2;
  Rig rig(options);
  ActorId first = kNobody;
  ActorId second = kNobody;
  ActorId third = kNobody;
  ASSERT_EQ(reserve(rig.host(), first), Errc::ok);
  ASSERT_EQ(reserve(rig.host(), second), Errc::ok);
  EXPECT_EQ(reserve(rig.host(), third), Errc::max_actors);
  release_reserved(rig.host(), first);
  EXPECT_EQ(reserve(rig.host(), third), Errc::ok);
}

TEST(ReservedId, StaysTheCallersIfItsParentIsGone) {
  Rig rig;
  ActorId id = kNobody;
  ASSERT_EQ(reserve(rig.host(), id), Errc::ok);
  SpawnOptions options;
  options.reserved = id;
  options.parent = make_id(slot_of(id), generation_of(id) + 1);
  ActorId none = kNobody;
  EXPECT_EQ(jzx::testing::spawn_script(rig.host(), {}, none, options), Errc::no_such_actor);
  options.parent = kNobody;
  EXPECT_EQ(rig.spawn({}, options), id);
}

}  // namespace
}  // namespace jzx::core
