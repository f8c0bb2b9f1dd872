// jzx_loop_*, configuration, version.

#include "capi/create_loop.hpp"
#include "capi/loop_handle.hpp"
#include "runtime/waiting_get.hpp"

using jzx::capi::to_c;
using jzx::runtime::LoopSystem;
using Entered = jzx::runtime::Entered<LoopSystem>;

namespace {

constexpr uint32_t kAbiVersion = 1;

jzx::runtime::LoopOptions options_from(const jzx_config& config) noexcept {
  jzx::runtime::LoopOptions options;
  options.allocator = {config.allocator.alloc, config.allocator.free, config.allocator.ctx};
  options.max_actors = config.max_actors;
  options.default_mailbox_cap = config.default_mailbox_cap;
  options.max_msgs_per_actor = config.max_msgs_per_actor;
  options.max_actors_per_tick = config.max_actors_per_tick;
  options.max_io_watchers = config.max_io_watchers;
  options.io_poll_timeout_ms = config.io_poll_timeout_ms;
  return options;
}

// What a call gets that could not enter.
jzx_err refusal(const jzx_loop* loop) noexcept {
  return loop == nullptr ? JZX_ERR_INVALID_ARG : JZX_ERR_LOOP_CLOSED;
}

// What a call gets that is not for the loop of a runtime.
jzx_err refusal_to_run(const jzx_loop* loop) noexcept {
  return loop != nullptr && loop->alone == nullptr ? JZX_ERR_INVALID_ARG : refusal(loop);
}

LoopSystem* loop_of(jzx_loop* loop) noexcept { return loop == nullptr ? nullptr : loop->alone; }
jzx::detail::Port* port_of(jzx_loop* loop) noexcept {
  return loop == nullptr ? nullptr : loop->port;
}

}  // namespace

namespace jzx::capi {

jzx_loop* create_loop(const jzx_config* config, const LoopHooks& hooks) noexcept {
  jzx_config defaults;
  jzx_config_init(&defaults);
  runtime::LoopOptions options = options_from(config != nullptr ? *config : defaults);
  options.clock = hooks.clock;
  LoopSystem* system = LoopSystem::create(options);
  if (system == nullptr) return nullptr;
  auto* loop = options.allocator.create<jzx_loop>();
  if (loop == nullptr) {
    system->destroy();
    return nullptr;
  }
  loop->port = loop->alone = system;
  system->worker.face = loop;
  return loop;
}

core::Ledger ledger(jzx_loop* loop) noexcept { return loop->port->ledger(); }

}  // namespace jzx::capi

extern "C" {

void jzx_config_init(jzx_config* config) {
  if (config == nullptr) return;
  *config = jzx_config{};
  config->allocator.alloc = &jzx::base::Allocator::default_alloc;
  config->allocator.free = &jzx::base::Allocator::default_free;
  config->max_actors = 65536;
  config->default_mailbox_cap = 1024;
  config->max_msgs_per_actor = 64;
  config->max_actors_per_tick = 1024;
  config->max_io_watchers = 1024;
}

jzx_loop* jzx_loop_create(const jzx_config* config) { return jzx::capi::create_loop(config, {}); }

void jzx_loop_destroy(jzx_loop* loop) {
  if (loop == nullptr || loop->alone == nullptr) return;  // a runtime's goes with the runtime
  const jzx::base::Allocator allocator = loop->port->system.allocator;
  if (loop->port->destroy()) allocator.destroy(loop);
}

int jzx_loop_run(jzx_loop* loop) {
  Entered call(loop_of(loop));
  if (!call) return refusal_to_run(loop);
  return jzx::runtime::must_not_block_worker() ? JZX_ERR_INVALID_ARG : to_c(call->loop.run());
}

int jzx_loop_run_once(jzx_loop* loop, uint32_t max_wait_ms) {
  Entered call(loop_of(loop));
  if (!call) return refusal_to_run(loop);
  if (max_wait_ms > 0 && jzx::runtime::must_not_block_worker()) return JZX_ERR_INVALID_ARG;
  bool again = false;
  const jzx::Errc result = call->loop.run_once(max_wait_ms * jzx::base::kNanosPerMilli, again);
  if (result != jzx::Errc::ok) return to_c(result);
  return again ? 1 : 0;
}

int jzx_loop_fd(jzx_loop* loop) {
  jzx::capi::Call call(loop);
  if (call.is_refused()) return call.refusal();
  if (loop->alone == nullptr) return JZX_ERR_INVALID_ARG;
  const int fd = loop->alone->loop.fd();
  return fd >= 0 ? fd : JZX_ERR_IO_REG_FAILED;
}

void jzx_loop_request_stop(jzx_loop* loop) {
  jzx::runtime::Entered<jzx::detail::Port> call(port_of(loop));
  if (call) call->request_stop();
}

void jzx_loop_set_observer(jzx_loop* loop, const jzx_observer* observer, void* ctx) {
  jzx::capi::Call call(loop);
  if (call.is_refused()) return;
  jzx::core::System& system = loop->port->system;
  if (observer == nullptr) return system.set_observer(nullptr);
  loop->observer.set(*observer, ctx);
  system.set_observer(&loop->observer);
}

jzx_err jzx_send_async(jzx_loop* loop, jzx_actor_id target, void* data, size_t len, uint32_t tag) {
  if (tag >= JZX_TAG_SYS_BASE) return JZX_ERR_INVALID_ARG;
  jzx::runtime::Entered<jzx::detail::Port> call(port_of(loop));
  if (!call) return refusal(loop);
  return to_c(call->send_from_anywhere(target, {data, len, tag, 0}));
}

uint32_t jzx_abi_version(void) { return kAbiVersion; }
const char* jzx_version(void) { return JZX_VERSION; }
const char* jzx_strerror(jzx_err err) { return jzx::to_string(static_cast<jzx::Errc>(err)); }

}  // extern "C"
