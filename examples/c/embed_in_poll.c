/*
 * embed_in_poll: jazz as a guest in an event loop that already owns the thread.
 *
 * jzx_loop_fd is readable exactly when jzx_loop_run_once(loop, 0) has work: queued
 * messages, due timers, watched fds. So it goes into the poll set beside the host's
 * own fds, and the host calls run_once when it is readable. The same two calls serve
 * Qt (QSocketNotifier), GLib (g_unix_fd_add), libuv (uv_poll_t) or a game loop.
 *
 *   worker actor --- writes a byte per timer tick ---> pipe ---> host's poll()
 *   host ----------- jzx_send: "I got byte n" -------> worker actor
 */
#define _POSIX_C_SOURCE 200809L
#include <jzx/jzx.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TAG_TICK = 1, TAG_HOST_GOT_IT };
enum { TICK_MS = 2, BYTES = 4, GIVE_UP_MS = 10000 };

typedef struct worker_state {
  int pipe_fd;
  int written;
  int confirmed;
} worker_state;

static jzx_behavior_result worker(jzx_context* ctx, const jzx_message* msg) {
  worker_state* s = ctx->state;
  if (msg->tag == TAG_HOST_GOT_IT) {
    printf("worker: the host has byte %d\n", ++s->confirmed);
    if (s->confirmed == BYTES) return JZX_BEHAVIOR_STOP;
    /* The next byte, a moment later: the timer alone makes the loop's fd readable. */
    const jzx_err err = jzx_send_after(ctx->loop, ctx->self, TICK_MS, NULL, 0, TAG_TICK, NULL);
    return err == JZX_OK ? JZX_BEHAVIOR_OK : JZX_BEHAVIOR_FAIL;
  }
  if (msg->tag == TAG_TICK) {
    const char byte = (char)('a' + s->written++);
    printf("worker: writes '%c'\n", byte);
    if (write(s->pipe_fd, &byte, 1) != 1) return JZX_BEHAVIOR_FAIL;
  }
  return JZX_BEHAVIOR_OK;
}

/* The host's own event loop. Returns how many wake-ups were for jazz, or -1. */
static int host_loop(jzx_loop* loop, jzx_actor_id worker_id, int pipe_fd) {
  struct pollfd fds[] = {{.fd = jzx_loop_fd(loop), .events = POLLIN},
                         {.fd = pipe_fd, .events = POLLIN}};
  if (fds[0].fd < 0) return -1;
  int turns = 0;
  for (;;) {
    if (poll(fds, 2, GIVE_UP_MS) <= 0) return -1; /* silence for ten seconds is a bug */
    if (fds[1].revents != 0) {
      char byte;
      if (read(pipe_fd, &byte, 1) != 1) return -1;
      printf("host: got '%c' from the pipe\n", byte);
      /* Same thread, outside any behaviour: a plain send, whose sender is 0. */
      if (jzx_send(loop, worker_id, NULL, 0, TAG_HOST_GOT_IT) != JZX_OK) return -1;
    }
    if (fds[0].revents != 0) {
      ++turns;
      const int again = jzx_loop_run_once(loop, 0); /* 0 ms: never waits, poll does that */
      if (again < 0) return -1;
      if (again == 0) return turns; /* no actor left alive */
    }
  }
}

int main(void) {
  int ends[2];
  jzx_loop* loop = jzx_loop_create(NULL);
  if (loop == NULL || pipe(ends) != 0) return EXIT_FAILURE;

  worker_state state = {.pipe_fd = ends[1]};
  const jzx_spawn_opts opts = {.behavior = worker, .state = &state, .name = "worker"};
  jzx_actor_id id = 0;
  jzx_err err = jzx_spawn(loop, &opts, &id);
  if (err == JZX_OK) err = jzx_send(loop, id, NULL, 0, TAG_TICK);
  if (err != JZX_OK) fprintf(stderr, "embed_in_poll: %s\n", jzx_strerror(err));
  const int turns = err == JZX_OK ? host_loop(loop, id, ends[0]) : -1;
  jzx_loop_destroy(loop);
  close(ends[0]);
  close(ends[1]);

  /* Not one wake-up per message is promised, but a fd that is readable without work
   * would show here as thousands. */
  const int calm = turns > 0 && turns < 100 * BYTES;
  printf("host: %d bytes confirmed, jazz woke it only for work: %s\n", state.confirmed,
         calm ? "yes" : "no");
  return calm && state.confirmed == BYTES ? EXIT_SUCCESS : EXIT_FAILURE;
}
