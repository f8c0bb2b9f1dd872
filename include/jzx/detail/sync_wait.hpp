// A wait for a lock, a channel or whatever else src/sync has: a future whose state has the place in
// the queue in it, so that waiting takes one block of memory. Not for users.
//
//   WaitState<T>  ┌ FutureState<T>
//                 │ Waiter ⇄ other waiters, in a queue of the core
//                 └
//
// Who is granted is decided under the core's lock, by taking the waiter out of its queue. Who
// settles the future is decided by claim(): a canceller that claims first comes to the lock, finds
// out there whether the waiter was granted meanwhile, and settles it either way. So a canceller
// that comes too late does not touch the core at all, which may be gone by then.
//
// Threads: a waiter's links and words belong to the core's lock; claim() is for all.
#pragma once

#include <atomic>
#include <new>
#include <type_traits>
#include <utility>

#include <jzx/future.hpp>

namespace jzx::sync {
class Core;
}

namespace jzx::detail {

struct WaiterLink {
  WaiterLink* next = nullptr;
  WaiterLink* prev = nullptr;
};

struct Waiter : WaiterLink {
  using Settle = void (*)(Waiter& waiter);

  // What the templates know of it.
  Settle settle = nullptr;  // gives the future its result, by `outcome`
  const char* source = "";  // of an error
  bool is_guarded = false;  // a grant is a guard, which refers to the core
  std::atomic<bool> is_claimed{false};

  // The core's.
  sync::Core* core = nullptr;
  void* place = nullptr;  // for the core's own use
  size_t amount = 0;      // how much is wanted
  uint8_t mode = 0;       // for the core's own use
  Errc outcome = Errc::ok;

  [[nodiscard]] bool is_linked() const noexcept { return next != nullptr; }
  // True: the caller settles the future. relaxed: only one may; what it needs to know else it has
  // seen, or sees, under the core's lock.
  [[nodiscard]] bool claim() noexcept {
    return !is_claimed.exchange(true, std::memory_order_relaxed);
  }
};

// The canceller's part; see above.
JZX_API void cancel_wait(Waiter& waiter) noexcept;

// Why an end of a channel has nothing to give or to take.
[[nodiscard]] inline Error receiver_error(Errc code, const char* source) noexcept {
  const bool is_empty = code == Errc::invalid_arg;
  return Error(code,
               is_empty ? "the receiver is empty: it was moved from, or never had a channel" : "",
               source);
}
[[nodiscard]] inline Error sender_error(Errc code, const char* source) noexcept {
  const bool is_empty = code == Errc::invalid_arg;
  return Error(code,
               is_empty ? "the sender is empty: it was moved from, or never had a channel" : "",
               source);
}

// T is void, or made from the Waiter that was granted.
template <class T>
struct WaitState final : FutureState<T>, Waiter {
  // nullptr: no memory.
  [[nodiscard]] static WaitState* try_make(const char* source) noexcept {
    static_assert(alignof(WaitState) <= kFutureAlignment);
    void* block = take_future_block(sizeof(WaitState));
    if (block == nullptr) return nullptr;
    return ::new (block) WaitState(source);
  }

 private:
  explicit WaitState(const char* source_name) noexcept
      : FutureState<T>(Stage::pending, sizeof(WaitState)) {
    this->FutureCore::cancel = &cancelled;
    this->cancel_on_drop = true;
    this->Waiter::settle = &settled;
    this->source = source_name;
    // A guard has something to do at its end; other values do not refer to the core.
    this->is_guarded = !std::is_void_v<T> && !std::is_trivially_destructible_v<T>;
  }
  ~WaitState() = delete;  // the state ends by itself

  static void settled(Waiter& waiter) {
    auto& self = static_cast<WaitState&>(waiter);
    if (!ok(self.outcome)) {
      self.put_result(Error(self.outcome, {}, self.source));
    } else if constexpr (std::is_void_v<T>) {
      self.put_result();
    } else {
      self.put_result(std::in_place, waiter);
    }
    self.FutureState<T>::settle();
  }
  static void cancelled(FutureCore& core) { cancel_wait(static_cast<WaitState&>(core)); }
};

// Makes the future, and lets `enter(waiter)` queue its waiter, or answer it at once.
template <class T, class Enter>
[[nodiscard]] Future<T> wait_in(const char* source, Enter&& enter) {
  auto* state = WaitState<T>::try_make(source);
  if (state == nullptr) return Future<T>::failed(Errc::no_memory);
  Future<T> future(state);
  enter(static_cast<Waiter&>(*state));
  return future;
}

}  // namespace jzx::detail
