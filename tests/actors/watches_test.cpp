// Watched file descriptors: one readiness, one event, and no more of them after the owner's end.
#include "actors/stage/on_stage.hpp"
#include "support/fds.hpp"

namespace jzx::actors {
namespace {

class Watches : public OnStage {
 protected:
  // Before the stage: fds must outlive the system that watches them.
  [[nodiscard]] int fd() const { return pipe_.reader.get(); }
  void make_readable() { testing::put(pipe_.writer); }
  void watch(ActorId a) { EXPECT_EQ(ask(a, say::watch_fd(fd())).error, Errc::ok); }
  void TearDown() override { stage().close(); }

  testing::Pipe pipe_;
};
JZX_FOR_ALL_BODIES_ON(Watches, real_drivers());

TEST_P(Watches, TellTheirOwnerOnceThatAnFdIsReady) {
  const ActorId a = spawn();
  watch(a);
  make_readable();
  EXPECT_EQ(await(seen::io(a)).number, static_cast<uint64_t>(fd()));
  ask(a, say::record(1));
  EXPECT_EQ(count(seen::io(a)), 1u) << "one readiness, one event";
}

TEST_P(Watches, TellAgainWhenTheyAreArmedAgain) {
  const ActorId a = spawn();
  make_readable();
  for (size_t i = 1; i <= 5; ++i) {
    watch(a);
    await(seen::io(a), i);
  }
}

TEST_P(Watches, ThatAreWithdrawnTellNothing) {
  const ActorId a = spawn();
  watch(a);
  EXPECT_EQ(ask(a, say::unwatch_fd(fd())).error, Errc::ok);
  make_readable();
  ask(a, say::record(1));
  EXPECT_EQ(count(seen::io(a)), 0u);
  EXPECT_EQ(ask(a, say::unwatch_fd(fd())).error, Errc::io_not_watched);
}

TEST_P(Watches, EndWithTheirOwner) {
  const ActorId a = spawn();
  const ActorId b = spawn();
  watch(a);
  tell(a, say::fail("broken"));
  await(seen::ended(a));
  EXPECT_EQ(ask(b, say::unwatch_fd(fd())).error, Errc::io_not_watched);
  watch(b);
  make_readable();
  await(seen::io(b));
  EXPECT_EQ(count(seen::io(a)), 0u);
}

}  // namespace
}  // namespace jzx::actors
