// Waits and sends without memory: refused, and nothing is lost.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include <jzx/jzx.hpp>

namespace {

std::atomic<bool> refuse_all{false};

}  // namespace

// All memory of futures and messages is asked for by these, in this program.
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (refuse_all.load()) return nullptr;
  const auto step = static_cast<size_t>(alignment);
  return std::aligned_alloc(step, (size + step - 1) / step * step);
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }

namespace jzx {
namespace {

// While it is there, no block is to be had on this thread.
class Starvation {
 public:
  Starvation() {
    taken_.reserve(100'000);
    refuse_all.store(true);
    for (size_t size = 64; size <= 1024; size += 64) {
      while (void* block = detail::take_future_block(size)) taken_.push_back({block, size});
    }
  }
  ~Starvation() {
    refuse_all.store(false);
    for (const Taken& one : taken_) detail::give_future_block(one.block, one.size);
  }

 private:
  struct Taken {
    void* block;
    size_t size;
  };
  std::vector<Taken> taken_;
};

TEST(WithoutMemory, LocksAreRefusedAndWorkAgainLater) {
  Mutex mutex;
  Semaphore semaphore(1);
  RwLock lock;
  Latch latch(1);
  Barrier barrier(1);
  Notify notify;
  notify.notify_one();
  {
    const Starvation starvation;
    EXPECT_EQ(mutex.lock().get().error().code(), Errc::no_memory);
    EXPECT_EQ(semaphore.acquire().get().error().code(), Errc::no_memory);
    EXPECT_EQ(lock.read().get().error().code(), Errc::no_memory);
    EXPECT_EQ(lock.write().get().error().code(), Errc::no_memory);
    EXPECT_EQ(latch.wait().get().error().code(), Errc::no_memory);
    EXPECT_EQ(barrier.arrive_and_wait().get().error().code(), Errc::no_memory);
    EXPECT_EQ(notify.wait().get().error().code(), Errc::no_memory);
    EXPECT_TRUE(mutex.try_lock());  // needs none
    EXPECT_TRUE(semaphore.try_acquire());
    EXPECT_TRUE(lock.try_write());
  }
  EXPECT_TRUE(mutex.lock().get().ok());
  EXPECT_EQ(semaphore.available(), 1u);
  EXPECT_TRUE(notify.wait().is_ready());  // the notification was not taken
}

TEST(WithoutMemory, AConditionLeavesTheGuardAlone) {
  Mutex mutex;
  Condition changed(mutex);
  MutexGuard guard = mutex.try_lock();
  {
    const Starvation starvation;
    EXPECT_EQ(changed.wait(std::move(guard)).get().error().code(), Errc::no_memory);
  }
  EXPECT_TRUE(guard);  // NOLINT: that is the point
}

TEST(WithoutMemory, AMessageIsNotSentAndNotLost) {
  auto [sender, receiver] = channel<std::unique_ptr<int>>(2);
  Future<SendPermit<std::unique_ptr<int>>> reserved = sender.reserve();
  Result<SendPermit<std::unique_ptr<int>>> permit = reserved.get();
  ASSERT_TRUE(permit.ok());
  auto message = std::make_unique<int>(1);
  {
    const Starvation starvation;
    EXPECT_EQ(sender.try_send(std::move(message)), Errc::no_memory);
    ASSERT_TRUE(message);  // NOLINT: that is the point
    EXPECT_EQ(permit->send(std::move(message)), Errc::no_memory);
    ASSERT_TRUE(message);
    EXPECT_EQ(sender.reserve().get().error().code(), Errc::no_memory);
    EXPECT_EQ(receiver.ready().get().error().code(), Errc::no_memory);
    EXPECT_EQ(receiver.recv().get().error().code(), Errc::no_memory);
    EXPECT_EQ(receiver.try_recv().error().code(), Errc::empty);
  }
  EXPECT_EQ(permit->send(std::move(message)), Errc::ok);  // the place is still its own
  {
    const Starvation starvation;
    EXPECT_EQ(receiver.recv().get().error().code(), Errc::no_memory);
    EXPECT_TRUE(receiver.try_recv().ok());
  }
}

TEST(WithoutMemory, ABroadcastIsNotHeardAndAValueStays) {
  auto [sender, receiver] = broadcast<int>(2);
  auto [setting, watcher] = watch<int>(1);
  {
    const Starvation starvation;
    EXPECT_EQ(sender.send(1), Errc::no_memory);
    EXPECT_EQ(setting.send(2), Errc::no_memory);
    EXPECT_EQ(receiver.try_recv().error().code(), Errc::empty);
    EXPECT_EQ(*watcher.get(), 1);
  }
}

TEST(WithoutMemory, ASelectLeavesTheFuturesToTheCaller) {
  Notify notify;
  std::array<Future<void>, 2> waits{notify.wait(), notify.wait()};
  {
    const Starvation starvation;
    EXPECT_EQ(select(std::span(waits)).get().error().code(), Errc::no_memory);
  }
  notify.notify_all();
  EXPECT_TRUE(waits[0].get().ok());
  EXPECT_TRUE(waits[1].get().ok());
}

#ifndef JZX_LIBRARY_NOEXCEPT
TEST(WithoutMemory, NothingIsMadeAndAnExceptionSaysSo) {
  const Starvation starvation;
  EXPECT_THROW(Mutex(), std::bad_alloc);
  EXPECT_THROW((void)channel<int>(1), std::bad_alloc);
  EXPECT_THROW((void)broadcast<int>(1), std::bad_alloc);
  EXPECT_THROW((void)watch<int>(1), std::bad_alloc);
}
#endif

}  // namespace
}  // namespace jzx
