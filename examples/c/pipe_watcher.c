/*
 * pipe_watcher: an actor that is told when a file descriptor can be read.
 *
 * jzx_watch_fd sends JZX_TAG_SYS_IO messages to the fd's owner. One readiness gives
 * one event, so the owner reads until the kernel says EAGAIN; old data that nobody
 * read gives no second event. The fd stays ours: the runtime never reads from it
 * and never closes it.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <jzx/jzx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG_WRITE_NEXT = 1 };
enum { PAUSE_MS = 2, LINE_MAX_BYTES = 128 };

typedef struct reader_state {
  char line[LINE_MAX_BYTES];
  size_t used;
  int lines;
  int saw_end;
} reader_state;

typedef struct writer_state {
  int fd;
  size_t next;
} writer_state;

/* The second line comes in two pieces, to show that bytes are not messages. */
static const char* const kPieces[] = {"first line\n", "second ", "line\n", "third line\n"};

static void take_bytes(reader_state* s, const char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (bytes[i] == '\n' || s->used == sizeof s->line - 1) {
      s->line[s->used] = '\0';
      s->used = 0;
      printf("reader: line %d is \"%s\"\n", ++s->lines, s->line);
    } else {
      s->line[s->used++] = bytes[i];
    }
  }
}

static jzx_behavior_result reader(jzx_context* ctx, const jzx_message* msg) {
  reader_state* s = ctx->state;
  if (msg->tag != JZX_TAG_SYS_IO) return JZX_BEHAVIOR_OK;
  const jzx_io_event* event = msg->data; /* valid during this call only; not ours to free */

  for (;;) {
    char buffer[64];
    const ssize_t count = read(event->fd, buffer, sizeof buffer);
    if (count > 0) {
      take_bytes(s, buffer, (size_t)count);
    } else if (count == 0) { /* the writer closed its end */
      s->saw_end = 1;
      printf("reader: end of the pipe\n");
      jzx_unwatch_fd(ctx->loop, event->fd); /* our death would do it too */
      return JZX_BEHAVIOR_STOP;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return JZX_BEHAVIOR_OK; /* drained: the next bytes give the next event */
    } else if (errno != EINTR) {
      perror("reader");
      return JZX_BEHAVIOR_FAIL;
    }
  }
}

static jzx_behavior_result writer(jzx_context* ctx, const jzx_message* msg) {
  writer_state* s = ctx->state;
  if (msg->tag != TAG_WRITE_NEXT) return JZX_BEHAVIOR_OK;
  if (s->next == sizeof kPieces / sizeof kPieces[0]) {
    close(s->fd);
    s->fd = -1;
    return JZX_BEHAVIOR_STOP;
  }
  const char* piece = kPieces[s->next++];
  const size_t length = strlen(piece);
  if (write(s->fd, piece, length) != (ssize_t)length) return JZX_BEHAVIOR_FAIL;
  const jzx_err err = jzx_send_after(ctx->loop, ctx->self, PAUSE_MS, NULL, 0, TAG_WRITE_NEXT, NULL);
  return err == JZX_OK ? JZX_BEHAVIOR_OK : JZX_BEHAVIOR_FAIL;
}

int main(void) {
  int ends[2];
  if (pipe(ends) != 0) return EXIT_FAILURE;
  if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return EXIT_FAILURE; /* watched fds: non-blocking */
  jzx_loop* loop = jzx_loop_create(NULL);
  if (loop == NULL) return EXIT_FAILURE;

  reader_state reads = {.used = 0};
  writer_state writes = {.fd = ends[1]};
  const jzx_spawn_opts reader_opts = {.behavior = reader, .state = &reads, .name = "reader"};
  const jzx_spawn_opts writer_opts = {.behavior = writer, .state = &writes, .name = "writer"};
  jzx_actor_id reader_id = 0;
  jzx_actor_id writer_id = 0;
  jzx_err err = jzx_spawn(loop, &reader_opts, &reader_id);
  if (err == JZX_OK) err = jzx_spawn(loop, &writer_opts, &writer_id);
  if (err == JZX_OK) err = jzx_watch_fd(loop, ends[0], reader_id, JZX_IO_READ);
  if (err == JZX_OK) err = jzx_send(loop, writer_id, NULL, 0, TAG_WRITE_NEXT);

  const int result = err == JZX_OK ? jzx_loop_run(loop) : (int)err;
  jzx_loop_destroy(loop);
  close(ends[0]);
  if (writes.fd >= 0) close(writes.fd);
  if (result != 0) fprintf(stderr, "pipe_watcher: %s\n", jzx_strerror((jzx_err)result));
  printf("%d lines\n", reads.lines);
  return result == 0 && reads.lines == 3 && reads.saw_end ? EXIT_SUCCESS : EXIT_FAILURE;
}
