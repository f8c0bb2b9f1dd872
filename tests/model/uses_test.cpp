// net/uses.hpp: whoever is last closes, and a place beside it is emptied.
#include <gtest/gtest.h>

#include "model/explore.hpp"
#include "net/uses.hpp"

namespace jzx::base::model {
namespace {

using detail::Uses;

// Stands for a file descriptor and what is behind it.
struct Thing {
  Uses uses;
  base::Shared<bool> is_closed{false};
  int closed = 0;

  void close_it() {
    is_closed = true;
    ++closed;
  }
  void use(int& admitted, int& refused) {
    if (!uses.enter()) {
      ++refused;
      return;
    }
    ++admitted;
    MODEL_ASSERT(!is_closed);
    if (uses.leave()) close_it();
  }
};

void use_and_close(const char* name, uint32_t bound, int users, int closers) {
  int admitted = 0, refused = 0;
  expect_always({.name = name, .preemptions = bound}, [&](Scene& scene) {
    auto& thing = scene.make<Thing>();
    for (int i = 0; i < users; ++i) scene.thread([&] { thing.use(admitted, refused); });
    for (int i = 0; i < closers; ++i) {
      scene.thread([&] {
        if (thing.uses.close()) thing.close_it();
      });
    }
    scene.join();
    MODEL_ASSERT(thing.closed == 1);
    MODEL_ASSERT(thing.uses.is_closed() && !thing.uses.enter());
  });
  EXPECT_GT(admitted, 0);
  EXPECT_GT(refused, 0);
}

TEST(Uses, AreClosedOnceByTheLastOfTwoUsers) { use_and_close("uses, 2 users", kUnbounded, 2, 1); }
TEST(Uses, AreClosedOnceByTwoWhoCloseAndOneUser) {
  use_and_close("uses, 2 who close", kUnbounded, 1, 2);
}

// A connection that a listener keeps for the next accept, as Listener does it.
TEST(Uses, NothingIsLeftInAPlaceBesideThem) {
  expect_always({.name = "uses, a place", .preemptions = kUnbounded}, [&](Scene& scene) {
    auto& uses = scene.make<Uses>();
    auto& place = scene.make<base::Atomic<int>>(0);
    const auto take = [&] {
      if (place.load(std::memory_order_seq_cst) != 0) place.exchange(0, std::memory_order_acq_rel);
    };
    scene.thread([&] {
      place.exchange(1, std::memory_order_seq_cst);
      if (uses.is_closed()) take();
    });
    scene.thread([&] {
      (void)uses.close();
      take();
    });
    scene.join();
    MODEL_ASSERT(place.load(std::memory_order_relaxed) == 0);
  });
}

}  // namespace
}  // namespace jzx::base::model
