// A future that is settled by an answer or by the clock, whichever comes first. Not for users; see
// ActorRef::ask_for().
//
//   the answer ──▶ arrive() ──▶ settles the outer future, takes the clock back
//   the clock  ──▶ ring() ────▶ takes the question's future back, rejects the outer one
//
// The tether decides between the two (detail/tether.hpp). The record is there until both have been
// here, or will not come any more. To cancel or to drop the outer future is to wait no longer: the
// record goes when the answer or the time comes, whose reply is late then.
//
// Threads: the answer comes from any, the clock from the executor's.
#pragma once

#include <atomic>
#include <chrono>
#include <new>
#include <utility>

#include <jzx/detail/port.hpp>
#include <jzx/detail/tether.hpp>
#include <jzx/future.hpp>

namespace jzx::detail {

// ---- a clock that rings once ----

struct Alarm;
// `ring(owner, why)` is called unless stop_alarm() takes it back: timed_out, or loop_closed if the
// system ends first. nullptr and the error: no memory, or the system is closing.
using AlarmFn = void (*)(void* owner, Errc why);
[[nodiscard]] JZX_API Alarm* start_alarm(Port& port, std::chrono::milliseconds time, AlarmFn ring,
                                         void* owner, Errc& error) noexcept;
// True: it does not ring, and has not. False: it has, or is just about to. Once, or never.
[[nodiscard]] JZX_API bool stop_alarm(Alarm& alarm) noexcept;
// Of one that has rung, or is just doing so, or was stopped.
JZX_API void end_alarm(Alarm& alarm) noexcept;

// ---- the record ----

template <class T>
class TimedAsk {
 public:
  [[nodiscard]] static Future<T> wait(Port& port, std::chrono::milliseconds time,
                                      Future<T>&& answer) {
    if (!answer.is_valid() || answer.is_ready()) return std::move(answer);
    auto [outer, promise] = Promise<T>::try_make();
    void* block = outer.is_valid() ? take_future_block(sizeof(TimedAsk)) : nullptr;
    if (block == nullptr) return Future<T>::failed(Errc::no_memory);
    auto* made = ::new (block) TimedAsk(std::move(promise));
    Errc error = Errc::ok;
    Alarm* alarm = start_alarm(port, time, &ring, made, error);
    if (alarm == nullptr) {
      made->end();
      return Future<T>::failed(error);
    }
    made->alarm_ = alarm;
    made->wait_for(std::move(answer));
    return std::move(outer);
  }

 private:
  explicit TimedAsk(Promise<T>&& promise) noexcept : promise_(std::move(promise)) {}
  ~TimedAsk() {
    if (alarm_ != nullptr) end_alarm(*alarm_);
  }

  void wait_for(Future<T>&& answer) {
    FutureState<T>* asked = answer.release_pending();
    if (asked == nullptr) {  // it came meanwhile
      settle(answer.take());
      return leave(stop_alarm(*alarm_) ? 2 : 1);
    }
    asked_ = asked;
    new (asked->slot) TimedAsk*(this);
    asked->resume = &arrived;
    if (!tether_.tie()) {  // it has rung
      asked->drop();
      return ring_in_vain();
    }
    if (leave_cancellable(*asked) && tether_.untie()) arrive();
  }
  // It rang before there was anything to take back.
  void ring_in_vain() {
    // acquire: pairs with the release in ring().
    settle(Error(why_.load(std::memory_order_acquire), {}, "ask"));
    leave(1);
  }

  static FutureCore* arrived(FutureCore& core) {
    TimedAsk& self = *core.in_slot<TimedAsk*>();
    if (self.tether_.arrive()) self.arrive();
    return nullptr;
  }
  void arrive() {
    settle(asked_->take_result());
    leave(stop_alarm(*alarm_) ? 2 : 1);
  }

  static void ring(void* owner, Errc why) {
    auto& self = *static_cast<TimedAsk*>(owner);
    self.why_.store(why, std::memory_order_release);  // pairs with ring_in_vain()
    switch (self.tether_.cancel([&] { return cancel_core(*self.asked_); })) {
      case Cancelled::nothing:
        return self.leave(1);  // who waits for the answer has it, or will
      case Cancelled::go_on:
        self.settle(self.asked_->take_result());
        return self.leave(2);
      case Cancelled::taken_back:
        self.settle(Error(why, {}, "ask"));
        return self.leave(2);
    }
  }

  void settle(Result<T>&& result) {
    // Who has left the outer future does not hear of it: dropping it is not cancelling.
    (void)promise_.settle_if_wanted(std::move(result));
  }
  // Of the answer and the clock so many will not come any more.
  void leave(uint32_t count) noexcept {
    // release: this side is done with it; acquire: so the last sees what both did. They pair.
    if (sides_.fetch_sub(count, std::memory_order_acq_rel) == count) end();
  }
  void end() noexcept {
    this->~TimedAsk();
    give_future_block(this, sizeof(TimedAsk));
  }

  Tether<> tether_;
  std::atomic<uint32_t> sides_{2};
  std::atomic<Errc> why_{Errc::timed_out};
  FutureState<T>* asked_ = nullptr;
  Alarm* alarm_ = nullptr;
  Promise<T> promise_;
};

}  // namespace jzx::detail
