// A future with a timer in it. Three may want to settle it: the timer, a canceller, and the end of
// the executor. Who takes it out of the executor's list does.
#include "async/sleep.hpp"

#include <algorithm>
#include <new>

#include <jzx/async/sleep.hpp>

namespace jzx::async {

namespace {

using detail::FutureCore;

// The timer and the entry in the list are unlinked before there is a result, and need no end.
struct Sleep final : detail::FutureState<void>, base::Timer, base::AtEnd {
  explicit Sleep(base::Executor& the_executor) noexcept
      : FutureState(detail::Stage::pending, sizeof(Sleep)),
        Timer(&fired),
        AtEnd(&ended),
        executor(the_executor) {
    FutureCore::cancel = &cancelled;
    cancel_on_drop = true;
  }
  ~Sleep() = delete;  // the state ends by itself

  base::Executor& executor;

 private:
  template <class... Args>
  void settle_with(Args&&... args) {
    put_result(std::forward<Args>(args)...);
    settle();
  }

  static void fired(base::Timer& timer, base::Executor& executor) {
    auto& self = static_cast<Sleep&>(timer);
    if (!self.executor.end_list.remove(self)) return;
    executor.fired_for_good(self);
    self.settle_with();
  }
  // If the timer is just being fired, that waits for the lock of the list, finds nothing there, and
  // has returned when disarm() has.
  static void cancelled(FutureCore& core) {
    auto& self = static_cast<Sleep&>(core);
    if (!self.executor.may_use_here() || !self.executor.end_list.remove(self)) return;
    (void)self.executor.disarm(self);
    self.settle_with(Error(Errc::cancelled, {}, "sleep"));
  }
  static void ended(base::AtEnd& entry) {
    auto& self = static_cast<Sleep&>(entry);
    (void)self.executor.disarm(self);
    self.settle_with(Error(Errc::loop_closed, {}, "sleep"));
  }
};

}  // namespace

Future<void> sleep(base::Executor& executor, uint64_t time_ms) noexcept {
  static_assert(alignof(Sleep) <= detail::kFutureAlignment);
  void* block = detail::take_future_block(sizeof(Sleep));
  if (block == nullptr) return Future<void>::failed(Errc::no_memory);
  base::Executor& home = executor.keeper();
  auto* made = ::new (block) Sleep(home);
  Future<void> future(made);
  home.end_list.add(*made);
  home.arm(*made, time_ms);
  return future;
}

}  // namespace jzx::async

namespace jzx {

Future<void> sleep(std::chrono::milliseconds time) {
  base::Executor* here = base::Executor::current();
  if (here == nullptr) {
    return Future<void>(Error(Errc::invalid_arg,
                              "sleep() outside of a system: use Runtime::sleep() or Loop::sleep()",
                              "sleep"));
  }
  return async::sleep(*here, static_cast<uint64_t>(std::max<int64_t>(time.count(), 0)));
}

}  // namespace jzx
