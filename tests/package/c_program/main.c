/* An outside program in C: an actor that stops at its first message. */
#include <jzx/jzx.h>
#include <stdio.h>

static jzx_behavior_result stop_at_first(jzx_context* ctx, const jzx_message* msg) {
  int* handled = ctx->state;
  *handled += msg->tag == 7;
  return JZX_BEHAVIOR_STOP;
}

int main(void) {
  int handled = 0;
  jzx_actor_id actor = 0;
  const jzx_spawn_opts opts = {.behavior = stop_at_first, .state = &handled, .name = "outsider"};

  jzx_loop* loop = jzx_loop_create(NULL);
  if (loop == NULL) return 1;
  if (jzx_spawn(loop, &opts, &actor) != JZX_OK) return 2;
  if (jzx_send(loop, actor, NULL, 0, 7) != JZX_OK) return 3;
  if (jzx_loop_run(loop) != 0) return 4;
  jzx_loop_destroy(loop);
  if (handled != 1) return 5;
  printf("libjzx %s: one message handled\n", jzx_version());
  return 0;
}
