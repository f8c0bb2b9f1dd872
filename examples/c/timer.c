/*
 * timer: a message that arrives later, a periodic timer built from it, and cancel.
 *
 * jzx_send_after is jzx_send with a delay. OK means the message has exactly one
 * fate: delivered once and never early; or cancelled, and then the payload is the
 * canceller's again; or handed to on_dead_letter because the target ended.
 */
#include <jzx/jzx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_START = 1, TAG_REMINDER, TAG_TICK };
enum { PERIOD_MS = 5, TICKS = 5, REMINDER_MS = 8, NEVER_MS = 3600 * 1000 };

typedef struct clock_state {
  int ticks;
  int reminded;
  jzx_timer_id unwanted; /* armed for an hour from now, and cancelled */
  char* unwanted_text;
} clock_state;

static char* copy_text(const char* text) {
  char* copy = malloc(strlen(text) + 1);
  if (copy != NULL) strcpy(copy, text);
  return copy;
}

/* Arms a message with a text of its own; the text belongs to the timer when OK. */
static jzx_err remind(jzx_context* ctx, uint32_t ms, const char* text, jzx_timer_id* out,
                      char** out_text) {
  char* copy = copy_text(text);
  if (copy == NULL) return JZX_ERR_NO_MEMORY;
  const jzx_err err =
      jzx_send_after(ctx->loop, ctx->self, ms, copy, strlen(copy) + 1, TAG_REMINDER, out);
  if (err != JZX_OK) free(copy);
  if (err == JZX_OK && out_text != NULL) *out_text = copy;
  return err;
}

static jzx_behavior_result start(jzx_context* ctx, clock_state* s) {
  jzx_err err = jzx_send_after(ctx->loop, ctx->self, PERIOD_MS, NULL, 0, TAG_TICK, NULL);
  if (err == JZX_OK) err = remind(ctx, REMINDER_MS, "tea is ready", NULL, NULL);
  if (err == JZX_OK) err = remind(ctx, NEVER_MS, "not today", &s->unwanted, &s->unwanted_text);
  printf("armed: a tick, a reminder and one for an hour from now (%s)\n",
         err == JZX_OK ? "OK" : jzx_strerror(err));
  return err == JZX_OK ? JZX_BEHAVIOR_OK : JZX_BEHAVIOR_FAIL;
}

static void cancel_unwanted(jzx_context* ctx, clock_state* s) {
  const jzx_err first = jzx_cancel_timer(ctx->loop, s->unwanted);
  if (first == JZX_OK) free(s->unwanted_text); /* it will not arrive: ours to free */
  const jzx_err second = jzx_cancel_timer(ctx->loop, s->unwanted);
  printf("cancel: %s; cancel again: %s\n", first == JZX_OK ? "done" : "refused",
         second == JZX_ERR_TIMER_INVALID ? "no such timer" : "unexpected");
}

/* A periodic timer is one that arms itself again, first thing. Nothing piles up when
 * the actor is slow: at most one tick is ever on its way. */
static jzx_behavior_result tick(jzx_context* ctx, clock_state* s) {
  printf("tick %d\n", ++s->ticks);
  if (s->ticks == TICKS) {
    cancel_unwanted(ctx, s);
    return JZX_BEHAVIOR_STOP;
  }
  const jzx_err err = jzx_send_after(ctx->loop, ctx->self, PERIOD_MS, NULL, 0, TAG_TICK, NULL);
  return err == JZX_OK ? JZX_BEHAVIOR_OK : JZX_BEHAVIOR_FAIL;
}

static jzx_behavior_result clock_actor(jzx_context* ctx, const jzx_message* msg) {
  clock_state* s = ctx->state;
  switch (msg->tag) {
    case TAG_START:
      return start(ctx, s);
    case TAG_TICK:
      return tick(ctx, s);
    case TAG_REMINDER:
      s->reminded += strcmp(msg->data, "tea is ready") == 0;
      free(msg->data);
      return JZX_BEHAVIOR_OK;
    default:
      return JZX_BEHAVIOR_OK;
  }
}

static void on_dead_letter(void* ctx, jzx_actor_id target, const jzx_message* msg) {
  (void)ctx;
  (void)target;
  free(msg->data);
}

int main(void) {
  jzx_loop* loop = jzx_loop_create(NULL);
  if (loop == NULL) return EXIT_FAILURE;
  const jzx_observer observer = {.on_dead_letter = on_dead_letter};
  jzx_loop_set_observer(loop, &observer, NULL);

  clock_state state = {0};
  const jzx_spawn_opts opts = {.behavior = clock_actor, .state = &state, .name = "clock"};
  jzx_actor_id id = 0;
  jzx_err err = jzx_spawn(loop, &opts, &id);
  if (err == JZX_OK) err = jzx_send(loop, id, NULL, 0, TAG_START);
  const int result = err == JZX_OK ? jzx_loop_run(loop) : (int)err;
  jzx_loop_destroy(loop);
  if (result != 0) fprintf(stderr, "timer: %s\n", jzx_strerror((jzx_err)result));

  printf("%d ticks, %d reminder\n", state.ticks, state.reminded);
  return result == 0 && state.ticks == TICKS && state.reminded == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
