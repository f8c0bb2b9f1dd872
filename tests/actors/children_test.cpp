// Parents and children without a supervisor between them: a child ends with its parent, and the
// parent hears of the end of a child.
#include <algorithm>

#include "actors/stage/on_stage.hpp"

namespace jzx::actors {
namespace {

class Children : public OnStage {
 protected:
  ActorId child_of(ActorId parent, const std::string& label = "child") {
    const Note note = ask(parent, say::spawn_child(label));
    EXPECT_EQ(note.error, Errc::ok);
    return note.number;
  }
};
JZX_FOR_ALL_BODIES(Children);

TEST_P(Children, AreToldToTheObserverByTheirLabel) {
  const ActorId parent = spawn({.label = "parent"});
  const ActorId child = child_of(parent, "first");
  EXPECT_EQ(await(seen::begun("parent")).who, parent);
  EXPECT_EQ(await(seen::begun("first")).who, child);
}

TEST_P(Children, ThatEndAreToldToTheParentOnceWithTheReason) {
  const ActorId parent = spawn();
  const ActorId well = child_of(parent);
  const ActorId badly = child_of(parent);
  tell(well, say::stop());
  tell(badly, say::fail("broken"));
  EXPECT_EQ(await(seen::child_exit(parent, well)).reason, ExitReason::normal);
  EXPECT_EQ(await(seen::child_exit(parent, badly)).reason, ExitReason::fail);
  ask(parent, say::record(1));
  EXPECT_EQ(count(seen::child_exit(parent)), 2u) << "and the parent lives";
}

TEST_P(Children, EndBeforeTheirParentTheYoungestFirst) {
  const ActorId parent = spawn();
  std::vector<ActorId> expected = {parent};
  for (int i = 0; i < 5; ++i) expected.insert(expected.begin(), child_of(parent));
  tell(parent, say::stop());
  await(seen::ended(parent));
  EXPECT_EQ(whom(all(seen::ended())), expected);
}

TEST_P(Children, OfChildrenEndBeforeThese) {
  const ActorId parent = spawn();
  const ActorId child = child_of(parent);
  const ActorId grandchild = child_of(child);
  EXPECT_EQ(world().kill(parent), Errc::ok);
  EXPECT_EQ(await(seen::ended(parent)).reason, world().kill_reason());
  EXPECT_EQ(whom(all(seen::ended())), (std::vector<ActorId>{grandchild, child, parent}));
}

TEST_P(Children, EndAlsoWhenTheParentFails) {
  const ActorId parent = spawn();
  const ActorId child = child_of(parent);
  tell(parent, say::fail("broken"));
  await(seen::ended(parent));
  EXPECT_EQ(whom(all(seen::ended())), (std::vector<ActorId>{child, parent}));
}

TEST_P(Children, SpawnedFromOutsideBelongToTheParentToo) {
  const ActorId parent = spawn();
  const ActorId child = spawn({.parent = parent});
  tell(parent, say::stop());
  await(seen::ended(parent));
  EXPECT_EQ(whom(all(seen::ended())), (std::vector<ActorId>{child, parent}));
}

TEST_P(Children, ThatEndedBeforeAreNotWaitedFor) {
  const ActorId parent = spawn();
  const ActorId first = child_of(parent);
  const ActorId second = child_of(parent);
  tell(second, say::stop());
  await(seen::child_exit(parent, second));
  tell(parent, say::stop());
  await(seen::ended(parent));
  EXPECT_EQ(whom(all(seen::ended())), (std::vector<ActorId>{second, first, parent}));
}

TEST_P(Children, WithMailEndWithTheirParentAndTheMailIsDeadLettered) {
  const ActorId parent = spawn();
  const ActorId child = child_of(parent);
  // Asked to end before it can have a turn for the mail on one worker; on two it may have had some.
  tell(parent, say::batch({say::send_records(child, 1, 20), say::kill(child), say::stop()}));
  await(seen::ended(parent));
  EXPECT_EQ(count(seen::dead(child)) + count(seen::recorded(child)), 20u);
}

TEST_P(Children, OfADeepTreeAllEnd) {
  const ActorId root = spawn();
  std::vector<ActorId> level = {root};
  size_t everybody = 1;
  for (int depth = 0; depth < 4; ++depth) {
    std::vector<ActorId> next;
    for (const ActorId parent : level) {
      next.push_back(child_of(parent));
      next.push_back(child_of(parent));
    }
    everybody += next.size();
    level = next;
  }
  tell(root, say::stop());
  await(seen::ended(root));
  EXPECT_EQ(count(seen::ended()), everybody);
  EXPECT_EQ(all(seen::ended()).back().who, root);
}

}  // namespace
}  // namespace jzx::actors
