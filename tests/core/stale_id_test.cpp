#include <gtest/gtest.h>
#include "core/bonds.hpp"
#include "core/rig.hpp"
namespace jzx::core {
namespace {
using jzx::testing::Rig;
TEST(StaleId, Ghost) {
  Rig rig;
  const ActorId id = rig.spawn();
  const ActorId made_up = slot_of(id) + 5;
  EXPECT_EQ(rig.system().find_open(made_up), nullptr);
  EXPECT_EQ(rig.send(made_up, 1), Errc::no_such_actor);
  EXPECT_EQ(link(rig.host(), id, made_up), Errc::no_such_actor);
  EXPECT_EQ(request_exit(rig.host(), made_up, ExitReason::normal), Errc::no_such_actor);
  rig.settle();
}
}
}
