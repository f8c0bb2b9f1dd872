// How a function becomes the body of a fiber: it is moved to the top of the fiber's stack. Not for
// users; see SystemFace::spawn_fn().
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <jzx/detail/fiber.hpp>
#include <jzx/detail/message.hpp>

namespace jzx::detail {

template <class F, class... Args>
concept FiberFunction = std::is_invocable_v < std::decay_t<F>
&, std::decay_t<Args>... > ;

template <class F>
void run_body(void* body) {
  (void)std::invoke(std::move(*static_cast<F*>(body)));
}
template <class F>
void destroy_body(void* body) noexcept {
  static_cast<F*>(body)->~F();
}

template <class F>
inline constexpr FiberType fiber_type{type_name<F>.data(), sizeof(F), &run_body<F>,
                                      &destroy_body<F>};

// What captures more lies outside of the stack.
inline constexpr size_t kLargestBody = 1024;

template <class F>
struct BoxedBody {
  void operator()() && { (void)std::invoke(std::move(*body)); }
  std::unique_ptr<F> body;
};

template <class F, class... Args>
[[nodiscard]] auto bind_body(F&& body, Args&&... args) {
  return [body = std::decay_t<F>(std::forward<F>(body)),
          args = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)]() mutable {
    (void)std::apply(body, std::move(args));
  };
}

// A fiber with its body, for finish_fiber(); nullptr and the error. Throws what moving the function
// throws.
template <class F>
[[nodiscard]] FiberSeat* make_fiber_body(Port& port, size_t stack_size, F&& body, Errc& error) {
  using Body = std::decay_t<F>;
  static_assert(std::is_invocable_v<Body>,
                "jzx: spawn_fn() takes a function without parameters; see spawn() for others");
  static_assert(alignof(Body) <= alignof(std::max_align_t),
                "jzx: what a fiber's function captures may not be over-aligned");
  if constexpr (sizeof(Body) > kLargestBody) {
    BoxedBody<Body> boxed{std::make_unique<Body>(std::forward<F>(body))};
    return make_fiber_body(port, stack_size, std::move(boxed), error);
  } else {
    FiberSeat* seat = begin_fiber(port, fiber_type<Body>, stack_size, error);
    if (seat == nullptr) return nullptr;
    // If moving the function throws, the stack goes back.
    struct Undo {
      ~Undo() {
        if (seat != nullptr) abort_fiber(port, *seat);
      }
      Port& port;
      FiberSeat* seat;
    } undo{port, seat};
    new (seat->body) Body(std::forward<F>(body));
    undo.seat = nullptr;
    return seat;
  }
}

template <class F>
[[nodiscard]] Errc spawn_fiber(Port& port, size_t stack_size, const SpawnRequest& request, F&& body,
                               ActorId& out) {
  Errc error = Errc::ok;
  FiberSeat* seat = make_fiber_body(port, stack_size, std::forward<F>(body), error);
  return seat != nullptr ? finish_fiber(port, *seat, request, out) : error;
}

}  // namespace jzx::detail
