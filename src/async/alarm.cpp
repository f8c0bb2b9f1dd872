// A clock that rings once, for templates, which do not know what a timer is. As with a sleep, the
// clock, who takes it back and the end of the executor race on the executor's list.
#include "async/alarm.hpp"

#include <new>

namespace jzx::detail {

struct Alarm final : base::Timer, base::AtEnd {
  Alarm(base::Executor& the_executor, AlarmFn the_ring, void* the_owner) noexcept
      : Timer(&fired), AtEnd(&ended), executor(the_executor), ring(the_ring), owner(the_owner) {}

  base::Executor& executor;
  const AlarmFn ring;
  void* const owner;

 private:
  static void fired(base::Timer& timer, base::Executor& executor) {
    auto& self = static_cast<Alarm&>(timer);
    if (!self.executor.end_list.remove(self)) return;
    executor.fired_for_good(self);
    self.ring(self.owner, Errc::timed_out);
  }
  static void ended(base::AtEnd& entry) {
    auto& self = static_cast<Alarm&>(entry);
    (void)self.executor.disarm(self);
    self.ring(self.owner, Errc::loop_closed);
  }
};

bool stop_alarm(Alarm& alarm) noexcept {
  // Elsewhere it must ring, in its time, and finds that nobody listens.
  if (!alarm.executor.may_use_here() || !alarm.executor.end_list.remove(alarm)) return false;
  (void)alarm.executor.disarm(alarm);
  return true;
}

void end_alarm(Alarm& alarm) noexcept {
  alarm.~Alarm();
  give_future_block(&alarm, sizeof(Alarm));
}

}  // namespace jzx::detail

namespace jzx::async {

detail::Alarm* start_alarm(base::Executor& executor, uint64_t time_ms, detail::AlarmFn ring,
                           void* owner) noexcept {
  void* block = detail::take_future_block(sizeof(detail::Alarm));
  if (block == nullptr) return nullptr;
  base::Executor& home = executor.keeper();
  auto* made = ::new (block) detail::Alarm(home, ring, owner);
  home.end_list.add(*made);
  home.arm(*made, time_ms);
  return made;
}

}  // namespace jzx::async
