// The functions of jzx/detail/fiber.hpp by which fibers are made.
#include <jzx/detail/fiber.hpp>
#include <jzx/system.hpp>

#include "kinds/fiber/fiber.hpp"
#include "kinds/fiber/host_stacks.hpp"
#include "runtime/port.hpp"
#include "runtime/spawn_request.hpp"

namespace jzx::detail {

namespace {

kinds::Fiber& fiber_in(FiberSeat& seat) noexcept { return static_cast<kinds::Fiber&>(seat); }

Errc spawn_on(core::Host& host, kinds::Fiber& fiber, const SpawnRequest& request,
              ActorId& out) noexcept {
  core::SpawnOptions options = runtime::spawn_options(host, request);
  kinds::describe_fiber(host.system, fiber, options);
  const runtime::Spawned spawned = runtime::spawn_bound(host, options, request, out);
  if (!ok(spawned.error) && !spawned.is_body_ended) {
    fiber.destroy_body();
    kinds::give_fiber(host, fiber);
  }
  return spawned.error;
}

[[gnu::noinline]] kinds::Fiber* begin_outside(Port& port, const FiberType& type, size_t stack_size,
                                              Errc& error) noexcept {
  runtime::Call call(port);
  if (!call) return error = Errc::loop_closed, nullptr;
  return kinds::make_fiber(call.host(), type, stack_size, error);
}

}  // namespace

// Both not inlined, also not by a linker: see Executor::current_inlined(). The host is asked for
// again when the body has been made, since making it may have waited.
[[gnu::noinline]] FiberSeat* begin_fiber(Port& port, const FiberType& type, size_t stack_size,
                                         Errc& error) noexcept {
  if (core::Host* here = port.host_here_inlined()) [[likely]]
    return kinds::make_fiber(*here, type, stack_size, error);
  return begin_outside(port, type, stack_size, error);
}

namespace {

// Of one that asks for more than a body, or of a spawn that may fail.
[[gnu::noinline]] Errc finish_uncommon(Port& port, core::Host* here, kinds::Fiber& fiber,
                                       const SpawnRequest& request, ActorId& out) noexcept {
  if (here != nullptr) return spawn_on(*here, fiber, request, out);
  runtime::Call call(port);
  if (call) return spawn_on(call.host(), fiber, request, out);
  // The system was closed since begin_fiber(): there is no host to be used any more.
  fiber.destroy_body();
  kinds::give_fiber(port.system, fiber);
  return Errc::loop_closed;
}

}  // namespace

[[gnu::noinline]] Errc finish_fiber(Port& port, FiberSeat& seat, const SpawnRequest& request,
                                    ActorId& out) noexcept {
  kinds::Fiber& fiber = fiber_in(seat);
  fiber.note_body();
  core::Host* here = port.host_here_inlined();
  if (here != nullptr && runtime::is_common(request) &&
      core::spawn_common(*here, kinds::fiber_kind, kinds::body_for(fiber),
                         kinds::fiber_mailbox(here->system, request.mailbox_cap), true, out))
      [[likely]] {
    return Errc::ok;
  }
  return finish_uncommon(port, here, fiber, request, out);
}

void abort_fiber(Port& port, FiberSeat& seat) noexcept {
  kinds::give_fiber(port.system, fiber_in(seat));
}

namespace {

// Those that are measured and alive. A stack stays mapped as long as its system lives, so it can be
// looked at outside of the actor's lock.
void measure_the_living(core::System& system, kinds::StackMarks& marks) {
  system.actors.for_each_slot_now([&](core::Actor& actor, uint32_t slot) {
    const FiberType* type = nullptr;
    kinds::Stack stack;
    {
      core::Bonds hold(system.is_shared, actor);
      const ActorId id = core::make_id(slot, actor.state.generation());
      if (!system.is_live(actor, id) || actor.kind != &kinds::fiber_kind) return;
      const auto& fiber = *static_cast<const kinds::Fiber*>(actor.body.words[0]);
      if (!fiber.is_measured()) return;
      type = &fiber.type();
      stack = fiber.stack();
    }
    marks.note(*type, stack, kinds::touched_bytes(stack), kinds::StackMarks::Life::goes_on);
  });
}

}  // namespace

std::vector<FiberStackInfo> stack_marks(Port& port) {
  runtime::Call call(port);
  kinds::SystemStacks* stacks = call ? kinds::stacks_of(port.system) : nullptr;
  if (stacks == nullptr) return {};
  measure_the_living(port.system, stacks->marks);
  std::vector<FiberStackInfo> result;
  for (const kinds::StackMark& mark : stacks->marks.list()) {
    result.push_back({mark.type, mark.stack_size, mark.deepest, mark.measured});
  }
  return result;
}

}  // namespace jzx::detail
