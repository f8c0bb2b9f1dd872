// What an observer hears of one actor is in order, also when different workers tell it.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <set>

#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

class OrderWatch final : public Observer {
 public:
  void actor_started(ActorId id, const char*) override {
    const std::lock_guard hold(mutex_);
    alive_.insert(id);
  }
  void actor_stopped(ActorId id, ExitReason, const ExitText&) override {
    const std::lock_guard hold(mutex_);
    if (alive_.erase(id) == 0) ++early_;
  }
  [[nodiscard]] uint64_t early() const {
    const std::lock_guard hold(mutex_);
    return early_;
  }

 private:
  mutable std::mutex mutex_;
  std::set<ActorId> alive_;
  uint64_t early_ = 0;
};

struct Parent {};
struct Child {};
struct Breed {
  Pid parent;
};

// Gives the parent children for as long as there is one.
struct Nurse {
  Gate& has_begun;
  uint64_t on(Breed breed, Context& context) {
    SpawnOptions options;
    options.supervisor = breed.parent;
    uint64_t count = 0;
    for (; context.spawn_with<Child>(options); ++count) has_begun.open();
    return count;
  }
};

// A parent that ends takes children with it that are only just being born elsewhere.
TEST(ObserverOnWorkers, HearsOfAStartBeforeTheEndOfTheSameActor) {
  OrderWatch watch;
  Runtime runtime(RuntimeOptions{.workers = 3, .observer = &watch});
  for (size_t round = 0; round < scaled(2'000, 10); ++round) {
    Gate has_begun;
    const auto parent = runtime.spawn<Parent>();
    const auto nurse = runtime.spawn<Nurse>(has_begun);
    auto born = nurse.ask(Breed{parent});
    ASSERT_TRUE(has_begun.wait());
    EXPECT_EQ(runtime.stop(parent), Errc::ok);
    EXPECT_GT(*born.get(), 0u);
    EXPECT_EQ(runtime.stop(nurse), Errc::ok);
  }
  EXPECT_TRUE(runtime.shutdown(std::chrono::minutes(1)).empty());
  EXPECT_EQ(watch.early(), 0u) << "ends were told before the start";
}

}  // namespace
}  // namespace jzx::testing
