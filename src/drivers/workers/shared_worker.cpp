#include "drivers/workers/shared_worker.hpp"

#include <algorithm>

namespace jzx::drivers {

SharedWorker::SharedWorker(WorkerGroup& group, base::Clock& clock, io::ReactorPtr reactor,
                           const WorkerOptions& options) noexcept
    : Worker(group.system, clock, std::move(reactor), options),
      group_(group),
      queues_(group.options.local_queue, group.options.workers > 1) {
  lifo = own_lifo();
  if (group.options.workers == 1) {
    inboxes = core::Inboxes::all;
    system.runner = this;
    most_calls_ = group.options.injection_high_water;
  }
  group.add(*this);
}

void SharedWorker::run() noexcept {
  enter_thread();
  while (!take_stop_request()) (void)tick(base::kNever);
  if (is_searching_) {  // nobody will wait for us to find something
    is_searching_ = false;
    if (group_.idle.end_search()) group_.wake_one();
  }
  leave_thread(nullptr);
}

// ---- where work goes ----

// Mostly one as usual has found the lifo slot taken. For that there is no call on the way, so that
// no register has to be saved.
void SharedWorker::submit_elsewhere(base::Runnable& work) noexcept {
  if (holding_back > 0 || !work.standing.is_common()) [[unlikely]]
    return submit_otherwise(work);
  base::Runnable* before = queues_.push_next_common(work);
  if (before == nullptr) return;  // a thief was quicker
  if (!queues_.push_back_at_once(*before)) [[unlikely]]
    return push_back_and_tell(*before);
  if (queues_.has_thieves() && group_.idle.wants_waking()) [[unlikely]]
    group_.wake_one();
}

void SharedWorker::submit_otherwise(base::Runnable& work) noexcept {
  if (holding_back > 0) {
    held_back.push(work);
  } else if (work.home() == base::kAnyWorker) [[likely]] {
    if (queues_.push(work)) tell_others();
  } else if (work.home() == index) {
    queues_.push_pinned(work);
  } else {
    group_.route(work);
  }
}

void SharedWorker::push_back_and_tell(base::Runnable& work) noexcept {
  queues_.push_back(work);
  tell_others();
}

void SharedWorker::submit_last(base::Runnable& work, bool is_fed_by_others) noexcept {
  if (work.standing.is_common() && !is_fed_by_others && !queues_.has_thieves()) [[likely]]
    return queues_.push_pinned(work);
  submit_last_otherwise(work, is_fed_by_others);
}

void SharedWorker::submit_last_otherwise(base::Runnable& work, bool is_fed_by_others) noexcept {
  if (work.home() != base::kAnyWorker) return submit_elsewhere(work);
  if (is_fed_by_others && !queues_.push_next(work)) return;
  if (!is_fed_by_others) queues_.push_back(work);
  tell_others();
}

bool SharedWorker::post_blocking(base::Runnable& work) { return group_.blocking->post(work); }

// ---- running ----

void SharedWorker::run_ready() { is_watched() ? run_all_ready<true>() : run_all_ready<false>(); }

template <bool kWatched>
void SharedWorker::run_all_ready() {
  is_worth_looking_ = false;
  (void)take_from_injection();  // once per tick, however busy we are ourselves
  if (queues_.has_ready()) {
    naps_.begin_again();
    if (is_searching_) found_something();
    if (group_.idle.somebody_naps()) [[unlikely]]
      call_if_it_pays();
  }
  for (uint32_t turns = turns_per_tick_; turns > 0; --turns) {
    base::Runnable* work = queues_.next();
    if (work == nullptr) {
      if (!look_around()) return;
      work = queues_.next();
      if (work == nullptr) return;
      naps_.begin_again();
      if (is_searching_) found_something();
    }
    run_work<kWatched>(*work);
    if (stop_was_requested()) [[unlikely]]
      return;
  }
}

void SharedWorker::found_something() noexcept {
  is_searching_ = false;
  // There may be more where this came from.
  if (group_.idle.end_search()) group_.wake_one();
}

bool SharedWorker::look_around() noexcept {
  if (search_once()) return true;
  if (group_.size() == 1) return false;
  for (uint32_t round = 0; round < rounds_; ++round) {
    for (int i = 0; i < 8; ++i) base::spin_hint();
    const bool for_us_alone = others_left_something();  // the tick takes it
    if (!for_us_alone && !search_once()) continue;
    rounds_ = kMostRounds;  // it has paid
    return !for_us_alone;
  }
  return false;
}

bool SharedWorker::search_once() noexcept {
  if (take_from_injection()) return true;
  if (group_.size() == 1) return false;
  if (!is_searching_) is_searching_ = group_.idle.begin_search();
  return is_searching_ && steal();
}

bool SharedWorker::take_from_injection() noexcept {
  const uint32_t share = group_.options.steal_batch;
  const uint32_t taken =
      group_.injection.take(share, [&](base::Runnable& work) { queues_.push_back(work); });
  // The first of them may run for long. Who searches does this when it stops searching.
  if (taken > 1 && !is_searching_) group_.wake_one();
  return taken > 0;
}

bool SharedWorker::steal() noexcept {
  const uint64_t now_ns = steady_.now_ns();
  const uint32_t count = group_.size();
  const uint32_t first = choose(count, base::ChoiceSite::steal_victim);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t victim = (first + i) % count;
    if (victim != index && rob(victim, now_ns)) return true;
  }
  return false;
}

bool SharedWorker::rob(uint32_t victim, uint64_t now_ns) noexcept {
  SharedWorker& other = group_.worker(victim);
  const auto take = [&] {
    return other.queues_.steal_into(queues_, group_.options.steal_batch, other.is_stuck());
  };
  if (other.is_stuck()) return take();
  if (!victims_[victim].may_be_looked_at(now_ns)) return false;
  const WorkerLoad load = other.load();
  if (!victims_[victim].is_worth_it(load, steps(), now_ns) || !take()) return false;
  if (victims_[victim].is_in_long_turn()) naps_.note_long_turn();
  victims_[victim].note_theft(load, steps(), now_ns);
  return true;
}

// Where it stands in the list of victims, a worker sees itself as others would.
void SharedWorker::call_if_it_pays() noexcept {
  if (victims_[index].is_worth_it(load(), steps(), steady_.now_ns())) group_.call_napper();
}

// ---- sleeping ----

uint64_t SharedWorker::allowed_sleep_ns(uint64_t wait_ns) noexcept {
  group_.idle.begin_sleep(index, is_searching_);
  is_searching_ = false;
  // Everyone looks once more, not only the last who searched: one that was not let search may be
  // the only one left awake.
  is_worth_looking_ = group_.has_stealable(index);
  // Spinning did not pay: less next time, and now and then a try whether it would again.
  rounds_ = ++sleeps_ % 16 == 0 ? std::max(rounds_, 16u) : rounds_ / 2;
  if (is_worth_looking_) {
    // Awake for the others, who need not wake it.
    is_napping_ = group_.idle.begin_nap(index);
    is_searching_ = !is_napping_;
    if (is_searching_ || !group_.injection.empty()) return 0;
    return std::min(wait_ns, naps_.next_ns(siblings_get_on()));
  }
  if (system.alive_count() == 0) group_.nobody_is_left();
  return wait_ns;
}

// Is none of those whose work it leaves to them in a long turn, as far as a moment tells?
bool SharedWorker::siblings_get_on() noexcept {
  for (uint32_t i = 0; i < group_.size(); ++i) {
    const SharedWorker& other = group_.worker(i);
    if (i != index && other.has_stealable() && !other.gets_on()) return false;
  }
  return true;
}

bool SharedWorker::gets_on() const noexcept {
  const uint64_t before = steps();
  for (int i = 0; i < kMoment; ++i) {
    if (steps() != before) return true;
    base::spin_hint();
  }
  return false;
}

void SharedWorker::woke_up() noexcept {
  if (is_napping_) {
    is_napping_ = false;
    if (group_.idle.end_nap(index)) naps_.begin_again();
  } else if (!is_searching_) {
    is_searching_ = group_.idle.end_sleep(index);
    naps_.begin_again();
  }
  if (group_.watch != nullptr) group_.watch->somebody_woke();
}

}  // namespace jzx::drivers
