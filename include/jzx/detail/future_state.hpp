// What the two ends of a future share: the word that decides who goes on (detail/handover.hpp), a
// continuation, and the result. Not for users.
//
//   FutureCore       0 ┌ handover │ resume ─────▶ what the end that comes second does
//                   16 │ slot: 48 bytes for that function's own use
//   FutureState<T>  64 │ Result<T>
//                      └ blocks of 192 bytes and up, from the thread's cache
//
// The continuation is a function and a slot, and not a std::function: a callback that fits lies in
// the slot and costs no memory, and need not be copyable. A thread that waits is a continuation
// that wakes it; a dropped future is one that ends the state; a coroutine or a combinator puts its
// handle or its number in the slot.
//
// Lifetime: resume() owns the state. It runs exactly once, when the result is there, on the thread
// of the end that came second; so a state that ends always has a result to end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <jzx/detail/export.hpp>
#include <jzx/detail/handover.hpp>
#include <jzx/result.hpp>

namespace jzx::detail {

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
  using Resume = void (*)(FutureCore& core);
  static constexpr size_t kSlotSize = 48;

  explicit FutureCore(Stage stage) noexcept : handover(stage) {}

  Handover<> handover;
  Resume resume = nullptr;  // written by the future's end before it leaves
  alignas(16) std::byte slot[kSlotSize];
};

// The future's end waits for the result; afterwards the caller owns the state.
JZX_API void wait_for_result(FutureCore& core) noexcept;

// ---- the typed part ----

template <class F>
inline constexpr bool fits_slot = sizeof(F) <= FutureCore::kSlotSize && alignof(F) <= 16;

template <class T>
struct FutureState : FutureCore {
  using Value = typename Result<T>::Value;

  // nullptr: no memory.
  [[nodiscard]] static FutureState* try_make(Stage stage) noexcept {
    static_assert(alignof(FutureState) <= kFutureAlignment,
                  "jzx: the value of a future may not be aligned to more than 64 bytes");
    void* block = take_future_block(sizeof(FutureState));
    if (block == nullptr) return nullptr;
    return new (block) FutureState(stage);
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
  void settle() {
    if (handover.settle()) resume(*this);
  }

  // ---- the future's end ----

  // Before continue_later(). Throws std::bad_alloc if the callback is large and there is no memory
  // for it.
  template <class F>
  void put_callback(F&& callback) {
    using Callback = std::decay_t<F>;
    if constexpr (fits_slot<Callback>) {
      new (slot) Callback(std::forward<F>(callback));
      resume = &call_back<Callback>;
    } else {
      put_callback(Boxed<Callback>{std::make_unique<Callback>(std::forward<F>(callback))});
    }
  }
  void continue_later() {
    if (handover.leave()) resume(*this);
  }
  void drop() {
    resume = &discard;
    continue_later();
  }
  // The result is there, and this end is the second.
  [[nodiscard]] Result<T> take_result() {
    const End end{*this};
    return std::move(result);
  }

  // Ends a state with a result.
  static void discard(FutureCore& core) { const End end{static_cast<FutureState&>(core)}; }

  union {
    Result<T> result;
  };

 private:
  explicit FutureState(Stage stage) noexcept : FutureCore(stage) {
    if (stage == Stage::alone) resume = &discard;
  }
  ~FutureState() { std::destroy_at(&result); }

  struct End {
    ~End() {
      state.~FutureState();
      give_future_block(&state, sizeof(FutureState));
    }
    FutureState& state;
  };

  template <class Callback>
  struct Boxed {
    void operator()(Result<T>&& given) && { std::invoke(std::move(*callback), std::move(given)); }
    std::unique_ptr<Callback> callback;
  };

  template <class Callback>
  static void call_back(FutureCore& core) {
    const End end{static_cast<FutureState&>(core)};
    struct EndCallback {
      ~EndCallback() { callback.~Callback(); }
      Callback& callback;
    } const last{*std::launder(reinterpret_cast<Callback*>(core.slot))};
    std::invoke(std::move(last.callback), std::move(end.state.result));
  }
};

}  // namespace jzx::detail
