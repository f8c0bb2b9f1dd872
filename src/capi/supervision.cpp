// jzx_spawn_supervisor and what goes with it: specs are checked, then copied deeply.
#include <cstring>

#include "capi/loop_handle.hpp"
#include "runtime/behaviour_child.hpp"

namespace core = jzx::core;
using jzx::Errc;
using jzx::base::Allocator;
using jzx::capi::Call;
using jzx::capi::to_c;
using jzx::supervise::ChildSpec;
using jzx::supervise::Plan;

namespace {

static_assert(JZX_NO_STOP_LIMIT == core::kNoStopLimit);

jzx::supervise::BackoffSpec backoff_from(const jzx_backoff_spec& spec) noexcept {
  return {spec.initial_delay_ms, spec.max_delay_ms, spec.factor, spec.jitter_ms};
}

bool is_valid(const jzx_supervisor_init& init, int depth) noexcept;

bool is_valid(const jzx_child_spec& child, int depth) noexcept {
  if (child.mode < JZX_CHILD_PERMANENT || child.mode > JZX_CHILD_TEMPORARY) return false;
  if (child.backoff != nullptr && !backoff_from(*child.backoff).is_valid()) return false;
  if (child.supervisor == nullptr) return child.behavior != nullptr;
  return child.behavior == nullptr && depth < jzx::supervise::kMostNested &&
         is_valid(*child.supervisor, depth + 1);
}

bool is_valid(const jzx_supervisor_init& init, int depth) noexcept {
  if (init.supervisor.strategy < JZX_SUP_ONE_FOR_ONE ||
      init.supervisor.strategy > JZX_SUP_REST_FOR_ONE || init.supervisor.period_ms == 0) {
    return false;
  }
  if (init.child_count > 0 && init.children == nullptr) return false;
  for (size_t i = 0; i < init.child_count; ++i) {
    if (!is_valid(init.children[i], depth)) return false;
  }
  return true;
}

Plan* copy_plan(const Allocator& allocator, const jzx_supervisor_init& init) noexcept;

// False: no memory; what was copied so far is in `copy`, for its owner to dispose of.
bool copy_child(const Allocator& allocator, const jzx_child_spec& spec, ChildSpec& copy) noexcept {
  copy.mode = static_cast<jzx::supervise::ChildMode>(spec.mode);
  copy.mailbox_cap = spec.mailbox_cap;
  if (spec.stop_within_ms != 0) {
    copy.stop_within_ms = spec.stop_within_ms;
  } else if (spec.supervisor != nullptr) {
    copy.stop_within_ms = core::kNoStopLimit;
  }
  copy.has_backoff = spec.backoff != nullptr;
  if (copy.has_backoff) copy.backoff = backoff_from(*spec.backoff);
  if (spec.name != nullptr) {
    const size_t size = std::strlen(spec.name) + 1;
    copy.name = static_cast<char*>(allocator.allocate(size));
    if (copy.name == nullptr) return false;
    std::memcpy(copy.name, spec.name, size);
  }
  if (spec.supervisor == nullptr) {
    copy.factory = jzx::runtime::make_behaviour_child(allocator, spec);
    return copy.factory != nullptr;
  }
  Plan* nested = copy_plan(allocator, *spec.supervisor);
  if (nested == nullptr) return false;
  copy.factory = jzx::supervise::make_nested(allocator, *nested);
  if (copy.factory == nullptr) nested->dispose(allocator);
  return copy.factory != nullptr;
}

Plan* copy_plan(const Allocator& allocator, const jzx_supervisor_init& init) noexcept {
  Plan* plan = Plan::create(allocator, init.child_count);
  if (plan == nullptr) return nullptr;
  plan->supervisor = {static_cast<jzx::supervise::Strategy>(init.supervisor.strategy),
                      init.supervisor.intensity, init.supervisor.period_ms};
  for (size_t i = 0; i < init.child_count; ++i) {
    if (!copy_child(allocator, init.children[i], plan->children[i])) {
      plan->dispose(allocator);
      return nullptr;
    }
  }
  return plan;
}

}  // namespace

extern "C" {

jzx_err jzx_spawn_supervisor(jzx_loop* loop, const jzx_supervisor_init* init, jzx_actor_id parent,
                             jzx_actor_id* out) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  if (init == nullptr || !is_valid(*init, 1)) return JZX_ERR_INVALID_ARG;
  Plan* plan = copy_plan(call.host().system.allocator, *init);
  if (plan == nullptr) return JZX_ERR_NO_MEMORY;
  jzx_actor_id id = 0;
  const Errc result = jzx::supervise::spawn_supervisor(call.host(), *plan, true, parent, id);
  if (result == Errc::ok && out != nullptr) *out = id;
  return to_c(result);
}

jzx_err jzx_supervisor_child_id(jzx_loop* loop, jzx_actor_id supervisor, size_t index,
                                jzx_actor_id* out) {
  Call call(loop);
  if (call.is_refused()) return call.refusal();
  jzx_actor_id id = 0;
  const Errc result = jzx::supervise::child_id(call.host(), supervisor, index, id);
  if (result == Errc::ok && out != nullptr) *out = id;
  return to_c(result);
}

}  // extern "C"
