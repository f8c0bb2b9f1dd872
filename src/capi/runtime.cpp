// jzx_runtime_*.
#include "capi/create_runtime.hpp"
#include "capi/loop_handle.hpp"
#include "runtime/runtime_system.hpp"

using jzx::capi::to_c;
using jzx::runtime::RuntimeSystem;

struct jzx_runtime {
  RuntimeSystem* system = nullptr;
  jzx_loop loop;
};

namespace {

void take(uint32_t& option, uint32_t wanted) noexcept {
  if (wanted != 0) option = wanted;
}

jzx::runtime::RuntimeOptions options_from(const jzx_runtime_config& config) noexcept {
  jzx::runtime::RuntimeOptions options;
  const jzx_config& loop = config.loop;
  options.allocator = {loop.allocator.alloc, loop.allocator.free, loop.allocator.ctx};
  options.max_actors = loop.max_actors;
  options.default_mailbox_cap = loop.default_mailbox_cap;
  options.max_msgs_per_actor = loop.max_msgs_per_actor;
  options.max_actors_per_tick = loop.max_actors_per_tick;
  options.max_io_watchers = loop.max_io_watchers;
  options.io_poll_timeout_ms = loop.io_poll_timeout_ms;
  options.workers = config.workers;
  take(options.local_queue, config.local_queue);
  if (config.injection_high_water != 0) options.injection_high_water = config.injection_high_water;
  take(options.steal_batch, config.steal_batch);
  take(options.max_blocking_threads, config.max_blocking_threads);
  options.stall_limit_ms = config.stall_limit_ms;
  return options;
}

}  // namespace

namespace jzx::capi {

jzx_runtime* create_runtime(const jzx_runtime_config* config, const LoopHooks& hooks) noexcept {
  jzx_runtime_config defaults;
  jzx_runtime_config_init(&defaults);
  runtime::RuntimeOptions options = options_from(config != nullptr ? *config : defaults);
  options.clock = hooks.clock;
  RuntimeSystem* system = RuntimeSystem::create(options);
  if (system == nullptr) return nullptr;
  auto* made = options.allocator.create<jzx_runtime>();
  if (made == nullptr) {
    system->destroy();
    return nullptr;
  }
  made->system = system;
  made->loop.port = system;
  system->set_face(&made->loop);
  return made;
}

}  // namespace jzx::capi

extern "C" {

void jzx_runtime_config_init(jzx_runtime_config* config) {
  if (config == nullptr) return;
  *config = jzx_runtime_config{};
  jzx_config_init(&config->loop);
}

jzx_runtime* jzx_runtime_create(const jzx_runtime_config* config) {
  return jzx::capi::create_runtime(config, {});
}

int jzx_runtime_run(jzx_runtime* runtime) {
  if (runtime == nullptr) return JZX_ERR_INVALID_ARG;
  jzx::runtime::Entered<RuntimeSystem> call(runtime->system);
  return call ? to_c(call->run()) : JZX_ERR_LOOP_CLOSED;
}

void jzx_runtime_request_stop(jzx_runtime* runtime) {
  if (runtime != nullptr) runtime->system->request_stop();
}

void jzx_runtime_destroy(jzx_runtime* runtime) {
  if (runtime == nullptr) return;
  const jzx::base::Allocator allocator = runtime->system->system.allocator;
  if (!runtime->system->destroy()) return;
  allocator.destroy(runtime);
}

jzx_loop* jzx_runtime_loop(jzx_runtime* runtime) {
  return runtime == nullptr ? nullptr : &runtime->loop;
}

}  // extern "C"
