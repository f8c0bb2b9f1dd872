// The functions of jzx/detail/fiber.hpp by which fibers are made.
#include <jzx/detail/fiber.hpp>

#include "kinds/fiber/fiber.hpp"
#include "runtime/port.hpp"
#include "runtime/spawn_request.hpp"

namespace jzx::detail {

namespace {

kinds::Fiber& fiber_in(FiberSeat& seat) noexcept { return static_cast<kinds::Fiber&>(seat); }

// The system may have been closed since begin_fiber(): then no host is there to be used.
void give_up(Port& port, const runtime::Call& call, kinds::Fiber& fiber) noexcept {
  if (call) {
    kinds::give_fiber(call.host(), fiber);
  } else {
    kinds::give_fiber(port.system, fiber);
  }
}

}  // namespace

FiberSeat* begin_fiber(Port& port, const FiberType& type, size_t stack_size, Errc& error) noexcept {
  runtime::Call call(port);
  if (!call) return error = Errc::loop_closed, nullptr;
  return kinds::make_fiber(call.host(), type, stack_size, error);
}

void* body_of(FiberSeat& seat) noexcept { return fiber_in(seat).body(); }

Errc finish_fiber(Port& port, FiberSeat& seat, const SpawnRequest& request, ActorId& out) noexcept {
  kinds::Fiber& fiber = fiber_in(seat);
  fiber.note_body();
  runtime::Call call(port);
  runtime::Spawned spawned{Errc::loop_closed, false};
  if (call) {
    core::SpawnOptions options = runtime::spawn_options(call.host(), request);
    kinds::describe_fiber(fiber, options);
    spawned = runtime::spawn_bound(call.host(), options, request, out);
  }
  if (!ok(spawned.error) && !spawned.is_body_ended) {
    fiber.destroy_body();
    give_up(port, call, fiber);
  }
  return spawned.error;
}

void abort_fiber(Port& port, FiberSeat& seat) noexcept {
  runtime::Call call(port);
  give_up(port, call, fiber_in(seat));
}

}  // namespace jzx::detail
