// Locks and events.
#include <memory>
#include <thread>

#include "waits/scene.hpp"

namespace jzx::testing {
namespace {

Scene mutex(Stage& stage) {
  struct Things {
    Mutex mutex;
    MutexGuard held = mutex.try_lock();
  };
  auto it = std::make_shared<Things>();
  return scene(
      stage, [it] { return it->mutex.lock(); }, [it] { it->held.unlock(); },
      [it] { return static_cast<bool>(it->mutex.try_lock()); });
}
Scene condition(Stage& stage) {
  struct Things {
    Mutex mutex;
    Condition changed{mutex};
    Latch has_begun{1};
  };
  auto it = std::make_shared<Things>();
  return scene(
      stage,
      [it] {
        Future<MutexGuard> waiting = it->changed.wait(it->mutex.try_lock());
        it->has_begun.count_down();
        return waiting;
      },
      [it] {
        while (!it->has_begun.is_open()) std::this_thread::yield();
        it->changed.notify_one();
      },
      [it] { return static_cast<bool>(it->mutex.try_lock()); });
}
Scene semaphore(Stage& stage) {
  auto it = std::make_shared<Semaphore>(1);
  return scene(
      stage, [it] { return it->acquire(3); }, [it] { it->add_permits(2); },
      [it] { return it->available() == 3; },
      [](const Permit& permit) { return permit.count() == 3; });
}
Scene read(Stage& stage) {
  struct Things {
    RwLock lock;
    WriteGuard held = lock.try_write();
  };
  auto it = std::make_shared<Things>();
  return scene(
      stage, [it] { return it->lock.read(); }, [it] { it->held.unlock(); },
      [it] { return static_cast<bool>(it->lock.try_write()); });
}
Scene write(Stage& stage) {
  struct Things {
    RwLock lock;
    ReadGuard held = lock.try_read();
  };
  auto it = std::make_shared<Things>();
  return scene(
      stage, [it] { return it->lock.write(); }, [it] { it->held.unlock(); },
      [it] { return static_cast<bool>(it->lock.try_write()); });
}
// Kept for the next, if nobody waits: so a cancelled wait has not taken it.
Scene notify(Stage& stage) {
  auto it = std::make_shared<Notify>();
  return scene(
      stage, [it] { return it->wait(); }, [it] { it->notify_one(); },
      [it] { return !it->wait().is_ready(); });
}
Scene latch(Stage& stage) {
  auto it = std::make_shared<Latch>(1);
  return scene(
      stage, [it] { return it->wait(); }, [it] { it->count_down(); },
      [it] { return it->is_open(); });
}
Scene barrier(Stage& stage) {
  struct Things {
    Barrier barrier{2};
    Future<BarrierPass> other;
  };
  auto it = std::make_shared<Things>();
  return scene(
      stage, [it] { return it->barrier.arrive_and_wait(); },
      [it] { it->other = it->barrier.arrive_and_wait(); },
      // Both have passed, and nobody else has arrived.
      [it] { return it->other.is_ready() && !it->barrier.arrive_and_wait().is_ready(); });
}

}  // namespace

std::vector<Kind> lock_kinds() {
  return {{"mutex", &mutex},         {"condition", &condition, Trait::once_only},
          {"semaphore", &semaphore}, {"rw_lock_read", &read},
          {"rw_lock_write", &write}, {"notify", &notify, Trait::takes},
          {"latch", &latch},         {"barrier", &barrier, Trait::takes}};
}

}  // namespace jzx::testing
