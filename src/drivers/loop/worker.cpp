#include "drivers/loop/worker.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/one_runner.hpp"

namespace jzx::drivers {

using base::kNanosPerMilli;
using base::kNever;

namespace {

// Some 290 years: added to any clock's time it does not wrap.
constexpr uint64_t kLongestDelayMs = kNever / kNanosPerMilli / 2;

constexpr size_t kCacheLine = 64;

}  // namespace

Worker::Worker(core::System& the_system, base::Clock& clock, io::ReactorPtr reactor,
               const WorkerOptions& options) noexcept
    : Host(the_system, options.index, options.messages_per_turn),
      prng_(options.seed),
      turns_per_tick_(options.turns_per_tick),
      clock_(clock),
      reactor_(std::move(reactor)),
      wheel_(clock.now_ns() / kNanosPerMilli),
      watches_(*this, *reactor_, options.max_watches, options.watch_limit),
      longest_wait_ns_(options.longest_wait_ns) {
  if (inboxes == core::Inboxes::all) system.runner = this;
}

Worker::~Worker() { end_list.end_all(); }

// ---- the tick ----

int Worker::tick(uint64_t max_wait_ns) {
  take_injected();
  const int error = poll_io(max_wait_ns);
  take_news();
  begin_tick();
  fire_timers();
  if (pace_.is_tick_over()) begin_tick();  // the actors have as much as the timers had
  run_ready();
  return error;
}

void Worker::take_news() noexcept {
  if (news_.is_there()) news_.clear();
  take_injected();
}

// ---- how long a tick lasts ----

void Worker::begin_tick() noexcept {
  pace_.begin_tick(clock_.quick_ns());
  turns_left_ = turns_per_tick_;
  look_again_later();
}

void Worker::look_again_later() noexcept {
  steps_at_look_ = steps();
  look_at_step = steps_at_look_ + pace_.stretch();
  turns_to_look_ = turns_given_ = std::min(pace_.stretch(), turns_left_);
}

void Worker::look_at_clock(bool is_same_slice) noexcept {
  const uint32_t turns = turns_since_look();
  turns_left_ -= turns;
  const uint64_t done = std::max<uint64_t>(steps() - steps_at_look_, turns);
  pace_.look(clock_.quick_ns(), done, is_same_slice);
  look_again_later();
}

bool Worker::has_run_long_enough() noexcept {
  look_at_clock(std::exchange(looked_in_turn_, true) && turns_since_look() == 0);
  if (pace_.is_tick_over()) turns_to_look_ = 1;  // goes_on() follows this turn
  if (!pace_.is_slice_over()) return false;
  cut_at_step_ = steps();
  return true;
}

bool Worker::goes_on(uint32_t turns_in_a_row) noexcept {
  if (turns_to_look_ == 0) {
    if (pace_.is_tick_over()) return false;  // seen in the middle of the last turn
    look_at_clock(turns_in_a_row > turns_since_look());
    looked_in_turn_ = false;
    if (pace_.is_tick_over() || turns_left_ == 0) return false;
  }
  if (news_.is_there()) take_news();
  return !stop_was_requested();
}

void Worker::take_injected() noexcept {
  for (base::Runnable* work = injected_.take_all(); work != nullptr;) {
    // Another core wrote it last, and mostly it is an actor: what its turn needs of its second line
    // can be on its way while it is queued.
    __builtin_prefetch(reinterpret_cast<const std::byte*>(work) + kCacheLine, 1);
    base::Runnable* next = work->next_runnable;
    ready_from_outside(*work);
    work = next;
  }
  called_.take_all([&](uint32_t slot) -> core::Actor& { return *system.actors.find(slot); },
                   [&](uint32_t count) { took_calls(count); },
                   [&](core::Actor& actor) {
                     __builtin_prefetch(reinterpret_cast<const std::byte*>(&actor) + kCacheLine, 1);
                     if (core::is_to_be_queued(actor)) ready_from_outside(actor);
                   });
}

int Worker::poll_io(uint64_t max_wait_ns) {
  const uint64_t wait_ns = has_ready() ? 0 : time_to_wait(max_wait_ns);
  if (wait_ns != 0) return sleep(wait_ns);
  asleep_.store(false, std::memory_order_relaxed);  // a producer that misses this wakes in vain
  // Without watches and operations the reactor can only tell of wake-ups, and those are for who
  // said it sleeps.
  if (watches_.empty() && !may_be_woken_ && reactor_->pending_count() == 0) return 0;
  may_be_woken_ = false;
  return reactor_->wait(0);
}

int Worker::sleep(uint64_t wait_ns) {
  int error = 0;
  if (announce_sleep()) {
    const uint64_t allowed_ns = allowed_sleep_ns(wait_ns);
    if (allowed_ns != 0) {
      error = reactor_->wait(allowed_ns);
      may_be_woken_ = false;
    }
    woke_up();
  }
  asleep_.store(false, std::memory_order_relaxed);  // as above
  return error;
}

uint64_t Worker::time_to_wait(uint64_t max_wait_ns) {
  core::Timers hold(*this);
  stamp_armed_timers();
  uint64_t wait_ns = std::min(max_wait_ns, longest_wait_ns_);
  const uint64_t wake_ms = wheel_.next_wake_ms();
  if (wait_ns == 0 || wake_ms == kNever) return wait_ns;
  return std::min(wait_ns, clock_.allowed_wait_ns(wake_ms * kNanosPerMilli));
}

void Worker::fire_timers() {
  {
    core::Timers hold(*this);
    if (wheel_.empty() && armed_.empty()) return;  // no timers, no clock read
    stamp_armed_timers();
    wheel_.collect_due(clock_.now_ns() / kNanosPerMilli);
  }
  fire_due();
}

// Until the tick is over: the rest stays due, and is for the next one.
void Worker::fire_due() {
  for (uint32_t to_look = pace_.stretch();; --to_look) {
    if (to_look == 0) {
      pace_.look(clock_.quick_ns(), pace_.stretch(), false);
      if (pace_.is_tick_over()) return none_is_firing();
      to_look = pace_.stretch();
    }
    base::Timer* timer = nullptr;
    {
      core::Timers hold(*this);
      timer = wheel_.pop_due();
      firing_.store(timer, std::memory_order_relaxed);  // the lock orders it
    }
    if (timer == nullptr) return;
    about_to_call_back();
    if (is_watched()) [[unlikely]]
      witness_->begin_timer(*timer);
    {
      const core::Aside aside(*this, core::callback_step);
      timer->fire(*this);
    }
    if (is_watched()) [[unlikely]]
      witness_->end_work();
  }
}

void Worker::none_is_firing() noexcept {
  core::Timers hold(*this);
  firing_.store(nullptr, std::memory_order_relaxed);  // the lock orders it
}

void Worker::run_ready() { is_watched() ? run_all_ready<true>() : run_all_ready<false>(); }

template <bool kWatched>
void Worker::run_all_ready() {
  while (base::Runnable* work = ready.pop()) {
    run_work<kWatched>(*work);
    if (must_look_up() && !goes_on()) [[unlikely]]
      return;
  }
}

// ---- timers ----

void Worker::arm(base::Timer& timer, uint64_t delay_ms) {
  if (is_watched()) [[unlikely]]
    witness_->armed(timer);
  {
    core::Timers hold(*this);
    timer.deadline_ms = std::min(delay_ms, kLongestDelayMs) | base::Timer::kUnstamped;
    armed_.push_back(timer);
    if (!has_siblings || is_own_thread()) {
      // One handler may arm a million: they are not to be measured from its end.
      if (++unstamped_ >= kMostUnstamped) stamp_armed_timers();
      return;
    }
  }
  armed_from_outside_.store(true, std::memory_order_seq_cst);  // before wake_up() looks at asleep_
  wake_up();
}

bool Worker::unlink_timer(base::Timer& timer) noexcept {
  if (!timer.is_armed()) return false;
  if ((timer.deadline_ms & base::Timer::kUnstamped) != 0) {
    timer.unlink();
  } else {
    wheel_.remove(timer);
  }
  return true;
}

bool Worker::disarm(base::Timer& timer) {
  bool was_armed = false;
  for (;;) {
    {
      core::Timers hold(*this);
      was_armed |= unlink_timer(timer);  // it may have been armed again while it fired
      // relaxed: the lock orders it, or it is about another timer; see fired_for_good().
      const bool is_firing = firing_.load(std::memory_order_relaxed) == &timer;
      if (!is_firing || !has_siblings || is_own_thread()) return was_armed;
    }
    base::yield_thread();
  }
}

// Under the lock of the timers.
void Worker::stamp_armed_timers() noexcept {
  // Before the list is looked at: who sets it again after that wakes us again. relaxed: both are
  // changed around the lock.
  if (has_siblings) armed_from_outside_.store(false, std::memory_order_relaxed);
  unstamped_ = 0;
  if (armed_.empty()) return;
  const uint64_t now_ns = clock_.now_ns();
  while (base::Timer* timer = armed_.pop_front()) {
    // Rounded up: never early.
    const uint64_t delay_ms = timer->deadline_ms & ~base::Timer::kUnstamped;
    const uint64_t deadline_ns = now_ns + delay_ms * kNanosPerMilli;
    wheel_.insert(*timer, (deadline_ns + kNanosPerMilli - 1) / kNanosPerMilli);
  }
}

// ---- being woken ----

void Worker::post(base::Runnable& work) {
  if (work.home() == base::kByHand) return submit_elsewhere(work);
  injected_.push(work);
  wake_up();
}

void Worker::call(core::Actor& actor) noexcept {
  called_.push(actor);
  wake_up();
}

void Worker::wake_up() noexcept {
  tell_news();
  // seq_cst: after the push, the call or the stop flag that the caller left, before the look at
  // asleep_; pairs with announce_sleep(). The exchange leaves one of many producers to make the
  // system call.
  if (asleep_.load(std::memory_order_seq_cst) &&
      asleep_.exchange(false, std::memory_order_relaxed)) {
    reactor_->wake();
  }
}

void Worker::request_stop() noexcept {
  stop_requested_.store(true, std::memory_order_seq_cst);  // before wake_up() looks at asleep_
  wake_up();
}

bool Worker::take_stop_request() noexcept {
  // relaxed: a flag on its own. The load keeps the common case free of a locked instruction.
  return stop_requested_.load(std::memory_order_relaxed) &&
         stop_requested_.exchange(false, std::memory_order_relaxed);
}

bool Worker::announce_sleep() noexcept {
  // seq_cst: before the look at what others left; pairs with wake_up().
  asleep_.store(true, std::memory_order_seq_cst);
  may_be_woken_ = true;
  return !others_left_something();
}

bool Worker::others_left_something() noexcept {
  // seq_cst: after asleep_ was announced; pairs with arm() and request_stop().
  const bool has_timer = has_siblings && armed_from_outside_.load(std::memory_order_seq_cst);
  return has_timer || !injected_.empty_before_sleep() || !called_.empty_before_sleep() ||
         stop_requested_.load(std::memory_order_seq_cst);
}

// ---- choices ----

uint32_t Worker::choose(uint32_t count, base::ChoiceSite site) {
  const uint32_t taken = prng_.below(count);
  // Whom to steal from is no business of the actors.
  if (is_watched() && site != base::ChoiceSite::steal_victim) witness_->chose(count, taken);
  return taken;
}

// ---- seen from outside ----

bool Worker::has_work() noexcept { return has_ready() || others_left_something(); }

bool Worker::expects_something() noexcept {
  return has_work() || reactor_->pending_count() > 0 || next_deadline_ns() != kNever;
}

uint64_t Worker::next_deadline_ns() {
  core::Timers hold(*this);
  stamp_armed_timers();
  const uint64_t deadline_ms = wheel_.next_deadline_ms();
  return deadline_ms == kNever ? kNever : deadline_ms * kNanosPerMilli;
}

}  // namespace jzx::drivers
