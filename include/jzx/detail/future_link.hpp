// A link of a chain: a future whose result is made from that of another one, its upstream. What
// then(), catch_error(), finally() and map_error() return. Not for users.
//
//   upstream ──result──▶ step(link, result) ──▶ link ──▶ …
//        ◀──cancel───────────────────────────── link
//
// The step is in the link and not in the upstream's slot, so that a link whose upstream is taken
// back still has it: a cancelled chain runs its catch_error() and finally().
//
// Lifetime: the step ends when it has run, before the link has a result. The upstream ends with it;
// until then the tether keeps it there for a canceller.
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <jzx/detail/future_state.hpp>
#include <jzx/detail/tether.hpp>

namespace jzx {

template <class T>
class Future;

namespace detail {

// ---- what a step may return, and what future that makes ----

template <class R>
struct Linked {
  using Value = R;
};
template <class V>
struct Linked<Future<V>> {
  using Value = V;
};
template <class V>
struct Linked<Result<V>> {
  using Value = V;
};
template <class R>
using LinkedValue = typename Linked<R>::Value;

template <class R>
inline constexpr bool is_future = false;
template <class V>
inline constexpr bool is_future<Future<V>> = true;

// Stands for a value of exactly this type: no function gets it by a conversion.
template <class V>
struct Precisely {
  template <class X>
  requires std::same_as<std::remove_cv_t<X>, V>
  operator X&&() const noexcept;  // NOLINT: it is one, as far as functions can tell
};

// Does the function take the whole result, and not only the value?
template <class F, class T>
concept TakesResult = std::is_invocable_v<std::decay_t<F>, Precisely<Result<T>>>;

template <class F, class T>
struct ValueCall : std::invoke_result<F, T> {};
template <class F>
struct ValueCall<F, void> : std::invoke_result<F> {};
template <class F, class T>
concept TakesValue = requires {
  typename ValueCall<std::decay_t<F>, T>::type;
};

template <class F, class T>
decltype(auto) call_with_value(F&& function, Result<T>&& result) {
  if constexpr (std::is_void_v<T>) {
    return std::invoke(std::forward<F>(function));
  } else {
    return std::invoke(std::forward<F>(function), std::move(result).value());
  }
}

// ---- the link ----

// The untyped part: to whom it is tied, and how it goes on when that has come.
struct Link {
  // `has_result`: the upstream has one; else it was taken back.
  using Proceed = FutureCore* (*)(Link& link, bool has_result);

  // Waits for the upstream; whose continuation is next.
  [[nodiscard]] FutureCore* wait_for(FutureCore& core, Proceed then) {
    upstream = &core;
    proceed = then;
    new (core.slot) Link*(this);
    core.resume = &arrive;
    if (!tether.tie()) return wait_cancelled(core);
    if (!leave_cancellable(core)) return nullptr;
    return tether.untie() ? proceed(*this, true) : nullptr;
  }
  // Down the chain, hand over hand, for which no stack is needed: the tether of a link keeps its
  // upstream there until that one's own tether is held, which then cannot be settled.
  void cancel() {
    if (!tether.begin_cancel()) return;
    Link* held = this;
    while (Link* next = of(*held->upstream)) {
      const bool is_held = next->tether.begin_cancel();
      held->end_cancel(false);
      if (!is_held) return;
      held = next;
    }
    held->end_cancel(cancel_core(*held->upstream));
  }

  Tether<> tether;
  FutureCore* upstream = nullptr;
  Proceed proceed = nullptr;

 private:
  // The link that a state is, or nullptr.
  [[nodiscard]] static Link* of(FutureCore& core) noexcept {
    if (core.link_offset == 0) return nullptr;
    return reinterpret_cast<Link*>(reinterpret_cast<std::byte*>(&core) + core.link_offset * 8u);
  }
  void end_cancel(bool is_taken_back) {
    switch (tether.end_cancel(is_taken_back)) {
      case Cancelled::nothing:
        return;
      case Cancelled::go_on:
        return go_on(proceed(*this, true));
      case Cancelled::taken_back:
        return go_on(proceed(*this, false));
    }
  }
  // It was cancelled before it began to wait.
  [[nodiscard]] FutureCore* wait_cancelled(FutureCore& core) {
    tether.hold_cancelled();
    const bool can_cancel = core.cancel != nullptr;
    if (can_cancel) core.cancel(core);
    const bool is_there = leave_cancellable(core);
    const bool is_over = is_there || (!can_cancel && core.handover.take_back());
    switch (tether.end_cancel(is_over)) {
      case Cancelled::nothing:
        return nullptr;
      case Cancelled::go_on:
        return proceed(*this, true);
      case Cancelled::taken_back:
        break;
    }
    return proceed(*this, is_there);
  }
  static FutureCore* arrive(FutureCore& core) {
    Link& link = *core.in_slot<Link*>();
    return link.tether.arrive() ? link.proceed(link, true) : nullptr;
  }
};

// A link to a future of T; its own result is a U.
template <class T, class U, class Step>
struct LinkState final : FutureState<U>, Link {
  using Upstream = FutureState<T>;

  // The step is still to be made.
  LinkState() noexcept : FutureState<U>(Stage::pending, sizeof(LinkState)) {
    this->FutureCore::cancel = &cancel_link;
    const auto offset = reinterpret_cast<std::byte*>(static_cast<Link*>(this)) -
                        reinterpret_cast<std::byte*>(static_cast<FutureCore*>(this));
    // Behind a value of half a megabyte it is cancelled like any other future.
    if (offset <= 8 * UINT16_MAX) this->link_offset = static_cast<uint16_t>(offset / 8);
  }
  ~LinkState() = delete;  // the state ends by itself

  // Throws std::bad_alloc, and what moving the step throws: then nothing was made.
  template <class S>
  [[nodiscard]] static LinkState* make(S&& the_step) {
    static_assert(alignof(LinkState) <= kFutureAlignment);
    struct Undo {
      ~Undo() {
        if (block != nullptr) give_future_block(block, sizeof(LinkState));
      }
      void* block;
    } undo{take_future_block(sizeof(LinkState))};
    if (undo.block == nullptr) throw_no_memory();
    auto* made = ::new (undo.block) LinkState;
    // If this throws, the link goes as it came: it has no result to end.
    std::construct_at(&made->step, std::forward<S>(the_step));
    undo.block = nullptr;
    return made;
  }

  // The upstream has this result.
  [[nodiscard]] FutureCore* go_on_with(Result<T>&& input) {
    FutureState<U>* inner = nullptr;
    {
      struct EndStep {
        ~EndStep() { step.~Step(); }
        Step& step;
      } const end{step};
      inner = std::move(step)(*this, std::move(input));
    }
    // Not before: who takes the result ends this memory.
    return inner != nullptr ? this->wait_for(*inner, &take_inner) : this->settle_and_return();
  }
  static FutureCore* take_upstream(Link& link, bool has_result) {
    auto& self = static_cast<LinkState&>(link);
    if (!has_result) return self.go_on_with(Error(Errc::cancelled));
    return self.go_on_with(static_cast<Upstream*>(self.upstream)->take_result());
  }

  // ---- for the step: one of these, last ----

  template <class... Args>
  [[nodiscard]] FutureState<U>* finish(Args&&... args) {
    this->put_result(std::forward<Args>(args)...);
    return nullptr;
  }
  // With what the function returns: a value, a result, or another future to wait for.
  template <class F>
  [[nodiscard]] FutureState<U>* finish_by(F&& function) {
    using R = std::invoke_result_t<F>;
#ifdef __cpp_exceptions
    try {
#endif
      if constexpr (is_future<R>) {
        R inner = function();
        if (FutureState<U>* state = inner.release_pending()) return state;
        this->put_result(inner.take());
      } else if constexpr (std::is_void_v<R>) {
        function();
        this->put_result();
      } else {
        this->put_result(function());
      }
#ifdef __cpp_exceptions
    } catch (...) {
      this->put_result(Error::of_exception("then"));
    }
#endif
    return nullptr;
  }

  union {
    Step step;
  };

 private:
  static FutureCore* take_inner(Link& link, bool has_result) {
    auto& self = static_cast<LinkState&>(link);
    if (has_result) {
      self.put_result(static_cast<FutureState<U>*>(self.upstream)->take_result());
    } else {
      self.put_result(Error(Errc::cancelled));
    }
    return self.settle_and_return();
  }
  static void cancel_link(FutureCore& core) { static_cast<LinkState&>(core).Link::cancel(); }
};

// ---- the steps ----

// The function gets the value; an error passes by.
template <class F>
struct ThenStep {
  F function;
  template <class L, class T>
  auto operator()(L& link, Result<T>&& input) && {
    if (!input) return link.finish(input.error());
    return link.finish_by(
        [&]() -> decltype(auto) { return call_with_value(std::move(function), std::move(input)); });
  }
};
// The function gets the result.
template <class F>
struct ResultStep {
  F function;
  template <class L, class T>
  auto operator()(L& link, Result<T>&& input) && {
    return link.finish_by(
        [&]() -> decltype(auto) { return std::invoke(std::move(function), std::move(input)); });
  }
};
// The function gets the error; a value passes by.
template <class F>
struct CatchStep {
  F function;
  template <class L, class T>
  auto operator()(L& link, Result<T>&& input) && {
    if (input) return link.finish(std::move(input));
    return link.finish_by(
        [&]() -> decltype(auto) { return std::invoke(std::move(function), input.error()); });
  }
};
// The function is called in any case; the result passes by, unless the function throws.
template <class F>
struct FinallyStep {
  F function;
  template <class L, class T>
  auto operator()(L& link, Result<T>&& input) && {
    return link.finish_by([&]() -> Result<T> {
      std::invoke(std::move(function));
      return std::move(input);
    });
  }
};
template <class F>
struct MapErrorStep {
  F function;
  template <class L, class T>
  auto operator()(L& link, Result<T>&& input) && {
    return link.finish_by([&]() -> Result<T> {
      if (input) return std::move(input);
      return Error(std::invoke(std::move(function), input.error()));
    });
  }
};

}  // namespace detail
}  // namespace jzx
