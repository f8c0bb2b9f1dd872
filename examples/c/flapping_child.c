/*
 * flapping_child: a supervisor keeps restarting a child that fails, waiting longer
 * each time, until the child is stable.
 *
 *   supervisor (one_for_one)
 *     `- flaky         fails its first three jobs: 10, 20, 40 ms of backoff
 *   client             outside the tree; sends jobs and looks the child up by index
 *
 * A restarted child is a new actor with a new id, so the client never keeps the old
 * one: it asks jzx_supervisor_child_id. While the child is down that is
 * NO_SUCH_ACTOR, and the client tries again a little later.
 */
#define _POSIX_C_SOURCE 200809L
#include <jzx/jzx.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TAG_JOB = 1, TAG_JOB_DONE, TAG_TRY };
enum { FAILURES = 3, RETRY_MS = 2, PERIOD_MS = 60000 };

static const jzx_backoff_spec kBackoff = {
    .initial_delay_ms = 10, .max_delay_ms = 1000, .factor = 2.0f, .jitter_ms = 0};

/* Shared by everything here; all of it runs on the loop's thread. */
typedef struct world {
  jzx_loop* loop;
  jzx_actor_id supervisor;
  jzx_actor_id last_child; /* the id that got the last job */
  int failures;
  int restarts;
  int64_t failed_at_ms;
  int backoff_respected;
} world;

static int64_t now_ms(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static jzx_behavior_result flaky(jzx_context* ctx, const jzx_message* msg) {
  world* w = ctx->state; /* the spec's state: the same for every incarnation */
  if (msg->tag != TAG_JOB) return JZX_BEHAVIOR_OK;
  if (w->failures < FAILURES) {
    ++w->failures;
    w->failed_at_ms = now_ms();
    printf("flaky: job failed (failure %d)\n", w->failures);
    return JZX_BEHAVIOR_FAIL; /* the supervisor hears of it and decides */
  }
  printf("flaky: job done\n");
  jzx_send(ctx->loop, msg->sender, NULL, 0, TAG_JOB_DONE);
  return JZX_BEHAVIOR_OK;
}

static jzx_behavior_result client(jzx_context* ctx, const jzx_message* msg) {
  world* w = ctx->state;
  if (msg->tag == TAG_JOB_DONE) {
    printf("client: got its answer, stopping the tree\n");
    jzx_actor_stop(ctx->loop, w->supervisor); /* stops its children first */
    return JZX_BEHAVIOR_STOP;
  }
  jzx_actor_id child = 0;
  const jzx_err err = jzx_supervisor_child_id(ctx->loop, w->supervisor, 0, &child);
  if (err == JZX_OK && child != w->last_child) { /* a child that has had no job yet */
    w->last_child = child;
    jzx_send(ctx->loop, child, NULL, 0, TAG_JOB);
  } else if (err != JZX_OK && err != JZX_ERR_NO_SUCH_ACTOR) {
    fprintf(stderr, "client: %s\n", jzx_strerror(err));
    return JZX_BEHAVIOR_FAIL;
  }
  jzx_send_after(ctx->loop, ctx->self, RETRY_MS, NULL, 0, TAG_TRY, NULL);
  return JZX_BEHAVIOR_OK;
}

/* on_actor_start of the new child came just before this. */
static void on_actor_restart(void* ctx, jzx_actor_id supervisor, jzx_actor_id child, int attempt) {
  world* w = ctx;
  (void)supervisor;
  (void)child;
  ++w->restarts;
  const int64_t waited_ms = now_ms() - w->failed_at_ms;
  const int64_t backoff_ms = (int64_t)kBackoff.initial_delay_ms << (attempt - 1);
  /* Timers never fire early; now_ms rounds both readings down, hence the 1. */
  if (waited_ms + 1 < backoff_ms) w->backoff_respected = 0;
  printf("observer: restart %d, after a backoff of at least %d ms\n", attempt, (int)backoff_ms);
}

static void on_supervisor_escalate(void* ctx, jzx_actor_id supervisor) {
  (void)ctx;
  (void)supervisor;
  printf("observer: the supervisor gave up\n"); /* more than `intensity` restarts in a period */
}

static jzx_err build_tree(world* w) {
  const jzx_child_spec children[] = {{.name = "flaky",
                                      .behavior = flaky,
                                      .mode = JZX_CHILD_PERMANENT,
                                      .backoff = &kBackoff,
                                      .state = w}};
  const jzx_supervisor_init init = {
      .children = children, /* copied deeply: these may live on the stack */
      .child_count = 1,
      .supervisor = {
          .strategy = JZX_SUP_ONE_FOR_ONE, .intensity = FAILURES, .period_ms = PERIOD_MS}};
  return jzx_spawn_supervisor(w->loop, &init, 0, &w->supervisor);
}

int main(void) {
  world w = {.loop = jzx_loop_create(NULL), .backoff_respected = 1};
  if (w.loop == NULL) return EXIT_FAILURE;
  const jzx_observer observer = {.on_actor_restart = on_actor_restart,
                                 .on_supervisor_escalate = on_supervisor_escalate};
  jzx_loop_set_observer(w.loop, &observer, &w);

  jzx_err err = build_tree(&w);
  const jzx_spawn_opts opts = {.behavior = client, .state = &w, .name = "client"};
  jzx_actor_id client_id = 0;
  if (err == JZX_OK) err = jzx_spawn(w.loop, &opts, &client_id);
  if (err == JZX_OK) err = jzx_send(w.loop, client_id, NULL, 0, TAG_TRY);

  int result = err == JZX_OK ? jzx_loop_run(w.loop) : (int)err;
  jzx_loop_destroy(w.loop);
  if (result != 0) fprintf(stderr, "flapping_child: %s\n", jzx_strerror((jzx_err)result));
  printf("%d failures, %d restarts, backoff respected: %s\n", w.failures, w.restarts,
         w.backoff_respected ? "yes" : "no");
  return result == 0 && w.restarts == FAILURES && w.backoff_respected ? EXIT_SUCCESS : EXIT_FAILURE;
}
