#include "support/test_loop.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <cstdlib>
#include <utility>

#include "capi/create_loop.hpp"

namespace jzx::testing {
namespace {

// Supervision may take a few ticks in which no behaviour and no callback runs.
constexpr int kQuietTicks = 8;
constexpr int kMaxTicks = 1'000'000;

Received copy_of(const jzx_context& ctx, const jzx_message& msg) {
  Received copy;
  copy.tag = msg.tag;
  copy.value = as_value(msg.data);
  copy.len = msg.len;
  copy.sender = msg.sender;
  copy.self = ctx.self;
  switch (msg.tag) {
    case JZX_TAG_SYS_IO:
      copy.io = *static_cast<const jzx_io_event*>(msg.data);
      break;
    case JZX_TAG_SYS_CHILD_EXIT:
      copy.child_exit = *static_cast<const jzx_child_exit*>(msg.data);
      break;
    case JZX_TAG_SYS_DOWN:
      copy.down = *static_cast<const jzx_down*>(msg.data);
      break;
    case JZX_TAG_SYS_EXIT:
      copy.exit = *static_cast<const jzx_exit_signal*>(msg.data);
      break;
    default:
      break;
  }
  return copy;
}

}  // namespace

jzx_config default_config() {
  jzx_config config;
  jzx_config_init(&config);
  return config;
}

std::vector<Received> Probe::received(uint32_t tag) const {
  std::vector<Received> found;
  for (const Received& one : log) {
    if (one.tag == tag) found.push_back(one);
  }
  return found;
}

std::vector<uint64_t> Probe::values() const {
  std::vector<uint64_t> found;
  for (const Received& one : log) {
    if (!one.is_system()) found.push_back(one.value);
  }
  return found;
}

jzx_behavior_result Probe::behave(jzx_context* ctx, const jzx_message* msg) {
  auto& self = *static_cast<Probe*>(ctx->state);
  const Received received = copy_of(*ctx, *msg);
  ++self.loop.activity_;
  if (!received.is_system()) self.loop.note_handled();
  self.log.push_back(received);
  if (self.on) return self.on(ctx, received);
  if (received.tag == kTagStop) return JZX_BEHAVIOR_STOP;
  if (received.tag == kTagFail) return JZX_BEHAVIOR_FAIL;
  return JZX_BEHAVIOR_OK;
}

TestLoop::TestLoop(Time time, const jzx_config& config) : clock_(time == Time::jumping) {
  jzx_config mine = config;
  mine.allocator = allocator_.c_allocator();
  capi::LoopHooks hooks;
  if (time != Time::real) hooks.clock = &clock_;
  loop_ = capi::create_loop(&mine, hooks);
  if (loop_ == nullptr) {
    ADD_FAILURE() << "the loop could not be created";
    std::abort();
  }
  install_observer();
}

TestLoop::~TestLoop() { close(); }

void TestLoop::close() {
  if (loop_ == nullptr) return;
  expect_ledger_balances();
  jzx_loop_destroy(loop_);
  loop_ = nullptr;
  if (accounting_) {
    EXPECT_EQ(accepted_.load(), handled_.load() + dead_.load() + cancelled_.load())
        << "every accepted message has exactly one fate: handled " << handled_.load()
        << ", dead-lettered " << dead_.load() << ", cancelled " << cancelled_.load();
  }
  EXPECT_EQ(allocator_.live_blocks(), 0) << "everything goes back to the allocator";
  EXPECT_EQ(allocator_.live_bytes(), 0);
}

void TestLoop::expect_ledger_balances() const {
  const core::Ledger ledger = capi::ledger(loop_);
  EXPECT_EQ(ledger.accepted, ledger.handled + ledger.dead_lettered + ledger.queued)
      << "handled " << ledger.handled << ", dead-lettered " << ledger.dead_lettered << ", queued "
      << ledger.queued;
}

void TestLoop::note(Event event) {
  ++activity_;
  if (event.kind == Event::Kind::dead_letter) dead_.fetch_add(1);
  if (event.kind == Event::Kind::start) alive_.insert(event.id);
  if (event.kind == Event::Kind::stop) alive_.erase(event.id);
  events_.add(event);
  if (on_event) on_event(event);
}

void TestLoop::install_observer() {
  using Kind = Event::Kind;
  jzx_observer observer{};
  observer.on_actor_start = [](void* ctx, jzx_actor_id id, const char* name) {
    Event event;
    event.kind = Kind::start;
    event.id = id;
    event.name = name == nullptr ? "" : name;
    static_cast<TestLoop*>(ctx)->note(std::move(event));
  };
  observer.on_actor_stop = [](void* ctx, jzx_actor_id id, int reason) {
    Event event;
    event.kind = Kind::stop;
    event.id = id;
    event.value = reason;
    static_cast<TestLoop*>(ctx)->note(std::move(event));
  };
  observer.on_actor_restart = [](void* ctx, jzx_actor_id supervisor, jzx_actor_id child,
                                 int attempt) {
    Event event;
    event.kind = Kind::restart;
    event.id = child;
    event.supervisor = supervisor;
    event.value = attempt;
    static_cast<TestLoop*>(ctx)->note(std::move(event));
  };
  observer.on_supervisor_escalate = [](void* ctx, jzx_actor_id supervisor) {
    Event event;
    event.kind = Kind::escalate;
    event.id = supervisor;
    static_cast<TestLoop*>(ctx)->note(std::move(event));
  };
  observer.on_mailbox_full = [](void* ctx, jzx_actor_id target) {
    Event event;
    event.kind = Kind::mailbox_full;
    event.id = target;
    static_cast<TestLoop*>(ctx)->note(std::move(event));
  };
  observer.on_dead_letter = [](void* ctx, jzx_actor_id target, const jzx_message* msg) {
    Event event;
    event.kind = Kind::dead_letter;
    event.id = target;
    event.tag = msg->tag;
    event.data = as_value(msg->data);
    event.sender = msg->sender;
    static_cast<TestLoop*>(ctx)->note(std::move(event));
  };
  jzx_loop_set_observer(loop_, &observer, this);
}

Probe& TestLoop::probe(Probe::Reaction reaction) {
  Probe& made = probes_.emplace_back(*this);
  made.on = std::move(reaction);
  return made;
}

jzx_actor_id TestLoop::spawn(Probe& probe, uint32_t mailbox_cap, jzx_actor_id supervisor) {
  jzx_spawn_opts opts{};
  opts.behavior = &Probe::behave;
  opts.state = &probe;
  opts.mailbox_cap = mailbox_cap;
  opts.supervisor = supervisor;
  jzx_actor_id id = 0;
  EXPECT_EQ(jzx_spawn(loop_, &opts, &id), JZX_OK);
  EXPECT_NE(id, 0u);
  return id;
}

jzx_actor_id TestLoop::spawn_quiet(jzx_actor_id supervisor) {
  return spawn(probe(), 0, supervisor);
}

jzx_actor_id TestLoop::spawn_supervisor(const jzx_supervisor_init& init, jzx_actor_id parent) {
  jzx_actor_id id = 0;
  EXPECT_EQ(jzx_spawn_supervisor(loop_, &init, parent, &id), JZX_OK);
  EXPECT_NE(id, 0u);
  return id;
}

jzx_actor_id TestLoop::child(jzx_actor_id supervisor, size_t index) const {
  jzx_actor_id id = 0;
  return jzx_supervisor_child_id(loop_, supervisor, index, &id) == JZX_OK ? id : 0;
}

jzx_err TestLoop::send(jzx_actor_id target, uint32_t tag, uint64_t value) {
  const jzx_err err = jzx_send(loop_, target, as_data(value), sizeof(value), tag);
  if (err == JZX_OK) accepted_.fetch_add(1);
  return err;
}

jzx_err TestLoop::send_async(jzx_actor_id target, uint32_t tag, uint64_t value) {
  const jzx_err err = jzx_send_async(loop_, target, as_data(value), sizeof(value), tag);
  if (err == JZX_OK) accepted_.fetch_add(1);
  return err;
}

jzx_err TestLoop::send_after(jzx_actor_id target, uint32_t ms, uint32_t tag, uint64_t value,
                             jzx_timer_id* out) {
  const jzx_err err = jzx_send_after(loop_, target, ms, as_data(value), sizeof(value), tag, out);
  if (err == JZX_OK) accepted_.fetch_add(1);
  return err;
}

jzx_err TestLoop::cancel(jzx_timer_id timer) {
  const jzx_err err = jzx_cancel_timer(loop_, timer);
  if (err == JZX_OK) cancelled_.fetch_add(1);
  return err;
}

void TestLoop::settle() {
  int quiet = 0;
  for (int tick = 0; tick < kMaxTicks && quiet < kQuietTicks; ++tick) {
    const uint64_t before = activity_;
    const int answer = jzx_loop_run_once(loop_, 0);
    if (answer <= 0) {
      EXPECT_EQ(answer, 0);
      return;
    }
    quiet = activity_ == before ? quiet + 1 : 0;
  }
  EXPECT_EQ(quiet, kQuietTicks) << "the loop never came to rest";
}

void TestLoop::advance(uint64_t ms) {
  settle();
  clock_.advance_ms(ms);
  settle();
}

bool TestLoop::run_until(const std::function<bool()>& holds) {
  constexpr uint32_t kWaitMs = 10;
  for (int tick = 0; tick < 3000; ++tick) {
    if (holds()) return true;
    if (jzx_loop_run_once(loop_, kWaitMs) <= 0) break;
  }
  return holds();
}

jzx_child_spec child_spec(Probe& probe, jzx_child_mode mode, const jzx_backoff_spec* backoff) {
  jzx_child_spec spec{};
  spec.behavior = &Probe::behave;
  spec.state = &probe;
  spec.mode = mode;
  spec.backoff = backoff;
  return spec;
}

jzx_child_spec nested_spec(const jzx_supervisor_init& init, jzx_child_mode mode) {
  jzx_child_spec spec{};
  spec.mode = mode;
  spec.supervisor = &init;
  return spec;
}

jzx_supervisor_init family(const std::vector<jzx_child_spec>& children,
                           jzx_supervisor_strategy strategy, uint32_t intensity,
                           uint32_t period_ms) {
  jzx_supervisor_init init{};
  init.children = children.data();
  init.child_count = children.size();
  init.supervisor.strategy = strategy;
  init.supervisor.intensity = intensity;
  init.supervisor.period_ms = period_ms;
  return init;
}

bool is_readable(int fd) {
  pollfd one{};
  one.fd = fd;
  one.events = POLLIN;
  return poll(&one, 1, 0) == 1 && (one.revents & POLLIN) != 0;
}

}  // namespace jzx::testing
