// After warm-up a message costs no memory from the system. Not under a sanitizer, which owns
// malloc.
#include <gtest/gtest.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include "cpp/clocked_loop.hpp"
#include "support/scale.hpp"
#include "support/system_calls.hpp"

namespace jzx::testing {
namespace {

struct Ball {
  uint64_t left = 0;
  uint64_t payload[3] = {};
};
static_assert(detail::fits_inline<Ball>);

// Passes the ball on until it has been passed often enough.
struct Player {
  using Messages = jzx::Messages<Ball>;
  void on(ActorRef<Player> the_other) { other = the_other; }
  void on(Ball ball) {
    ++touches;
    if (ball.left > 0) (void)other.send(Ball{ball.left - 1, {}});
  }
  uint64_t on(char) { return touches; }
  ActorRef<Player> other;
  uint64_t touches = 0;
};

class Allocations : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(can_count_system_calls());
    a << b;
    b << a << Ball{1, {}};
    loop.settle();
  }

  template <class Work>
  uint64_t allocations_of(Work work) {
    const uint64_t ours = loop.allocator().allocations();
    const uint64_t before = system_allocations();
    work();
    return system_allocations() - before + loop.allocator().allocations() - ours;
  }

  ClockedLoop loop;
  ActorRef<Player> a = loop.spawn<Player>();
  ActorRef<Player> b = loop.spawn<Player>();
};

TEST_F(Allocations, OfMessagesBetweenActorsAreNone) {
  constexpr uint64_t kMessages = 100'000;
  EXPECT_EQ(allocations_of([&] {
              a << Ball{kMessages, {}};
              loop.settle();
            }),
            0u);
  EXPECT_EQ(loop.run_until(a.ask('?')).value() + loop.run_until(b.ask('?')).value(), kMessages + 3);
}

TEST_F(Allocations, OfMessagesFromOutsideAreNone) {
  const auto burst = [&] {
    for (int i = 0; i < 500; ++i) {
      a << Ball{};
      a.pid() << Ball{};
    }
    loop.settle();
  };
  // Twice, since the last few envelopes of a burst go back to foreign senders with the next.
  burst();
  burst();
  EXPECT_EQ(allocations_of([&] {
              for (int i = 0; i < 10; ++i) burst();
            }),
            0u);
}

// Asks another until it has asked often enough; the answers come by then().
struct Asker {
  struct Answer {
    uint64_t touches;
  };
  explicit Asker(ActorRef<Player> the_other) : other(the_other) {}
  void on(Ball ball, Context& context) {
    other.ask('?').then([self = context.self(*this), ball](Result<uint64_t> result) {
      (void)self.send(Answer{*result});
      if (ball.left > 0) (void)self.send(Ball{ball.left - 1, {}});
    });
  }
  void on(Answer) { ++answers; }
  uint64_t on(char) { return answers; }
  ActorRef<Player> other;
  uint64_t answers = 0;
};

TEST_F(Allocations, OfAsksAreNone) {
  constexpr uint64_t kAsks = 10'000;
  const auto asker = loop.spawn<Asker>(a);
  asker << Ball{10, {}};
  loop.settle();
  EXPECT_EQ(allocations_of([&] {
              asker << Ball{kAsks, {}};
              loop.settle();
            }),
            0u);
  EXPECT_EQ(loop.run_until(asker.ask('?')).value(), kAsks + 12);
}

TEST_F(Allocations, OfTimersAreNone) {
  const auto burst = [&] {
    for (int i = 0; i < 200; ++i) {
      TimerId timer;
      EXPECT_EQ(loop.send_after(1ms, a, Ball{}), Errc::ok);
      EXPECT_EQ(loop.send_after(1ms, a, Ball{}, &timer), Errc::ok);
      EXPECT_EQ(loop.cancel(timer), Errc::ok);
    }
    loop.advance(1ms);
  };
  burst();
  EXPECT_EQ(allocations_of([&] {
              for (int i = 0; i < 10; ++i) burst();
            }),
            0u);
}

}  // namespace
}  // namespace jzx::testing

#endif  // no sanitizer
