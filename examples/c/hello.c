/*
 * hello: the smallest complete program. One actor, one message, the end.
 *
 * An actor is a function (its behaviour) and a state. The loop calls the
 * behaviour once per message, never twice at the same time. When the last actor
 * has ended, jzx_loop_run returns by itself.
 */
#include <jzx/jzx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_GREET = 1 }; /* tags are yours to choose, below JZX_TAG_SYS_BASE */

static jzx_behavior_result greeter(jzx_context* ctx, const jzx_message* msg) {
  int* greeted = ctx->state;
  if (msg->tag == TAG_GREET) {
    printf("hello, %s\n", (const char*)msg->data);
    ++*greeted;
  }
  free(msg->data);          /* the runtime neither copies nor frees payloads: the receiver does */
  return JZX_BEHAVIOR_STOP; /* OK would wait for the next message, FAIL would be a failure */
}

/* A message that no behaviour will ever see ends here, for example when its target
 * ended first. This is the only other place where a payload has to be freed. */
static void on_dead_letter(void* ctx, jzx_actor_id target, const jzx_message* msg) {
  (void)ctx;
  (void)target;
  free(msg->data);
}

static char* copy_text(const char* text) {
  char* copy = malloc(strlen(text) + 1);
  if (copy != NULL) strcpy(copy, text);
  return copy;
}

int main(void) {
  jzx_loop* loop = jzx_loop_create(NULL); /* NULL: the default configuration */
  if (loop == NULL) return EXIT_FAILURE;
  const jzx_observer observer = {.on_dead_letter = on_dead_letter};
  jzx_loop_set_observer(loop, &observer, NULL);

  int greeted = 0;
  const jzx_spawn_opts opts = {.behavior = greeter, .state = &greeted, .name = "greeter"};
  jzx_actor_id id = 0;
  jzx_err err = jzx_spawn(loop, &opts, &id);

  /* Messages may be sent before the loop runs; they wait in the mailbox. */
  char* text = copy_text("world");
  if (text == NULL) err = JZX_ERR_NO_MEMORY;
  if (err == JZX_OK) err = jzx_send(loop, id, text, strlen(text) + 1, TAG_GREET);
  if (err != JZX_OK) {
    fprintf(stderr, "hello: %s\n", jzx_strerror(err));
    free(text); /* a refused message still belongs to the sender */
    jzx_loop_destroy(loop);
    return EXIT_FAILURE;
  }

  const int result = jzx_loop_run(loop);
  jzx_loop_destroy(loop);
  printf("greeted %d, the loop returned %d\n", greeted, result);
  return result == 0 && greeted == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
