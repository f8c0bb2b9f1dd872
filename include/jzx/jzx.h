/*
 * libjzx: supervised actors on one event loop, for C.
 *
 * Threads: a jzx_loop belongs to the thread that runs it. Only
 * jzx_send_async, jzx_loop_request_stop and the two version functions may be
 * called from other threads; every other call belongs to the loop's thread. The
 * loop of a runtime (see "all cores") takes every call from any thread.
 *
 * Ownership: message payloads are never copied and never freed by the runtime.
 * What a handler will never see goes to the observer's on_dead_letter, which is
 * where a program frees it. Payloads of system messages belong to the runtime and
 * are valid during the behaviour call only.
 *
 * Errors: 0 is success, negative values are errors; see jzx_strerror.
 */
#ifndef JZX_JZX_H
#define JZX_JZX_H

#include <stddef.h>
#include <stdint.h>

#ifndef JZX_API
#if defined(__GNUC__) && !defined(JZX_STATIC)
#define JZX_API __attribute__((visibility("default")))
#else
#define JZX_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values ------------------------------------------------------------- */

/* In C an enumeration holds any value of its type. This says the same to C++, where it would
 * otherwise be undefined to read a value that is no enumerator. */
#ifdef __cplusplus
#define JZX_ANY_INT : int
#else
#define JZX_ANY_INT
#endif

typedef enum jzx_err JZX_ANY_INT {
  JZX_OK = 0,
  JZX_ERR_UNKNOWN = -1,
  JZX_ERR_NO_MEMORY = -2,
  JZX_ERR_INVALID_ARG = -3,
  JZX_ERR_LOOP_CLOSED = -4,
  JZX_ERR_NO_SUCH_ACTOR = -5,
  JZX_ERR_ACTOR_NOT_LOCAL = -6,
  JZX_ERR_MAILBOX_FULL = -7,
  JZX_ERR_TIMER_INVALID = -8,
  JZX_ERR_IO_REG_FAILED = -9,
  JZX_ERR_IO_NOT_WATCHED = -10,
  JZX_ERR_MAX_ACTORS = -11,
  JZX_ERR_START_FAILED = -12 /* an init function refused */
} jzx_err;

/* What a behaviour answers. Any other value fails the actor. */
typedef enum jzx_behavior_result JZX_ANY_INT {
  JZX_BEHAVIOR_OK = 0,
  JZX_BEHAVIOR_STOP = 1,
  JZX_BEHAVIOR_FAIL = 2
} jzx_behavior_result;

typedef enum jzx_actor_status JZX_ANY_INT {
  JZX_ACTOR_INIT = 0,
  JZX_ACTOR_RUNNING,
  JZX_ACTOR_STOPPING,
  JZX_ACTOR_STOPPED,
  JZX_ACTOR_FAILED
} jzx_actor_status;

typedef enum jzx_exit_reason JZX_ANY_INT {
  JZX_EXIT_NORMAL = 0,
  JZX_EXIT_FAIL = 1,
  JZX_EXIT_PANIC = 2,  /* an exception escaped */
  JZX_EXIT_NOPROC = 3, /* it was already gone */
  JZX_EXIT_KILLED = 4
} jzx_exit_reason;

typedef enum jzx_child_mode JZX_ANY_INT {
  JZX_CHILD_PERMANENT = 0, /* always restarted */
  JZX_CHILD_TRANSIENT,     /* restarted after an abnormal end */
  JZX_CHILD_TEMPORARY      /* never restarted */
} jzx_child_mode;

typedef enum jzx_supervisor_strategy JZX_ANY_INT {
  JZX_SUP_ONE_FOR_ONE = 0,
  JZX_SUP_ONE_FOR_ALL,
  JZX_SUP_REST_FOR_ONE
} jzx_supervisor_strategy;

/* Tags from here up belong to the system; a user send with one is INVALID_ARG. */
#define JZX_TAG_SYS_BASE 0xffff0000u
#define JZX_TAG_SYS_IO 0xffff0001u            /* payload: jzx_io_event */
#define JZX_TAG_SYS_CHILD_EXIT 0xffff0002u    /* payload: jzx_child_exit */
#define JZX_TAG_SYS_CHILD_RESTART 0xffff0003u /* payload: jzx_child_restart */
#define JZX_TAG_SYS_DOWN 0xffff0004u          /* payload: jzx_down */
#define JZX_TAG_SYS_EXIT 0xffff0005u          /* payload: jzx_exit_signal */

#define JZX_IO_READ 1u
#define JZX_IO_WRITE 2u
#define JZX_IO_ERROR 4u
#define JZX_IO_HANGUP 8u

/* ---- types -------------------------------------------------------------- */

/* Slot index in the low half, generation (never 0) in the high half; 0 is none.
 * An id never refers to a second actor: the id of an ended actor stays stale. */
typedef uint64_t jzx_actor_id;
typedef uint64_t jzx_timer_id;

typedef struct jzx_loop jzx_loop;

/* Called from the loop's thread and from threads inside jzx_send_async; of a
 * runtime, from any thread inside it or inside a call, also at the same time. alloc
 * may return NULL at any time: the call that needed memory returns NO_MEMORY. */
typedef struct jzx_allocator {
  void* (*alloc)(void* ctx, size_t size);
  void (*free)(void* ctx, void* ptr);
  void* ctx;
} jzx_allocator;

typedef struct jzx_config {
  jzx_allocator allocator;
  uint32_t max_actors;          /* at most 2^28; more is invalid, and told on stderr */
  uint32_t default_mailbox_cap; /* slots; 4 of them are the system's */
  uint32_t max_msgs_per_actor;  /* messages in one turn of an actor, fewer if they take long */
  uint32_t max_actors_per_tick; /* turns before I/O and timers, fewer if they take long */
  uint32_t max_io_watchers;
  uint32_t io_poll_timeout_ms; /* bounds one wait; 0: as long as nothing happens */
} jzx_config;

/* malloc/free, 65536, 1024, 64, 1024, 1024, 0. */
JZX_API void jzx_config_init(jzx_config* config);

typedef struct jzx_message {
  void* data;
  size_t len;
  uint32_t tag;
  jzx_actor_id sender; /* the actor whose behaviour sent it, 0 otherwise */
} jzx_message;

/* Made anew for every message: what a behaviour writes into it is not kept. */
typedef struct jzx_context {
  void* state;
  jzx_actor_id self;
  jzx_loop* loop;
} jzx_context;

typedef jzx_behavior_result (*jzx_behavior_fn)(jzx_context* ctx, const jzx_message* msg);

/* Runs before the first message of every (re)start of a supervised child;
 * anything but OK is a failed start. */
typedef jzx_behavior_result (*jzx_init_fn)(void** out_state);

typedef struct jzx_spawn_opts {
  jzx_behavior_fn behavior;
  void* state;
  jzx_actor_id supervisor; /* 0: none. It hears of the end and stops us with itself. */
  uint32_t mailbox_cap;    /* 0: the loop's default */
  const char* name;        /* a label for people and observers; copied; may be NULL */
} jzx_spawn_opts;

typedef struct jzx_backoff_spec {
  uint32_t initial_delay_ms;
  uint32_t max_delay_ms;
  float factor;
  uint32_t jitter_ms; /* +/- this much, clamped to [0, max_delay_ms] */
} jzx_backoff_spec;

typedef struct jzx_supervisor_init jzx_supervisor_init;

/* For stop_within_ms: it is waited for as long as it takes. */
#define JZX_NO_STOP_LIMIT 0xffffffffu

/* Copied deeply. Supervisors may nest 64 deep, the outermost counted; more is
 * INVALID_ARG. */
typedef struct jzx_child_spec {
  const char* name;
  jzx_behavior_fn behavior;
  jzx_init_fn init; /* may be NULL: then state is used */
  jzx_child_mode mode;
  uint32_t mailbox_cap;            /* 0: the loop's default */
  const jzx_backoff_spec* backoff; /* NULL: restart at once */
  void* state;
  const jzx_supervisor_init* supervisor; /* not NULL: a nested supervisor; behavior is NULL */
  /* How long it may take to end when its supervisor stops it; then it is killed, with all below it
   * (JZX_EXIT_KILLED). A behaviour that runs is waited for. 0: 5000, or no limit for a nested
   * supervisor, whose children have theirs. */
  uint32_t stop_within_ms;
} jzx_child_spec;

typedef struct jzx_supervisor_spec {
  jzx_supervisor_strategy strategy;
  uint32_t intensity; /* restarts allowed in any period; 0: the first failure escalates */
  uint32_t period_ms; /* not 0 */
} jzx_supervisor_spec;

struct jzx_supervisor_init {
  const jzx_child_spec* children;
  size_t child_count;
  jzx_supervisor_spec supervisor;
};

typedef struct jzx_io_event {
  int fd;
  uint32_t readiness;
} jzx_io_event;

typedef struct jzx_child_exit {
  jzx_actor_id child;
  jzx_exit_reason reason;
} jzx_child_exit;

typedef struct jzx_child_restart {
  uint32_t child_index;
} jzx_child_restart;

typedef struct jzx_down {
  uint64_t ref;
  jzx_actor_id actor;
  jzx_exit_reason reason;
} jzx_down;

typedef struct jzx_exit_signal {
  jzx_actor_id from;
  jzx_exit_reason reason;
} jzx_exit_signal;

/* Called on the loop's thread (of a runtime: on the thread concerned, also at the
 * same time); must not block. NULL members are skipped. What
 * another thread caused (a full mailbox) is told at the next tick, once per actor. */
typedef struct jzx_observer {
  void (*on_actor_start)(void* ctx, jzx_actor_id id, const char* name);
  void (*on_actor_stop)(void* ctx, jzx_actor_id id, int reason);
  /* Comes after on_actor_start of the new child; attempt counts from 1 per child. */
  void (*on_actor_restart)(void* ctx, jzx_actor_id supervisor, jzx_actor_id child, int attempt);
  void (*on_supervisor_escalate)(void* ctx, jzx_actor_id supervisor);
  void (*on_mailbox_full)(void* ctx, jzx_actor_id target);
  /* A user message that no behaviour will ever see: free its payload here. */
  void (*on_dead_letter)(void* ctx, jzx_actor_id target, const jzx_message* msg);
} jzx_observer;

/* ---- the loop ----------------------------------------------------------- */

/* NULL config: the defaults. NULL when memory runs out or the config is invalid. */
JZX_API jzx_loop* jzx_loop_create(const jzx_config* config);

/* Hands every queued message and pending timer to on_dead_letter. No behaviour
 * runs after it began; other calls get LOOP_CLOSED from then on and it waits for
 * those already inside. The pointer is valid until it returns. */
JZX_API void jzx_loop_destroy(jzx_loop* loop);

/* Runs until stopped or until no actor is left alive: 0. May be called again.
 * In a behaviour of another loop, that one stands still meanwhile; in one that runs
 * on a worker of a runtime, which must not wait: INVALID_ARG. */
JZX_API int jzx_loop_run(jzx_loop* loop);

/* One tick, waiting at most max_wait_ms for something to do (0: never).
 * 1: call again; 0: stopped, or nobody alive; negative: an error, also
 * where it would wait on a worker of a runtime. */
JZX_API int jzx_loop_run_once(jzx_loop* loop, uint32_t max_wait_ms);

/* Readable exactly when jzx_loop_run_once(loop, 0) has work: poll it from a
 * foreign event loop. Owned by the loop; never read or close it. Negative: an error. */
JZX_API int jzx_loop_fd(jzx_loop* loop);

/* Any thread. Remembered until a run consumes it, also when nobody is running. */
JZX_API void jzx_loop_request_stop(jzx_loop* loop);

/* The struct is copied; NULL removes the observer. Needs no memory. Of a runtime, the callbacks
 * that are replaced may still be called for a moment by other threads. */
JZX_API void jzx_loop_set_observer(jzx_loop* loop, const jzx_observer* observer, void* ctx);

/* ---- actors ------------------------------------------------------------- */

JZX_API jzx_err jzx_spawn(jzx_loop* loop, const jzx_spawn_opts* opts, jzx_actor_id* out);
JZX_API jzx_err jzx_spawn_supervisor(jzx_loop* loop, const jzx_supervisor_init* init,
                                     jzx_actor_id parent, jzx_actor_id* out);

/* NO_SUCH_ACTOR while the child is down or ended; a restart gives a new id. */
JZX_API jzx_err jzx_supervisor_child_id(jzx_loop* loop, jzx_actor_id supervisor, size_t index,
                                        jzx_actor_id* out);

JZX_API jzx_err jzx_send(jzx_loop* loop, jzx_actor_id target, void* data, size_t len, uint32_t tag);

/* Any thread. OK means: delivered once, or handed to on_dead_letter. */
JZX_API jzx_err jzx_send_async(jzx_loop* loop, jzx_actor_id target, void* data, size_t len,
                               uint32_t tag);

/* Both take effect before the actor's next message: what is queued is
 * dead-lettered, and a later send is NO_SUCH_ACTOR. */
JZX_API jzx_err jzx_actor_stop(jzx_loop* loop, jzx_actor_id id);
JZX_API jzx_err jzx_actor_fail(jzx_loop* loop, jzx_actor_id id);

/* ---- timers ------------------------------------------------------------- */

/* OK means: delivered once, never early; or cancelled; or dead-lettered because
 * the target ended. A full mailbox makes it wait for room. */
JZX_API jzx_err jzx_send_after(jzx_loop* loop, jzx_actor_id target, uint32_t ms, void* data,
                               size_t len, uint32_t tag, jzx_timer_id* out);
JZX_API jzx_err jzx_cancel_timer(jzx_loop* loop, jzx_timer_id timer);

/* ---- file descriptors --------------------------------------------------- */

/* One readiness, one event. Watching an fd again replaces owner and interest and
 * re-arms it. The fd stays the caller's; the owner's death unwatches it. */
JZX_API jzx_err jzx_watch_fd(jzx_loop* loop, int fd, jzx_actor_id owner, uint32_t interest);
JZX_API jzx_err jzx_unwatch_fd(jzx_loop* loop, int fd);

/* ---- names, links, monitors ---------------------------------------------- */

#define JZX_NAME_MAX 255 /* bytes, without the terminating zero */

/* A unique name, free again when the actor ends. Taken, empty, too long, or an
 * actor that has one already: INVALID_ARG. */
JZX_API jzx_err jzx_register(jzx_loop* loop, jzx_actor_id id, const char* name);
JZX_API jzx_err jzx_whereis(jzx_loop* loop, const char* name, jzx_actor_id* out);

/* Linked actors end together: an abnormal end of one ends the other, unless that
 * one traps exits and gets a JZX_TAG_SYS_EXIT message instead. */
JZX_API jzx_err jzx_link(jzx_loop* loop, jzx_actor_id a, jzx_actor_id b);
JZX_API jzx_err jzx_unlink(jzx_loop* loop, jzx_actor_id a, jzx_actor_id b);

/* Exactly one JZX_TAG_SYS_DOWN per monitor; at once, with NOPROC, if the target
 * is already gone. */
JZX_API jzx_err jzx_monitor(jzx_loop* loop, jzx_actor_id watcher, jzx_actor_id target,
                            uint64_t* out_ref);
JZX_API jzx_err jzx_demonitor(jzx_loop* loop, uint64_t ref);
JZX_API jzx_err jzx_trap_exit(jzx_loop* loop, jzx_actor_id id, int on);

/* ---- all cores ---------------------------------------------------------- */

/* A runtime is a loop on several threads, its workers, which share the ready actors and take from
 * one another when they run out. Behaviours are the same; one actor is still run by one thread at a
 * time. Fields after `loop` that are 0 take their defaults. */
typedef struct jzx_runtime jzx_runtime;

typedef struct jzx_runtime_config {
  jzx_config loop;               /* as for a loop; the limits are for the whole runtime */
  uint32_t workers;              /* one per core of this process; at most 250 */
  uint32_t local_queue;          /* 256, and at most that: ready actors a worker keeps to itself */
  uint32_t injection_high_water; /* 65536: more work than this waits from outside: where an
                                  * observer is set, a line on stderr, once until it has halved */
  uint32_t steal_batch;          /* 32: what an idle worker takes at once, at most */
  uint32_t max_blocking_threads; /* 64, and at most 512 */
  uint32_t stall_limit_ms;       /* 0: none. A behaviour that runs longer is told of on stderr */
} jzx_runtime_config;

/* Defaults; jzx_config_init() for `loop`. */
JZX_API void jzx_runtime_config_init(jzx_runtime_config* config);

/* NULL: a config that makes no sense, or no memory, or no threads. A NULL config is the default. */
JZX_API jzx_runtime* jzx_runtime_create(const jzx_runtime_config* config);

/* Runs the workers until a stop is requested or no actor is left alive; 0, or a negative error. The
 * calling thread only waits. Nothing runs before this call or after it has returned, and it may be
 * called again. Several threads may be in it: the workers go on until the last has left. */
JZX_API int jzx_runtime_run(jzx_runtime* runtime);

/* Any thread, also from a signal handler. Ends every run that has begun; without any it is
 * remembered for the next. */
JZX_API void jzx_runtime_request_stop(jzx_runtime* runtime);

/* As jzx_loop_destroy. Not from a thread of the runtime. */
JZX_API void jzx_runtime_destroy(jzx_runtime* runtime);

/* Stands for the runtime in all other calls, and is ctx->loop there. On it every call but run,
 * run_once, fd and destroy works, from any thread; those four are refused. Observer callbacks run
 * on the thread concerned, and may be concurrent. */
JZX_API jzx_loop* jzx_runtime_loop(jzx_runtime* runtime);

/* ---- about -------------------------------------------------------------- */

JZX_API uint32_t jzx_abi_version(void); /* changes when a compiled program would break */
JZX_API const char* jzx_version(void);
JZX_API const char* jzx_strerror(jzx_err err);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* JZX_JZX_H */
