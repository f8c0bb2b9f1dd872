// jzx_spawn, jzx_send, timers, fds, names, links, monitors.
#include <cstring>

#include "capi/loop_handle.hpp"
#include "core/bonds.hpp"
#include "core/lifecycle.hpp"
#include "core/message_timer.hpp"
#include "core/send.hpp"
#include "runtime/behaviour_child.hpp"

using jzx::ExitReason;
using jzx::capi::Call;
using jzx::capi::to_c;
namespace core = jzx::core;

namespace {

// The C interface reads the memory that the core wrote.
static_assert(sizeof(jzx_child_exit) == core::kSizeOfChildExit);
static_assert(sizeof(jzx_down) == core::kSizeOfDown);
static_assert(sizeof(jzx_exit_signal) == core::kSizeOfExit);
static_assert(sizeof(jzx_io_event) == sizeof(jzx::IoEvent));
static_assert(offsetof(jzx_down, actor) == offsetof(jzx::Down, actor));
static_assert(offsetof(jzx_down, reason) == offsetof(jzx::Down, reason));
static_assert(offsetof(jzx_child_exit, reason) == offsetof(jzx::ChildExit, reason));
static_assert(offsetof(jzx_exit_signal, reason) == offsetof(jzx::Exit, reason));
static_assert(offsetof(jzx_io_event, readiness) == offsetof(jzx::IoEvent, readiness));
static_assert(JZX_TAG_SYS_BASE == core::kFirstSystemTag);
static_assert(JZX_NAME_MAX == core::kMaxNameLength);

template <class T>
void assign(T* out, T value) noexcept {
  if (out != nullptr) *out = value;
}

// Every send that is not the common one: refused, first of a batch, from outside a run, or from a
// foreign thread to a runtime.
[[gnu::noinline]] jzx_err send_uncommon(jzx_loop* loop, jzx_actor_id target, void* data, size_t len,
                                        uint32_t tag) noexcept {
  if (loop != nullptr && loop->alone == nullptr)
    return jzx_send_async(loop, target, data, len, tag);
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  if (tag >= JZX_TAG_SYS_BASE) return JZX_ERR_INVALID_ARG;
  core::Host& host = call.host();
  // Before memory is asked for: an actor that is gone is gone, whether there is memory or not.
  if (host.system.find_open(target) == nullptr) return JZX_ERR_NO_SUCH_ACTOR;
  jzx::Envelope* envelope = host.envelopes.take(&jzx::raw_message_type, host.acting());
  if (envelope == nullptr) return JZX_ERR_NO_MEMORY;
  new (envelope->storage) jzx::RawMessage{data, len, tag, host.acting()};
  const jzx::Errc result = core::send(host, target, *envelope);
  if (result != jzx::Errc::ok) host.envelopes.give(*envelope);
  return to_c(result);
}

jzx_err end_actor(jzx_loop* loop, jzx_actor_id id, ExitReason reason) noexcept {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  return to_c(core::request_exit(call.host(), id, reason));
}

}  // namespace

extern "C" {

jzx_err jzx_spawn(jzx_loop* loop, const jzx_spawn_opts* opts, jzx_actor_id* out) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  if (opts == nullptr || opts->behavior == nullptr) return JZX_ERR_INVALID_ARG;
  jzx_actor_id id = 0;
  const jzx::Errc result = jzx::runtime::spawn_behaviour(call.host(), *opts, id);
  if (result == jzx::Errc::ok) assign(out, id);
  return to_c(result);
}

// Not inlined, also not by a linker: see Executor::current_inlined().
[[gnu::noinline]] jzx_err jzx_send(jzx_loop* loop, jzx_actor_id target, void* data, size_t len,
                                   uint32_t tag) {
  // A handler's send to its own system, which is what most are.
  auto* here = static_cast<core::Host*>(jzx::base::Executor::current_inlined());
  // One that is being destroyed is halted first.
  if (here != nullptr && here->face == loop && loop != nullptr && tag < JZX_TAG_SYS_BASE &&
      !here->halted.load(std::memory_order_relaxed) &&
      core::send_common_raw(*here, target, data, len, tag)) [[likely]] {
    return JZX_OK;
  }
  return send_uncommon(loop, target, data, len, tag);
}

jzx_err jzx_actor_stop(jzx_loop* loop, jzx_actor_id id) {
  return end_actor(loop, id, ExitReason::normal);
}

jzx_err jzx_actor_fail(jzx_loop* loop, jzx_actor_id id) {
  return end_actor(loop, id, ExitReason::fail);
}

jzx_err jzx_send_after(jzx_loop* loop, jzx_actor_id target, uint32_t ms, void* data, size_t len,
                       uint32_t tag, jzx_timer_id* out) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  if (tag >= JZX_TAG_SYS_BASE) return JZX_ERR_INVALID_ARG;
  jzx::Errc error = jzx::Errc::ok;
  core::MessageTimer* timer = core::make_timer(call.host(), target, error);
  if (timer == nullptr) return to_c(error);
  timer->type = &jzx::raw_message_type;
  new (timer->storage) jzx::RawMessage{data, len, tag, timer->sender};
  assign(out, core::arm_timer(call.host(), *timer, ms));
  return JZX_OK;
}

jzx_err jzx_cancel_timer(jzx_loop* loop, jzx_timer_id timer) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  return to_c(core::cancel_timer(call.host(), timer));
}

jzx_err jzx_watch_fd(jzx_loop* loop, int fd, jzx_actor_id owner, uint32_t interest) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  return to_c(loop->port->watches_for(fd).watch(fd, owner, interest));
}

jzx_err jzx_unwatch_fd(jzx_loop* loop, int fd) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  return to_c(loop->port->watches_for(fd).unwatch(fd));
}

jzx_err jzx_register(jzx_loop* loop, jzx_actor_id id, const char* name) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  if (name == nullptr) return JZX_ERR_INVALID_ARG;
  // Not measured further than a name may be long: the rest may not be there.
  return to_c(core::register_name(call.host(), id, {name, strnlen(name, JZX_NAME_MAX + 1)}));
}

jzx_err jzx_whereis(jzx_loop* loop, const char* name, jzx_actor_id* out) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  if (name == nullptr) return JZX_ERR_INVALID_ARG;
  jzx_actor_id id = 0;
  const jzx::Errc result = core::whereis(call.host(), {name, strnlen(name, JZX_NAME_MAX + 1)}, id);
  if (result == jzx::Errc::ok) assign(out, id);
  return to_c(result);
}

jzx_err jzx_link(jzx_loop* loop, jzx_actor_id a, jzx_actor_id b) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  return to_c(core::link(call.host(), a, b));
}

jzx_err jzx_unlink(jzx_loop* loop, jzx_actor_id a, jzx_actor_id b) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  return to_c(core::unlink(call.host(), a, b));
}

jzx_err jzx_monitor(jzx_loop* loop, jzx_actor_id watcher, jzx_actor_id target, uint64_t* out_ref) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  uint64_t ref = 0;
  const jzx::Errc result = core::monitor(call.host(), watcher, target, ref);
  if (result == jzx::Errc::ok) assign(out_ref, ref);
  return to_c(result);
}

jzx_err jzx_demonitor(jzx_loop* loop, uint64_t ref) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  return to_c(core::demonitor(call.host(), ref));
}

jzx_err jzx_trap_exit(jzx_loop* loop, jzx_actor_id id, int on) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  return to_c(core::set_trap_exit(call.host(), id, on != 0));
}

}  // extern "C"
