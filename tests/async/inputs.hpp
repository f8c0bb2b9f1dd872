// What tests of combined futures are given: promises in a row, and a future that takes its time to
// end when it is cancelled.
#pragma once

#include <jzx/detail/spawned_task.hpp>
#include <jzx/future.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace jzx::testing {

class Inputs {
 public:
  explicit Inputs(int count) {
    for (int i = 0; i < count; ++i) {
      auto [future, promise] = jzx::promise<int>();
      futures_.push_back(std::move(future));
      promises_.push_back(std::move(promise));
    }
  }
  [[nodiscard]] std::vector<Future<int>> take() { return std::move(futures_); }
  [[nodiscard]] Future<int> future(int number) { return std::move(futures_[at(number)]); }
  void resolve(int number, int value) { promises_[at(number)].resolve(value); }
  void reject(int number, Errc code) { promises_[at(number)].reject(Error(code)); }
  void drop(int number) { Promise<int> dropped = std::move(promises_[at(number)]); }

 private:
  static size_t at(int number) { return static_cast<size_t>(number); }
  std::vector<Future<int>> futures_;
  std::vector<Promise<int>> promises_;
};

// As an operation of the system: cancelling it asks, and its end comes later. Notes only the first
// request. One thread.
class SlowToCancel {
 public:
  explicit SlowToCancel(bool cancel_on_drop = false)
      : state_(State::try_make(
            [](detail::FutureCore& core) { static_cast<State&>(core).source->requests_++; })) {
    state_->source = this;
    state_->cancel_on_drop = cancel_on_drop;
  }
  SlowToCancel(const SlowToCancel&) = delete;
  SlowToCancel& operator=(const SlowToCancel&) = delete;

  [[nodiscard]] Future<int> future() { return Future<int>(state_); }
  [[nodiscard]] bool was_cancelled() const { return requests_ > 0; }
  void end() { settle(Error(Errc::cancelled)); }
  void end_well(int value) { settle(std::in_place, value); }

 private:
  using State = detail::SourcedState<int, SlowToCancel*>;
  template <class... Args>
  void settle(Args&&... args) {
    state_->put_result(std::forward<Args>(args)...);
    std::exchange(state_, nullptr)->settle();
  }
  State* state_;
  int requests_ = 0;
};

}  // namespace jzx::testing
