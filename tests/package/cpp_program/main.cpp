// An outside program in C++: an actor that stops at its first message.
#include <jzx/jzx.h>

#include <cstdio>

namespace {

jzx_behavior_result stop_at_first(jzx_context* ctx, const jzx_message* msg) {
  if (msg->tag == 7) ++*static_cast<int*>(ctx->state);
  return JZX_BEHAVIOR_STOP;
}

}  // namespace

int main() {
  int handled = 0;
  jzx_actor_id actor = 0;
  jzx_spawn_opts opts{};
  opts.behavior = stop_at_first;
  opts.state = &handled;

  jzx_loop* loop = jzx_loop_create(nullptr);
  if (loop == nullptr) return 1;
  if (jzx_spawn(loop, &opts, &actor) != JZX_OK) return 2;
  if (jzx_send(loop, actor, nullptr, 0, 7) != JZX_OK) return 3;
  if (jzx_loop_run(loop) != 0) return 4;
  jzx_loop_destroy(loop);
  if (handled != 1) return 5;
  std::printf("libjzx %s: one message handled\n", jzx_version());
  return 0;
}
