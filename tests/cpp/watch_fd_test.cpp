// Watched file descriptors reach a typed actor as IoEvent.
#include <gtest/gtest.h>

#include <vector>

#include "cpp/clocked_loop.hpp"
#include "support/fds.hpp"

namespace jzx::testing {
namespace {

struct Watch {
  uint32_t interest = 0;
};
struct Unwatch {};

struct Reader {
  Reader(int the_fd, std::vector<IoEvent>& the_events) : fd(the_fd), events(the_events) {}
  Errc on(Watch watch, Context& context) { return context.watch_fd(fd, watch.interest); }
  Errc on(Unwatch, Context& context) { return context.unwatch_fd(fd); }
  void on(const IoEvent& event) { events.push_back(event); }
  int fd;
  std::vector<IoEvent>& events;
};

class WatchFd : public ::testing::Test {
 protected:
  // An event may take the kernel a moment: waits for it, not for a time.
  void wait_for_events(size_t count) {
    for (int tick = 0; tick < 1000 && events.size() < count; ++tick) {
      ASSERT_TRUE(loop.run_once(10ms));
    }
    ASSERT_EQ(events.size(), count);
  }

  Pipe pipe;
  std::vector<IoEvent> events;
  ClockedLoop loop;
  ActorRef<Reader> reader = loop.spawn<Reader>(pipe.reader.get(), events);
};

TEST_F(WatchFd, TellsTheActorWhenThereIsSomethingToRead) {
  EXPECT_EQ(loop.run_until(reader.ask(Watch{kIoRead})).value(), Errc::ok);
  loop.settle();
  EXPECT_TRUE(events.empty());
  put(pipe.writer);
  wait_for_events(1);
  EXPECT_EQ(events[0].fd, pipe.reader.get());
  EXPECT_EQ(events[0].readiness, kIoRead);
}

TEST_F(WatchFd, TellsOfAHangUp) {
  EXPECT_EQ(loop.run_until(reader.ask(Watch{kIoRead})).value(), Errc::ok);
  pipe.writer.close();
  wait_for_events(1);
  EXPECT_NE(events[0].readiness & kIoHangup, 0u);
}

TEST_F(WatchFd, TellsNothingAfterUnwatch) {
  EXPECT_EQ(loop.run_until(reader.ask(Watch{kIoRead})).value(), Errc::ok);
  EXPECT_EQ(loop.run_until(reader.ask(Unwatch{})).value(), Errc::ok);
  EXPECT_EQ(loop.run_until(reader.ask(Unwatch{})).value(), Errc::io_not_watched);
  put(pipe.writer);
  loop.settle();
  EXPECT_TRUE(events.empty());
}

TEST_F(WatchFd, EndsWithTheActor) {
  EXPECT_EQ(loop.watch_fd(pipe.reader.get(), reader, kIoRead), Errc::ok);
  EXPECT_EQ(loop.stop(reader), Errc::ok);
  loop.settle();
  EXPECT_EQ(loop.unwatch_fd(pipe.reader.get()), Errc::io_not_watched);
}

TEST_F(WatchFd, RefusesWhatCannotBeWatched) {
  EXPECT_NE(loop.watch_fd(-1, reader, kIoRead), Errc::ok);
  EXPECT_NE(loop.watch_fd(pipe.reader.get(), reader, 0), Errc::ok);
  EXPECT_EQ(loop.watch_fd(pipe.reader.get(), Pid(), kIoRead), Errc::no_such_actor);
}

}  // namespace
}  // namespace jzx::testing
