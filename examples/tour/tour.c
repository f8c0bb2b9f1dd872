/*
 * tour: what jazz is, in one minute of reading and about a second of running.
 *
 * A straight walk: main plays one chapter after the other on the same loop, runs it
 * until the chapter's actors ask it to stop, and says what happened. Every figure is
 * measured or counted while it runs. Everything happens on this one thread.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <inttypes.h>
#include <jzx/jzx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG_TICK = 1, TAG_JOB, TAG_LOOK, TAG_LETTER, TAG_BALL };
enum { TICK_MS = 5, LOOK_MS = 1, FAILURES = 3, LETTERS = 3, PERIOD_MS = 60000 };
enum { BALLS = 1000000 };

static const jzx_backoff_spec kBackoff = {
    .initial_delay_ms = 40, .max_delay_ms = 1000, .factor = 2.0f, .jitter_ms = 0};

/* Every user message has exactly one fate. We count on our side of the fence: sends
 * that returned OK, behaviour calls, and dead letters. */
typedef struct ledger {
  uint64_t accepted, handled, dead;
} ledger;

typedef struct tour {
  jzx_loop* loop;
  ledger book;
  double started_at_ms;
  jzx_actor_id family;      /* the supervisor */
  jzx_actor_id first_flaky; /* the id of flaky's first life */
  jzx_actor_id last_flaky;
  uint64_t ticks; /* what the counter counted */
  uint64_t ticks_at_failure;
  double failed_at_ms;
  double down_ms; /* all of flaky's downtime together */
  int jobs, restarts, stops;
  size_t pipe_bytes;
  int narrate; /* the observer prints while this is set */
} tour;

/* ---- printing ---- */

static int g_fancy; /* stdout is a terminal: headings may be bold */

static double now_ms(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void heading(const char* text) { printf(g_fancy ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text); }

static void stamp(const tour* t) { printf("   %6.1f ms  ", now_ms() - t->started_at_ms); }

static void insist(int fine, const char* what) {
  if (fine) return;
  fflush(stdout);
  fprintf(stderr, "tour: this should not happen: %s\n", what);
  exit(EXIT_FAILURE);
}

/* ---- sending, with the books kept ---- */

static jzx_err post(tour* t, jzx_actor_id to, void* data, size_t len, uint32_t tag) {
  const jzx_err err = jzx_send(t->loop, to, data, len, tag);
  if (err == JZX_OK) ++t->book.accepted;
  return err;
}

static void post_later(tour* t, jzx_actor_id to, uint32_t ms, uint32_t tag) {
  const jzx_err err = jzx_send_after(t->loop, to, ms, NULL, 0, tag, NULL);
  insist(err == JZX_OK, "a timer was refused");
  ++t->book.accepted;
}

/* ---- the actors ---- */

/* Counts its own timer. Nothing that happens to its sibling concerns it. */
static jzx_behavior_result counter(jzx_context* ctx, const jzx_message* msg) {
  tour* t = ctx->state;
  (void)msg;
  ++t->book.handled;
  ++t->ticks;
  post_later(t, ctx->self, TICK_MS, TAG_TICK);
  return JZX_BEHAVIOR_OK;
}

/* Fails its first jobs. */
static jzx_behavior_result flaky(jzx_context* ctx, const jzx_message* msg) {
  tour* t = ctx->state;
  (void)msg;
  ++t->book.handled;
  stamp(t);
  if (++t->jobs <= FAILURES) {
    t->failed_at_ms = now_ms();
    t->ticks_at_failure = t->ticks;
    printf("flaky fails job %d\n", t->jobs);
    return JZX_BEHAVIOR_FAIL;
  }
  printf("flaky does job %d\n", t->jobs);
  jzx_loop_request_stop(ctx->loop); /* the end of the chapter */
  return JZX_BEHAVIOR_OK;
}

/* Gives every new life of flaky one job. A restart gives a new id, so it looks. */
static jzx_behavior_result boss(jzx_context* ctx, const jzx_message* msg) {
  tour* t = ctx->state;
  (void)msg;
  ++t->book.handled;
  jzx_actor_id child = 0;
  const jzx_err err = jzx_supervisor_child_id(ctx->loop, t->family, 1, &child);
  if (err == JZX_OK && child != t->last_flaky) {
    if (t->first_flaky == 0) t->first_flaky = child;
    t->last_flaky = child;
    insist(post(t, child, NULL, 0, TAG_JOB) == JZX_OK, "a live child refused a job");
    if (t->restarts == FAILURES) return JZX_BEHAVIOR_STOP;
  }
  post_later(t, ctx->self, LOOK_MS, TAG_LOOK);
  return JZX_BEHAVIOR_OK;
}

/* Woken when its pipe can be read. The event is the system's message, not ours, and
 * is not in our books. */
static jzx_behavior_result pipe_reader(jzx_context* ctx, const jzx_message* msg) {
  tour* t = ctx->state;
  if (msg->tag != JZX_TAG_SYS_IO) return JZX_BEHAVIOR_FAIL;
  const jzx_io_event* event = msg->data;
  char text[64];
  const ssize_t count = read(event->fd, text, sizeof text - 1);
  if (count <= 0) return JZX_BEHAVIOR_FAIL;
  text[count] = '\0';
  t->pipe_bytes = (size_t)count;
  stamp(t);
  printf("reader wakes, reads %zd bytes: \"%s\"\n", count, text);
  jzx_loop_request_stop(ctx->loop);
  return JZX_BEHAVIOR_STOP;
}

static jzx_behavior_result sleeper(jzx_context* ctx, const jzx_message* msg) {
  tour* t = ctx->state;
  ++t->book.handled;
  free(msg->data);
  return JZX_BEHAVIOR_OK;
}

/* ---- what the loop tells us ---- */

static void on_start(void* ctx, jzx_actor_id id, const char* name) {
  tour* t = ctx;
  if (!t->narrate || name == NULL || name[0] == '\0') return;
  stamp(t);
  printf("%s starts, id %" PRIx64 "\n", name, id);
}

static void on_stop(void* ctx, jzx_actor_id id, int reason) {
  tour* t = ctx;
  (void)id;
  (void)reason;
  ++t->stops;
}

static void on_restart(void* ctx, jzx_actor_id supervisor, jzx_actor_id child, int attempt) {
  tour* t = ctx;
  (void)supervisor;
  (void)child;
  ++t->restarts;
  const double down_ms = now_ms() - t->failed_at_ms;
  t->down_ms += down_ms;
  stamp(t);
  printf("restart %d, flaky was down for %.1f ms; meanwhile counter went from %" PRIu64
         " to %" PRIu64 "\n",
         attempt, down_ms, t->ticks_at_failure, t->ticks);
}

static void on_dead_letter(void* ctx, jzx_actor_id target, const jzx_message* msg) {
  tour* t = ctx;
  (void)target;
  ++t->book.dead;
  free(msg->data); /* nobody else will */
}

/* ---- the chapters ---- */

static jzx_actor_id spawn(tour* t, const char* name, jzx_behavior_fn behavior) {
  const jzx_spawn_opts opts = {.behavior = behavior, .state = t, .name = name};
  jzx_actor_id id = 0;
  insist(jzx_spawn(t->loop, &opts, &id) == JZX_OK, "an actor could not be spawned");
  return id;
}

static void run(tour* t) { insist(jzx_loop_run(t->loop) == 0, "the loop failed"); }

static void chapter_family(tour* t) {
  heading("1. A supervised family");
  puts("   An actor is a function with a mailbox. A supervisor starts two of them:");
  const jzx_child_spec children[] = {
      {.name = "counter", .behavior = counter, .mode = JZX_CHILD_PERMANENT, .state = t},
      {.name = "flaky",
       .behavior = flaky,
       .mode = JZX_CHILD_PERMANENT,
       .backoff = &kBackoff,
       .state = t}};
  const jzx_supervisor_init init = {
      .children = children,
      .child_count = 2,
      .supervisor = {
          .strategy = JZX_SUP_ONE_FOR_ONE, .intensity = FAILURES, .period_ms = PERIOD_MS}};
  t->narrate = 1;
  const jzx_err err = jzx_spawn_supervisor(t->loop, &init, 0, &t->family);
  t->narrate = 0;
  insist(err == JZX_OK, "the supervisor did not start");
}

static void chapter_crash(tour* t) {
  heading("2. Let it crash");
  printf(
      "   counter counts, and arms its %d ms timer again each time. flaky fails its first %d "
      "jobs;\n"
      "   its supervisor brings it back, after a pause that doubles (%" PRIu32 " ms at first):\n",
      TICK_MS, FAILURES, kBackoff.initial_delay_ms);
  jzx_actor_id counter_id = 0;
  insist(jzx_supervisor_child_id(t->loop, t->family, 0, &counter_id) == JZX_OK, "no counter");
  post_later(t, counter_id, TICK_MS, TAG_TICK);
  insist(post(t, spawn(t, "boss", boss), NULL, 0, TAG_LOOK) == JZX_OK, "no boss");
  run(t);
  insist(t->restarts == FAILURES && t->ticks > 0, "flaky was not restarted as often as it failed");
  printf("   %d failures, %d restarts, down for %.0f ms in all. counter never noticed: %" PRIu64
         " ticks.\n",
         t->jobs - 1, t->restarts, t->down_ms, t->ticks);
}

static void chapter_outside(tour* t) {
  heading("3. The outside world");
  puts("   File descriptors speak in messages too. An actor watches a pipe, we write to it:");
  int ends[2];
  insist(pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0, "no pipe");
  const jzx_actor_id reader = spawn(t, "reader", pipe_reader);
  insist(jzx_watch_fd(t->loop, ends[0], reader, JZX_IO_READ) == JZX_OK, "the pipe is not watched");
  static const char kText[] = "hello from outside";
  insist(write(ends[1], kText, strlen(kText)) == (ssize_t)strlen(kText), "the pipe is broken");
  run(t);
  insist(t->pipe_bytes == strlen(kText), "the bytes did not arrive");
  close(ends[0]);
  close(ends[1]);
}

static void chapter_dead(tour* t) {
  heading("4. The dead stay dead");
  const jzx_err err = post(t, t->first_flaky, NULL, 0, TAG_JOB);
  insist(err == JZX_ERR_NO_SUCH_ACTOR, "a dead actor took a message");
  printf("   flaky's first life was %" PRIx64 ", the present one is %" PRIx64
         ". We write to the first:\n"
         "   refused with error %d, \"%s\".\n"
         "   An old id never reaches somebody new.\n",
         t->first_flaky, t->last_flaky, (int)err, jzx_strerror(err));

  const uint64_t dead_before = t->book.dead;
  const jzx_actor_id id = spawn(t, "sleeper", sleeper);
  for (int i = 0; i < LETTERS; ++i) {
    char* letter = malloc(16);
    if (post(t, id, letter, 16, TAG_LETTER) != JZX_OK) free(letter);
  }
  insist(jzx_actor_stop(t->loop, id) == JZX_OK, "an actor could not be stopped");
  while (t->book.dead < dead_before + LETTERS)
    insist(jzx_loop_run_once(t->loop, 0) > 0, "the loop ended");
  printf("   Another actor was stopped with %d messages waiting: %" PRIu64
         " dead letters, payloads freed.\n",
         LETTERS, t->book.dead - dead_before);
}

static void chapter_ledger(tour* t) {
  heading("5. The ledger");
  insist(jzx_actor_stop(t->loop, t->family) == JZX_OK, "the family could not be stopped");
  run(t); /* returns by itself: nobody is left alive */
  jzx_loop_destroy(t->loop);
  const ledger* book = &t->book;
  printf(
      "   The family was stopped, the loop is gone (%d actors ended). Every message had one fate:\n"
      "   accepted %" PRIu64 " = handled %" PRIu64 " + dead letters %" PRIu64 "\n",
      t->stops, book->accepted, book->handled, book->dead);
  insist(book->accepted == book->handled + book->dead, "the ledger does not balance");
}

/* ---- the figure ---- */

typedef struct player {
  jzx_actor_id peer;
  uint64_t* left; /* shared by the two */
} player;

static jzx_behavior_result play(jzx_context* ctx, const jzx_message* msg) {
  player* p = ctx->state;
  (void)msg;
  if (--*p->left == 0) {
    jzx_loop_request_stop(ctx->loop);
    return JZX_BEHAVIOR_OK;
  }
  return jzx_send(ctx->loop, p->peer, NULL, 0, TAG_BALL) == JZX_OK ? JZX_BEHAVIOR_OK
                                                                   : JZX_BEHAVIOR_FAIL;
}

static void chapter_speed(void) {
  heading("6. How fast");
  jzx_loop* loop = jzx_loop_create(NULL);
  insist(loop != NULL, "no second loop");
  uint64_t left = BALLS;
  player players[2] = {{.left = &left}, {.left = &left}};
  jzx_actor_id ids[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    const jzx_spawn_opts opts = {.behavior = play, .state = &players[i], .name = "player"};
    insist(jzx_spawn(loop, &opts, &ids[i]) == JZX_OK, "no player");
  }
  players[0].peer = ids[1];
  players[1].peer = ids[0];
  insist(jzx_send(loop, ids[0], NULL, 0, TAG_BALL) == JZX_OK, "no ball");
  const double begin_ms = now_ms();
  const int result = jzx_loop_run(loop);
  const double took_ms = now_ms() - begin_ms;
  insist(result == 0 && left == 0, "the ball was lost");
  jzx_loop_destroy(loop);
  printf("   Two actors passed one message back and forth %d times: %.1f ms, %.1f ns each.\n",
         BALLS, took_ms, took_ms * 1e6 / BALLS);
}

int main(void) {
  g_fancy = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
  tour t = {.loop = jzx_loop_create(NULL), .started_at_ms = now_ms()};
  insist(t.loop != NULL, "the loop could not be created");
  const jzx_observer observer = {.on_actor_start = on_start,
                                 .on_actor_stop = on_stop,
                                 .on_actor_restart = on_restart,
                                 .on_dead_letter = on_dead_letter};
  jzx_loop_set_observer(t.loop, &observer, &t);
  printf("jazz %s: supervised actors on one event loop. A guided tour, on one thread.\n",
         jzx_version());
  chapter_family(&t);
  chapter_crash(&t);
  chapter_outside(&t);
  chapter_dead(&t);
  chapter_ledger(&t);
  chapter_speed();
  printf("\nThe whole tour took %.2f s. Next: examples/c/hello.c, then include/jzx/jzx.h.\n",
         (now_ms() - t.started_at_ms) / 1e3);
  return EXIT_SUCCESS;
}
