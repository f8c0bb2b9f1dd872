#include "drivers/workers/shared_worker.hpp"

#include <algorithm>
#include <utility>

namespace jzx::drivers {

SharedWorker::SharedWorker(WorkerGroup& group, base::Clock& clock, io::ReactorPtr reactor,
                           const WorkerOptions& options) noexcept
    : Worker(group.system, clock, std::move(reactor), options),
      group_(group),
      queues_(group.options.local_queue, group.options.workers > 1),
      hunt_(*this) {
  lifo = own_lifo();
  if (group.options.workers == 1) {
    inboxes = core::Inboxes::all;
    system.runner = this;
    group.injection.count_too(calls());
  } else {
    io().tell_before_completions(
        {[](void* self) noexcept { static_cast<SharedWorker*>(self)->about_to_call_back(); },
         this});
  }
  group.add(*this);
}

void SharedWorker::run() noexcept {
  enter_thread();
  while (!take_stop_request()) (void)tick(base::kNever);
  hunt_.stop_searching();
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
  if (is_fed_by_others && !is_cut_short()) {
    if (queues_.push_next(work)) tell_others();
    return;
  }
  // The only one goes on at once: nobody need come for it. If something else comes before it after
  // all, and takes long, the watch tells of what waits.
  const bool is_alone = queues_.is_empty();
  queues_.push_back(work);
  if (!is_alone) tell_others();
}

void SharedWorker::call(core::Actor& actor) noexcept {
  Worker::call(actor);
  group_.tell_if_high(group_.injection.note_call());
}

void SharedWorker::took_calls(uint64_t count) noexcept {
  group_.tell_if_high(group_.injection.note_calls_taken(count));
}

bool SharedWorker::post_blocking(base::Runnable& work) { return group_.blocking->post(work); }

// ---- running ----

void SharedWorker::run_ready() { is_watched() ? run_all_ready<true>() : run_all_ready<false>(); }

template <bool kWatched>
void SharedWorker::run_all_ready() {
  (void)hunt_.take_from_outside();
  base::Runnable* work = queues_.next();
  if (work != nullptr) {
    hunt_.found_work();
    if (group_.idle.somebody_naps()) [[unlikely]]
      call_if_it_pays();
  }
  for (;; work = queues_.next()) {
    if (work == nullptr) {
      work = find_work();
      if (work == nullptr) return;
    }
    run_work<kWatched>(*work);
    if (must_look_up() && !looks_up_and_goes_on()) [[unlikely]]
      return;
  }
}

bool SharedWorker::looks_up_and_goes_on() noexcept {
  if (!goes_on(queues_.in_a_row())) return false;
  if (is_slice_over()) queues_.end_row();
  (void)hunt_.take_from_outside();  // however busy it is itself
  return true;
}

base::Runnable* SharedWorker::find_work() noexcept {
  Linger linger(queues_.take_last_pinned());
  const auto has_news = [&]() noexcept { return linger.has_news() || others_left_something(); };
  const bool found = !waits_for_answer(linger) && hunt_.look_around(has_news);
  if (core::Actor* actor = linger.end()) {
    // In the next tick: I/O, timers and what others left may have waited as long.
    queues_.push_pinned(*actor);
    pauses_for_answer_ = kMoment;
    return nullptr;
  }
  if (!found) return nullptr;
  base::Runnable* work = queues_.next();
  if (work != nullptr) hunt_.found_work();
  return work;
}

// Before it says that it searches, which would have to be taken back before the answer is handled,
// in a line that all workers write. Not always, or it might never search at all.
bool SharedWorker::waits_for_answer(const Linger& linger) noexcept {
  if (!linger.has_begun() || ++waits_ % kWaitsInARow == 0) return false;
  for (int pauses = 0; pauses < pauses_for_answer_; ++pauses) {
    if (linger.has_news() || others_left_something()) return true;
    base::spin_hint();
  }
  pauses_for_answer_ /= 2;  // until one comes after all, while it looks around
  return false;
}

// Its part of what waits outside. Small, so that the lock is not held for long, but never so small
// that those who are busy themselves let it pile up.
uint32_t SharedWorker::share_from_outside() const noexcept {
  const uint64_t part = group_.injection.size() / group_.size();
  return std::max(group_.options.steal_batch,
                  static_cast<uint32_t>(std::min<uint64_t>(part, kMostFromOutside)));
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
  if (victims_[victim].is_in_long_turn()) hunt_.note_long_turn();
  victims_[victim].note_theft(load, steps(), now_ns);
  return true;
}

// Where it stands in the list of victims, a worker sees itself as others would.
void SharedWorker::call_if_it_pays() noexcept {
  if (victims_[index].is_worth_it(load(), steps(), steady_.now_ns())) group_.call_napper();
}

// ---- sleeping ----

uint64_t SharedWorker::allowed_sleep_ns(uint64_t wait_ns) noexcept {
  const uint64_t allowed_ns = hunt_.begin_sleep(wait_ns);
  const bool is_for_good = allowed_ns != 0 && !hunt_.is_napping();
  if (is_for_good && system.alive_count() == 0) group_.nobody_is_left();
  return allowed_ns;
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
  hunt_.woke_up();
  if (group_.watch != nullptr) group_.watch->somebody_woke();
}

void SharedWorker::about_to_call_back() noexcept {
  if (hunt_.is_asleep()) woke_up();
  hunt_.stop_searching();
}

}  // namespace jzx::drivers
