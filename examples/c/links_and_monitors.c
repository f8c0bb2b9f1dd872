/*
 * links_and_monitors: two ways for one actor to hear of another one's end.
 *
 *   monitor   one-way, harmless: the watcher gets exactly one JZX_TAG_SYS_DOWN
 *   link      two-way, fatal: an abnormal end of one ends the other too, unless that
 *             one traps exits and then gets a JZX_TAG_SYS_EXIT message instead
 *
 * A narrator plays one scene after the other; each scene begins when the previous
 * one's last message has arrived.
 */
#include <jzx/jzx.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_NEXT_SCENE = 1, TAG_FAIL, TAG_STOP, TAG_PING, TAG_PONG, TAG_SURVIVED };

typedef struct narrator_state {
  int scene;
  jzx_actor_id first, second; /* the actors of the current scene */
  uint64_t monitor;           /* the reference that the awaited DOWN carries */
  int scenes_done;
} narrator_state;

static const char* reason_text(jzx_exit_reason reason) {
  switch (reason) {
    case JZX_EXIT_NORMAL:
      return "normal";
    case JZX_EXIT_FAIL:
      return "failed";
    case JZX_EXIT_PANIC:
      return "panic";
    case JZX_EXIT_NOPROC:
      return "already gone";
    case JZX_EXIT_KILLED:
      return "killed";
  }
  return "unknown";
}

/* Does what it is told. Its state is the narrator's id. */
static jzx_behavior_result puppet(jzx_context* ctx, const jzx_message* msg) {
  const jzx_actor_id* narrator_id = ctx->state;
  switch (msg->tag) {
    case TAG_FAIL:
      return JZX_BEHAVIOR_FAIL;
    case TAG_STOP:
      return JZX_BEHAVIOR_STOP;
    case TAG_PING:
      jzx_send(ctx->loop, msg->sender, NULL, 0, TAG_PONG);
      return JZX_BEHAVIOR_OK;
    case JZX_TAG_SYS_EXIT: { /* only to those that trap exits */
      const jzx_exit_signal* signal = msg->data;
      printf("  the trapping actor got an exit message: %s\n", reason_text(signal->reason));
      jzx_send(ctx->loop, *narrator_id, NULL, 0, TAG_SURVIVED);
      return JZX_BEHAVIOR_OK;
    }
    default:
      return JZX_BEHAVIOR_OK;
  }
}

static jzx_actor_id g_narrator; /* set once, before the loop runs */

static jzx_err spawn_pair(jzx_context* ctx, narrator_state* s) {
  const jzx_spawn_opts opts = {.behavior = puppet, .state = &g_narrator, .name = "puppet"};
  jzx_err err = jzx_spawn(ctx->loop, &opts, &s->first);
  if (err == JZX_OK) err = jzx_spawn(ctx->loop, &opts, &s->second);
  return err;
}

static jzx_err scene_monitor(jzx_context* ctx, narrator_state* s) {
  printf("scene 1: a monitored actor fails\n");
  jzx_err err = spawn_pair(ctx, s);
  if (err == JZX_OK) err = jzx_monitor(ctx->loop, ctx->self, s->first, &s->monitor);
  if (err == JZX_OK) err = jzx_send(ctx->loop, s->first, NULL, 0, TAG_FAIL);
  return err;
}

static jzx_err scene_too_late(jzx_context* ctx, narrator_state* s) {
  printf("scene 2: monitoring an actor that is gone answers at once\n");
  return jzx_monitor(ctx->loop, ctx->self, s->first, &s->monitor);
}

static jzx_err scene_link(jzx_context* ctx, narrator_state* s) {
  printf("scene 3: two linked actors, the first one fails\n");
  jzx_err err = spawn_pair(ctx, s);
  if (err == JZX_OK) err = jzx_link(ctx->loop, s->first, s->second);
  if (err == JZX_OK) err = jzx_monitor(ctx->loop, ctx->self, s->second, &s->monitor);
  if (err == JZX_OK) err = jzx_send(ctx->loop, s->first, NULL, 0, TAG_FAIL);
  return err;
}

static jzx_err scene_trap(jzx_context* ctx, narrator_state* s) {
  printf("scene 4: the second one traps exits\n");
  jzx_err err = spawn_pair(ctx, s);
  if (err == JZX_OK) err = jzx_link(ctx->loop, s->first, s->second);
  if (err == JZX_OK) err = jzx_trap_exit(ctx->loop, s->second, 1);
  if (err == JZX_OK) err = jzx_send(ctx->loop, s->first, NULL, 0, TAG_FAIL);
  return err;
}

static jzx_err scene_normal_end(jzx_context* ctx, narrator_state* s) {
  printf("scene 5: a linked actor ends normally\n");
  jzx_err err = spawn_pair(ctx, s);
  if (err == JZX_OK) err = jzx_link(ctx->loop, s->first, s->second);
  if (err == JZX_OK) err = jzx_monitor(ctx->loop, ctx->self, s->first, &s->monitor);
  if (err == JZX_OK) err = jzx_send(ctx->loop, s->first, NULL, 0, TAG_STOP);
  return err;
}

typedef jzx_err (*scene_fn)(jzx_context* ctx, narrator_state* s);
static const scene_fn kScenes[] = {scene_monitor, scene_too_late, scene_link, scene_trap,
                                   scene_normal_end};
enum { SCENES = sizeof kScenes / sizeof kScenes[0] };

static jzx_err on_down(jzx_context* ctx, narrator_state* s, const jzx_down* down) {
  if (down->ref != s->monitor) return JZX_ERR_UNKNOWN; /* exactly one DOWN per monitor */
  if (s->scene == 3) { /* the linked one: that it ended is the point */
    printf("  the other one ended with it\n");
  } else {
    printf("  DOWN: %s\n", reason_text(down->reason));
  }
  if (s->scene == SCENES) return jzx_send(ctx->loop, s->second, NULL, 0, TAG_PING);
  return jzx_send(ctx->loop, ctx->self, NULL, 0, TAG_NEXT_SCENE);
}

static jzx_behavior_result narrator(jzx_context* ctx, const jzx_message* msg) {
  narrator_state* s = ctx->state;
  jzx_err err = JZX_OK;
  switch (msg->tag) {
    case TAG_NEXT_SCENE:
      err = kScenes[s->scene++](ctx, s);
      break;
    case JZX_TAG_SYS_DOWN:
      err = on_down(ctx, s, msg->data);
      break;
    case TAG_SURVIVED:
      printf("  and lives on\n");
      err = jzx_send(ctx->loop, ctx->self, NULL, 0, TAG_NEXT_SCENE);
      break;
    case TAG_PONG:
      printf("  the other one still answers\n");
      jzx_loop_request_stop(ctx->loop); /* some puppets still live; destroy ends them */
      s->scenes_done = SCENES;
      break;
    default:
      break;
  }
  if (err == JZX_OK) return JZX_BEHAVIOR_OK;
  fprintf(stderr, "narrator: %s\n", jzx_strerror(err));
  jzx_loop_request_stop(ctx->loop);
  return JZX_BEHAVIOR_FAIL;
}

int main(void) {
  jzx_loop* loop = jzx_loop_create(NULL);
  if (loop == NULL) return EXIT_FAILURE;
  narrator_state state = {0};
  const jzx_spawn_opts opts = {.behavior = narrator, .state = &state, .name = "narrator"};
  jzx_err err = jzx_spawn(loop, &opts, &g_narrator);
  if (err == JZX_OK) err = jzx_send(loop, g_narrator, NULL, 0, TAG_NEXT_SCENE);
  const int result = err == JZX_OK ? jzx_loop_run(loop) : (int)err;
  jzx_loop_destroy(loop);
  printf("%d scenes played\n", state.scenes_done);
  return result == 0 && state.scenes_done == SCENES ? EXIT_SUCCESS : EXIT_FAILURE;
}
