// Semaphore: a number of permits, handed out in the order in which they are asked for.
//
//   jzx::Semaphore connections(10);
//   auto asked = connections.acquire();
//   jzx::Permit permit = co_await co_await asked;      // given back when it ends
//
// Fair: nobody overtakes one who waits, also not one who wants less. A wait that is cancelled or
// dropped takes nothing; a permit that came meanwhile is given back by its end. A semaphore that
// ends answers Errc::closed to those who wait; permits may outlive it.
//
// Threads: any, all functions; a Permit by one at a time.
#pragma once

#include <cstddef>
#include <utility>

#include <jzx/detail/sync_wait.hpp>
#include <jzx/future.hpp>

namespace jzx {

namespace sync {
class SemaphoreCore;
}
namespace detail {
JZX_API void give_permits(sync::SemaphoreCore& core, size_t count) noexcept;
JZX_API void forget_permits(sync::SemaphoreCore& core) noexcept;
[[nodiscard]] JZX_API sync::SemaphoreCore& semaphore_of(Waiter& waiter) noexcept;
}  // namespace detail

class [[nodiscard]] Permit {
 public:
  Permit() noexcept = default;
  Permit(Permit&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  Permit& operator=(Permit&& other) noexcept {
    if (this == &other) return *this;
    release();
    core_ = std::exchange(other.core_, nullptr);
    count_ = std::exchange(other.count_, 0);
    return *this;
  }
  ~Permit() { release(); }

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  // How many it stands for.
  [[nodiscard]] size_t count() const noexcept { return count_; }
  // Gives them back early.
  void release() noexcept {
    if (core_ == nullptr) return;
    detail::give_permits(*std::exchange(core_, nullptr), std::exchange(count_, 0));
  }
  // They are gone for good.
  void forget() noexcept {
    if (core_ == nullptr) return;
    count_ = 0;
    detail::forget_permits(*std::exchange(core_, nullptr));
  }

  // ---- for the library ----
  explicit Permit(detail::Waiter& granted) noexcept
      : core_(&detail::semaphore_of(granted)), count_(granted.amount) {}
  Permit(sync::SemaphoreCore& core, size_t count) noexcept : core_(&core), count_(count) {}
  [[nodiscard]] bool is_of(const sync::SemaphoreCore& core) const noexcept {
    return core_ == &core;
  }
  // The caller sees to what it stands for.
  void disown() noexcept {
    core_ = nullptr;
    count_ = 0;
  }

 private:
  sync::SemaphoreCore* core_ = nullptr;
  size_t count_ = 0;
};

class Semaphore {
 public:
  // Throws std::bad_alloc; so do the other types of this folder.
  JZX_API explicit Semaphore(size_t permits);
  JZX_API ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  [[nodiscard]] JZX_API Future<Permit> acquire(size_t count = 1) noexcept;
  // An empty one: there are not enough now, or somebody waits. Needs no memory.
  [[nodiscard]] JZX_API Permit try_acquire(size_t count = 1) noexcept;
  JZX_API void add_permits(size_t count) noexcept;
  // A moment's truth.
  [[nodiscard]] JZX_API size_t available() const noexcept;
  // Whoever waits, or asks from now on, is answered Errc::closed.
  JZX_API void close() noexcept;

 private:
  sync::SemaphoreCore& core_;
};

}  // namespace jzx
