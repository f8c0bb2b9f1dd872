/*
 * foreign_thread: another thread feeds an actor, and listens when told "not so fast".
 *
 * jzx_send_async may be called from any thread and tells the truth at the call: OK
 * means the message will be handled once or dead-lettered; MAILBOX_FULL means nothing
 * happened and the payload is still the sender's. Mailboxes are bounded, so a slow
 * consumer costs a bounded amount of memory and the producer decides what to do:
 * wait and retry (here), drop, or do the work itself.
 */
#define _POSIX_C_SOURCE 200809L
#include <jzx/jzx.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_NUMBER = 1 };
enum { NUMBERS = 20000, MAILBOX_SLOTS = 16 }; /* 4 of the slots are the system's */

typedef struct consumer_state {
  long expected;
  long long sum;
  int in_order;
} consumer_state;

typedef struct producer_state {
  jzx_loop* loop;
  jzx_actor_id target;
  sem_t met_the_limit; /* posted once, at the first MAILBOX_FULL */
  long sent_before_full;
  long refused;
  jzx_err last;
} producer_state;

static jzx_behavior_result consumer(jzx_context* ctx, const jzx_message* msg) {
  consumer_state* s = ctx->state;
  const long number = *(const long*)msg->data;
  free(msg->data);
  if (number != ++s->expected) s->in_order = 0; /* one sender's messages keep their order */
  s->sum += number;
  return s->expected == NUMBERS ? JZX_BEHAVIOR_STOP : JZX_BEHAVIOR_OK;
}

static jzx_err send_patiently(producer_state* p, long* number) {
  for (;;) {
    const jzx_err err = jzx_send_async(p->loop, p->target, number, sizeof *number, TAG_NUMBER);
    if (err != JZX_ERR_MAILBOX_FULL) return err;
    if (p->refused++ == 0) sem_post(&p->met_the_limit);
    sched_yield(); /* let the consumer work; a real program may wait longer, or drop */
  }
}

static void* produce(void* arg) {
  producer_state* p = arg;
  for (long i = 1; i <= NUMBERS; ++i) {
    long* number = malloc(sizeof *number);
    if (number == NULL) {
      p->last = JZX_ERR_NO_MEMORY;
      break;
    }
    *number = i;
    p->last = send_patiently(p, number);
    if (p->last != JZX_OK) { /* NO_SUCH_ACTOR or LOOP_CLOSED: nobody will take it */
      free(number);
      break;
    }
    if (p->refused == 0) ++p->sent_before_full;
  }
  if (p->last != JZX_OK) jzx_loop_request_stop(p->loop);
  sem_post(&p->met_the_limit); /* in case there never was a limit */
  return NULL;
}

static void on_dead_letter(void* ctx, jzx_actor_id target, const jzx_message* msg) {
  (void)ctx;
  (void)target;
  free(msg->data);
}

/* Told on the loop's thread, at the next tick, once per actor however often it happened. */
static void on_mailbox_full(void* ctx, jzx_actor_id target) {
  int* told = ctx;
  (void)target;
  ++*told;
}

int main(void) {
  int told = 0;
  jzx_loop* loop = jzx_loop_create(NULL);
  if (loop == NULL) return EXIT_FAILURE;
  const jzx_observer observer = {.on_mailbox_full = on_mailbox_full,
                                 .on_dead_letter = on_dead_letter};
  jzx_loop_set_observer(loop, &observer, &told);

  consumer_state consumed = {.in_order = 1};
  producer_state p = {.loop = loop};
  const jzx_spawn_opts opts = {
      .behavior = consumer, .state = &consumed, .mailbox_cap = MAILBOX_SLOTS, .name = "consumer"};
  const jzx_err err = jzx_spawn(loop, &opts, &p.target);
  if (err != JZX_OK || sem_init(&p.met_the_limit, 0, 0) != 0) return EXIT_FAILURE;

  /* The loop does not run yet, so the producer is sure to fill the mailbox. */
  pthread_t thread;
  if (pthread_create(&thread, NULL, produce, &p) != 0) return EXIT_FAILURE;
  sem_wait(&p.met_the_limit);
  printf("the mailbox was full after %ld messages\n", p.sent_before_full);

  const int result = jzx_loop_run(loop);
  pthread_join(thread, NULL);
  jzx_loop_destroy(loop); /* after the join: nobody may use the pointer once it returned */
  sem_destroy(&p.met_the_limit);

  printf("the producer was told to wait: %s, the observer heard of it: %s\n",
         p.refused > 0 ? "yes" : "no", told > 0 ? "yes" : "no");
  printf("received %ld numbers, in order: %s, sum %lld\n", consumed.expected,
         consumed.in_order ? "yes" : "no", consumed.sum);
  const int complete = consumed.sum == (long long)NUMBERS * (NUMBERS + 1) / 2;
  return result == 0 && complete && consumed.in_order && told > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
