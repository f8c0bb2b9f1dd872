/*
 * tcp_echo: a TCP echo server with one actor per connection, and a client that
 * tries it out from another thread, so that the program runs and ends by itself.
 *
 *   supervisor (one_for_one)
 *     |- listener            accepts; restarted if it fails
 *     |- connection          one per client, attached at run time, never restarted:
 *     `- connection ...      a broken connection ends alone and nobody else notices
 *
 * Every socket is non-blocking and watched by the actor that owns it. A connection
 * that receives "boom" fails on purpose: its client sees the end of the stream, the
 * others keep talking.
 */
#define _GNU_SOURCE /* accept4 */
#include <arpa/inet.h>
#include <errno.h>
#include <jzx/jzx.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TAG_SHUT_DOWN = 1 };
enum { BUFFER_BYTES = 4096, ROUNDS_PER_EVENT = 16, CLIENTS = 3 };

typedef struct connection {
  struct connection* next; /* the server's list of open connections */
  jzx_actor_id id;
  int fd;
  size_t from, to; /* what is read and not yet written back: buffer[from, to) */
  char buffer[BUFFER_BYTES];
} connection;

/* Touched by the loop's thread only. */
typedef struct server {
  jzx_loop* loop;
  int listen_fd;
  jzx_actor_id supervisor;
  connection* open;
  int accepted, failed, ended;
} server;

/* ---- a connection ---- */

/* Reads and writes until one of them would block. A busy client gets a bounded share:
 * watching the fd again asks for another event if it is still ready. */
static jzx_behavior_result echo(jzx_context* ctx, const jzx_message* msg) {
  connection* c = ctx->state;
  if (msg->tag != JZX_TAG_SYS_IO) return JZX_BEHAVIOR_OK;
  for (int round = 0; round < ROUNDS_PER_EVENT; ++round) {
    ssize_t count;
    if (c->from == c->to) {
      count = recv(c->fd, c->buffer, sizeof c->buffer, 0);
      if (count == 0) return JZX_BEHAVIOR_STOP; /* the client hung up: a normal end */
      if (count == 4 && memcmp(c->buffer, "boom", 4) == 0) return JZX_BEHAVIOR_FAIL;
      c->from = 0;
      c->to = count > 0 ? (size_t)count : 0;
    } else {
      count = send(c->fd, c->buffer + c->from, c->to - c->from, MSG_NOSIGNAL);
      if (count > 0) c->from += (size_t)count;
    }
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return JZX_BEHAVIOR_OK;
    if (count < 0 && errno != EINTR) return JZX_BEHAVIOR_FAIL;
  }
  const jzx_err err = jzx_watch_fd(ctx->loop, c->fd, ctx->self, JZX_IO_READ | JZX_IO_WRITE);
  return err == JZX_OK ? JZX_BEHAVIOR_OK : JZX_BEHAVIOR_FAIL;
}

/* ---- the listener ---- */

static void adopt(server* s, int fd) {
  connection* c = calloc(1, sizeof *c);
  if (c == NULL) {
    close(fd);
    return;
  }
  c->fd = fd;
  const jzx_spawn_opts opts = {
      .behavior = echo, .state = c, .supervisor = s->supervisor, .name = "connection"};
  if (jzx_spawn(s->loop, &opts, &c->id) != JZX_OK) { /* too many actors: turn this one away */
    close(fd);
    free(c);
    return;
  }
  c->next = s->open; /* from here on on_actor_stop cleans up, whatever happens */
  s->open = c;
  ++s->accepted;
  if (jzx_watch_fd(s->loop, fd, c->id, JZX_IO_READ | JZX_IO_WRITE) != JZX_OK)
    jzx_actor_fail(s->loop, c->id);
}

static jzx_behavior_result listener(jzx_context* ctx, const jzx_message* msg) {
  server* s = ctx->state;
  if (msg->tag == TAG_SHUT_DOWN) {
    jzx_actor_stop(ctx->loop, s->supervisor); /* connections first, then us, then itself */
    return JZX_BEHAVIOR_OK;
  }
  if (msg->tag != JZX_TAG_SYS_IO) return JZX_BEHAVIOR_OK;
  for (;;) {
    const int fd = accept4(s->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      adopt(s, fd);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return JZX_BEHAVIOR_OK;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return JZX_BEHAVIOR_FAIL;
    }
  }
}

/* ---- what the loop tells us ---- */

/* The one place where a connection is cleaned up: hung up, failed, or stopped with the
 * server. An actor's state belongs to the program, so the program must free it. */
static void on_actor_stop(void* ctx, jzx_actor_id id, int reason) {
  server* s = ctx;
  for (connection** at = &s->open; *at != NULL; at = &(*at)->next) {
    connection* c = *at;
    if (c->id != id) continue;
    *at = c->next;
    if (reason == JZX_EXIT_FAIL) ++s->failed;
    if (reason != JZX_EXIT_FAIL) ++s->ended;
    jzx_unwatch_fd(s->loop, c->fd); /* before the number can be used for another socket */
    close(c->fd);
    free(c);
    return;
  }
}

/* The listener is the supervisor's only child with a spec; its successor has a new id
 * and takes over the listening socket. */
static void on_actor_restart(void* ctx, jzx_actor_id supervisor, jzx_actor_id child, int attempt) {
  server* s = ctx;
  (void)supervisor;
  (void)attempt;
  jzx_watch_fd(s->loop, s->listen_fd, child, JZX_IO_READ);
}

static int listen_on_any_port(struct sockaddr_in* address) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  socklen_t length = sizeof *address;
  memset(address, 0, sizeof *address);
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK); /* port 0: the kernel chooses one */
  if (fd < 0) return -1;
  if (bind(fd, (const struct sockaddr*)address, length) == 0 && listen(fd, 64) == 0 &&
      getsockname(fd, (struct sockaddr*)address, &length) == 0)
    return fd;
  close(fd);
  return -1;
}

static jzx_err start_server(server* s, jzx_actor_id* listener_id) {
  const jzx_child_spec children[] = {
      {.name = "listener", .behavior = listener, .mode = JZX_CHILD_PERMANENT, .state = s}};
  const jzx_supervisor_init init = {
      .children = children,
      .child_count = 1,
      .supervisor = {.strategy = JZX_SUP_ONE_FOR_ONE, .intensity = 5, .period_ms = 1000}};
  jzx_err err = jzx_spawn_supervisor(s->loop, &init, 0, &s->supervisor);
  if (err == JZX_OK) err = jzx_supervisor_child_id(s->loop, s->supervisor, 0, listener_id);
  if (err == JZX_OK) err = jzx_watch_fd(s->loop, s->listen_fd, *listener_id, JZX_IO_READ);
  return err;
}

/* ---- the client: an ordinary thread with blocking sockets ---- */

typedef struct client {
  jzx_loop* loop;
  jzx_actor_id listener;
  struct sockaddr_in address;
  int ok;
} client;

static int say(int fd, const char* text) { /* 1: the same text came back */
  char answer[64];
  const size_t length = strlen(text);
  if (send(fd, text, length, MSG_NOSIGNAL) != (ssize_t)length) return 0;
  return recv(fd, answer, length, MSG_WAITALL) == (ssize_t)length &&
         memcmp(answer, text, length) == 0;
}

static int connect_to(const struct sockaddr_in* address) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (const struct sockaddr*)address, sizeof *address) == 0) return fd;
  close(fd);
  return -1;
}

static int talk(int fds[CLIENTS]) {
  int echoed = 0;
  for (int i = 0; i < CLIENTS; ++i) echoed += say(fds[i], "hello from a client");
  printf("client: %d of %d greetings came back\n", echoed, CLIENTS);

  char byte;
  const int sent = send(fds[1], "boom", 4, MSG_NOSIGNAL) == 4;
  const int ended = sent && recv(fds[1], &byte, 1, 0) <= 0;
  printf("client: connection 1 broke its actor and was closed: %s\n", ended ? "yes" : "no");

  const int others = say(fds[0], "still here?") + say(fds[2], "still here?");
  printf("client: %d of %d others still echo\n", others, CLIENTS - 1);
  return echoed == CLIENTS && ended && others == CLIENTS - 1;
}

static void* run_client(void* arg) {
  client* c = arg;
  int fds[CLIENTS];
  int connected = 1;
  for (int i = 0; i < CLIENTS; ++i) {
    fds[i] = connect_to(&c->address);
    connected = connected && fds[i] >= 0;
  }
  c->ok = connected && talk(fds);
  /* The open connections are the server's to close: shutting it down ends them. */
  if (jzx_send_async(c->loop, c->listener, NULL, 0, TAG_SHUT_DOWN) != JZX_OK)
    jzx_loop_request_stop(c->loop);
  char byte;
  if (fds[0] >= 0) c->ok = recv(fds[0], &byte, 1, 0) <= 0 && c->ok;
  for (int i = 0; i < CLIENTS; ++i)
    if (fds[i] >= 0) close(fds[i]);
  return NULL;
}

int main(void) {
  struct sockaddr_in address;
  server s = {.loop = jzx_loop_create(NULL), .listen_fd = listen_on_any_port(&address)};
  if (s.loop == NULL || s.listen_fd < 0) return EXIT_FAILURE;
  const jzx_observer observer = {.on_actor_stop = on_actor_stop,
                                 .on_actor_restart = on_actor_restart};
  jzx_loop_set_observer(s.loop, &observer, &s);

  client c = {.loop = s.loop, .address = address};
  const jzx_err err = start_server(&s, &c.listener);
  pthread_t thread;
  if (err != JZX_OK || pthread_create(&thread, NULL, run_client, &c) != 0) {
    fprintf(stderr, "tcp_echo: %s\n", jzx_strerror(err));
    return EXIT_FAILURE;
  }
  const int result = jzx_loop_run(s.loop); /* until the whole tree has ended */
  pthread_join(thread, NULL);
  jzx_loop_destroy(s.loop);
  close(s.listen_fd);
  printf("server: %d accepted, %d failed, %d ended with it\n", s.accepted, s.failed, s.ended);
  return result == 0 && c.ok && s.failed == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
