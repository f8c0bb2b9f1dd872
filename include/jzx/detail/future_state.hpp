// What the two ends of a future share: the word that decides who goes on (detail/handover.hpp), a
// continuation, and the result. Not for users.
//
//   FutureCore       0 ┌ handover │ resume ─────▶ what the end that comes second does
//                   16 │ cancel ────────────────▶ how the promise's end is asked for an early end
//                   24 │ slot: 48 bytes for the continuation's own use
//   FutureState<T>  72 │ Result<T>
//                      └ blocks of 192 bytes and up, from the thread's cache
//
// The continuation is a function and a slot, and not a std::function: a callback that fits lies in
// the slot and costs no memory, and need not be copyable. A thread that waits is a continuation
// that wakes it; a dropped future is one that ends the state; a coroutine, a then() or a combinator
// puts a pointer to itself in the slot.
//
// A continuation that settles another future does not go on with that one's: it returns it, and
// the loop in go_on() does. So a chain of any length needs no stack.
//
// Cancelling. A promise's end that can end early says how: `cancel` is called by one who knows that
// the state is there, from any thread, perhaps more than once, and the result follows soon: an
// error, or what won the race. Without it the future's end takes back what it left, and goes on by
// itself; see cancel_core().
//
// Lifetime: resume() owns the state. It runs exactly once, when the result is there, on the thread
// of the end that came second; so a state that ends always has a result to end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <jzx/detail/export.hpp>
#include <jzx/detail/handover.hpp>
#include <jzx/pid.hpp>
#include <jzx/result.hpp>

namespace jzx::detail {

class Port;

// ---- memory: a cache per thread, any thread may give back what another took ----

inline constexpr size_t kFutureAlignment = 64;

// nullptr: no memory.
[[nodiscard]] JZX_API void* take_future_block(size_t size) noexcept;
// `size` as it was asked for.
JZX_API void give_future_block(void* block, size_t size) noexcept;

// Where only an exception can tell; a program without them ends.
[[noreturn]] inline void throw_no_memory() {
#ifdef __cpp_exceptions
  throw std::bad_alloc();
#else
  std::abort();
#endif
}

// ---- the untyped part ----

struct FutureCore {
  // Returns whose continuation is next, or nullptr. One that finds that nobody waits any more
  // leaves the state a discard to resume with, and returns it.
  using Resume = FutureCore* (*)(FutureCore& core);
  using Cancel = void (*)(FutureCore& core);
  static constexpr size_t kSlotSize = 48;

  FutureCore(Stage stage, size_t size) noexcept
      : handover(stage), block_size(size & 0x3fffffff), is_ask(false), cancel_on_drop(false) {}
  // Pending, of an ask: who is to answer, if that is known.
  FutureCore(const Pid& asked, size_t size) noexcept
      : handover(Stage::pending),
        block_size(size & 0x3fffffff),
        is_ask(true),
        cancel_on_drop(false) {
    new (slot) Pid(asked);
  }

  // What a continuation left in the slot, of its own type.
  template <class V>
  [[nodiscard]] V& in_slot() noexcept {
    return *std::launder(reinterpret_cast<V*>(slot));
  }

  Handover<> handover;
  const uint8_t filler = 0;  // without a gap, one store makes all up to `resume`
  uint16_t link_offset = 0;  // where the Link of this state is, in words; 0: it has none
  uint32_t block_size : 30;
  uint32_t is_ask : 1;          // until the future's end leaves, the slot holds the Pid
  uint32_t cancel_on_drop : 1;  // who drops the future does not want it to be done
  Resume resume = nullptr;      // written by the future's end before it leaves
  Cancel cancel = nullptr;      // written by the promise's end before there is a future
  alignas(8) std::byte slot[kSlotSize];
};

inline void go_on(FutureCore* core) {
  while (core != nullptr) core = core->resume(*core);
}

// The future's end leaves, and may have to be cancelled. True: the result is there already.
[[nodiscard]] inline bool leave_cancellable(FutureCore& core) noexcept {
  return core.cancel != nullptr ? core.handover.leave() : core.handover.lend();
}
// After that, by one who knows that the state is there. True: taken back, nothing will come and the
// state is no longer the caller's. False: the result comes soon, or is there.
[[nodiscard]] inline bool cancel_core(FutureCore& core) {
  if (core.cancel == nullptr) return core.handover.take_back();
  core.cancel(core);
  return false;
}

// Of a future without a state.
[[nodiscard]] inline Error error_of_none(Errc code) noexcept {
  if (code != Errc::invalid_arg) return Error(code);
  return Error(code, "the future is empty: its result was taken, or it was moved from", "future");
}

// The future's end waits for the result; afterwards the caller owns the state.
JZX_API void wait_for_result(FutureCore& core) noexcept;
// The same, but when the time is up it cancels the future; then is_late is true, and the answer
// may be false: it was taken back, and the state is no longer the caller's.
JZX_API bool wait_for_result(FutureCore& core, std::chrono::milliseconds time,
                             bool& is_late) noexcept;

// ---- the typed part ----

template <class F>
inline constexpr bool fits_slot = sizeof(F) <= FutureCore::kSlotSize && alignof(F) <= 8;

template <class T>
struct FutureState : FutureCore {
  using Value = typename Result<T>::Value;

  // In a stage, or of an ask. nullptr: no memory.
  template <class Origin>
  [[nodiscard]] static FutureState* try_make(const Origin& origin) noexcept {
    static_assert(alignof(FutureState) <= kFutureAlignment,
                  "jzx: the value of a future may not be aligned to more than 64 bytes");
    void* block = take_future_block(sizeof(FutureState));
    if (block == nullptr) return nullptr;
    return new (block) FutureState(origin, sizeof(FutureState));
  }
  // Throws std::bad_alloc.
  [[nodiscard]] static FutureState* make(Stage stage) {
    FutureState* made = try_make(stage);
    if (made == nullptr) throw_no_memory();
    return made;
  }

  // If moving the result throws, nothing was made.
  [[nodiscard]] static FutureState* make_settled(Result<T>&& given) {
    struct Undo {
      ~Undo() {
        if (block != nullptr) give_future_block(block, sizeof(FutureState));
      }
      void* block;
    };
    FutureState* made = make(Stage::settled);
    Undo undo{made};
    made->put_result(std::move(given));
    undo.block = nullptr;
    return made;
  }

  // ---- the promise's end: put_result(), then settle() ----

  template <class... Args>
  void put_result(Args&&... args) {
    std::construct_at(&result, std::forward<Args>(args)...);
  }
  void settle() { go_on(settle_and_return()); }
  // The same. False: nobody wanted the result any more.
  [[nodiscard]] bool settle_if_wanted() {
    const Settled settled = handover.settle();
    if (settled == Settled::first) return true;
    if (settled == Settled::orphaned || resume == &discard) return discard(*this), false;
    FutureCore* next = resume(*this);
    if (next == nullptr) [[likely]]
      return true;
    return go_on_if_wanted(next, this);
  }
  // The same for a continuation: whose turn is next.
  [[nodiscard]] FutureCore* settle_and_return() {
    switch (handover.settle()) {
      case Settled::first:
        return nullptr;
      case Settled::second:
        return this;
      case Settled::orphaned:
        break;
    }
    return discard(*this);
  }

  // ---- the future's end ----

  // Before continue_later() or continue_when_settled(). Throws std::bad_alloc if the callback is
  // large and there is no memory for it.
  template <class F>
  void put_callback(F&& callback) {
    using Callback = std::decay_t<F>;
    if constexpr (fits_slot<Callback>) {
      make_in_slot<Callback>(std::forward<F>(callback));
      resume = &call_back<Callback>;
    } else {
      put_callback(Boxed<Callback>{std::make_unique<Callback>(std::forward<F>(callback))});
    }
  }
  void continue_later() {
    if (handover.leave()) go_on(this);
  }
  // The same, of one that was pending just now.
  void continue_when_settled() {
    if (handover.leave_pending()) [[unlikely]]
      go_on(this);
  }
  void drop() {
    if (cancel_on_drop && !handover.is_settled()) cancel(*this);
    resume = &discard;
    continue_later();
  }
  // The result is there, and this end is the second.
  [[nodiscard]] Result<T> take_result() {
    const End end{*this};
    return std::move(result);
  }

  // Ends a state with a result.
  static FutureCore* discard(FutureCore& core) {
    const End end{static_cast<FutureState&>(core)};
    return nullptr;
  }

  union {
    Result<T> result;
  };

 protected:
  // For states with more behind them: `size` is that of the whole block. What comes behind must
  // have ended, or need no end, when the result is there.
  FutureState(Stage stage, size_t size) noexcept : FutureCore(stage, size) {
    if (stage == Stage::alone) resume = &discard;
  }
  FutureState(const Pid& asked, size_t size) noexcept : FutureCore(asked, size) {}
  ~FutureState() { std::destroy_at(&result); }

 private:
  // If making it throws, what was there before still is.
  template <class Callback, class F>
  void make_in_slot(F&& callback) {
    if constexpr (std::is_nothrow_constructible_v<Callback, F>) {
      new (slot) Callback(std::forward<F>(callback));
    } else {
      struct Undo {
        explicit Undo(FutureCore& the_core) noexcept : core(&the_core) {
          std::memcpy(before, core->slot, sizeof(before));
        }
        ~Undo() {
          if (core != nullptr) std::memcpy(core->slot, before, sizeof(before));
        }
        FutureCore* core;
        std::byte before[sizeof(Pid)];
      } undo(*this);
      new (slot) Callback(std::forward<F>(callback));
      undo.core = nullptr;
    }
  }

  // Of a state that may have ended. Not inlined, so that who settles keeps nothing for it.
  [[nodiscard]] [[gnu::noinline]] static bool go_on_if_wanted(FutureCore* next,
                                                              const FutureCore* settled) {
    const bool is_wanted = next != settled;  // its end is next: nobody waits any more
    go_on(next);
    return is_wanted;
  }

  struct End {
    ~End() {
      const size_t size = state.block_size;
      state.~FutureState();
      give_future_block(&state, size);
    }
    FutureState& state;
  };

  template <class Callback>
  struct Boxed {
    void operator()(Result<T>&& given) && { std::invoke(std::move(*callback), std::move(given)); }
    std::unique_ptr<Callback> callback;
  };

  template <class Callback>
  static FutureCore* call_back(FutureCore& core) {
    const End end{static_cast<FutureState&>(core)};
    struct EndCallback {
      ~EndCallback() { callback.~Callback(); }
      Callback& callback;
    } const last{core.in_slot<Callback>()};
    std::invoke(std::move(last.callback), std::move(end.state.result));
    return nullptr;
  }
};

}  // namespace jzx::detail
