#include "net/open_handle.hpp"

#include <new>
#include <utility>

#include <jzx/detail/task_root.hpp>

namespace jzx::net {

Begun::Begun(base::Executor& executor, io::Opcode what) noexcept
    : FutureState(detail::Stage::pending, sizeof(Begun)),
      Operation(what, &completed, &expected),
      Runnable(&perform),
      AtEnd(&ended),
      executor_(executor) {
  FutureCore::cancel = &cancelled;
  cancel_on_drop = true;
}

Begun* Begun::make(base::Executor& executor, io::Opcode opcode) noexcept {
  static_assert(alignof(Begun) <= detail::kFutureAlignment);
  void* block = detail::take_future_block(sizeof(Begun));
  return block != nullptr ? ::new (block) Begun(executor, opcode) : nullptr;
}

Future<int64_t> Begun::begin() noexcept {
  Future<int64_t> future(this);
  detail::OpenHandle* used = record;
  if (submit() && used != nullptr) detail::Use::end(*used);
  return future;
}

bool Begun::submit() noexcept {
  if (!executor_.may_use_here()) {
    settle_with(Error(Errc::invalid_arg, "what a loop opened is used on the loop's own thread"));
    return true;
  }
  // Before it is submitted: it may be completed by another thread before this returns.
  executor_.end_list.add(*this);
  switch (executor_.io().submit(*this)) {
    case io::Submitted::pending:
      break;
    case io::Submitted::done:
      if (executor_.end_list.remove(*this)) settle_with(Operation::result);
      break;
    case io::Submitted::must_block:
      // From here on it ends with its job, for which the end of the executor waits, and which
      // nobody can hurry.
      if (!executor_.end_list.remove(*this)) break;
      FutureCore::cancel = [](FutureCore&) {};
      if (record != nullptr) detail::Use::hold(*record);
      if (executor_.post_blocking(*this)) return false;
      if (record != nullptr) detail::Use::end_held(*std::exchange(record, nullptr));
      settle_with(int64_t{-EAGAIN});
      return false;
  }
  return true;
}

void Begun::completed(io::Operation& operation) {
  auto& self = static_cast<Begun&>(operation);
  if (self.executor_.end_list.remove(self)) return self.settle_with(self.Operation::result);
  self.is_completed_ = true;
}

// A connection that was quiet has left the cache: its operation, the chain that waits for it, and
// the actor and the coroutine that go on then.
void Begun::expected(const io::Operation& operation, Step step) {
  const auto& self = static_cast<const Begun&>(operation);
  if (step == Step::itself) return io::prefetch<sizeof(Begun) / io::kCacheLine>(&self);
  const detail::TaskRoot* root = detail::TaskRoot::waiting_for(self);
  if (root == nullptr) return;
  if (step == Step::waiter) return io::prefetch<2>(root);
  io::prefetch<7>(root->waiting_frame());  // of a read
  io::prefetch<2>(root->first_frame());
  io::prefetch<2>(root->runner);
  io::prefetch<1>(self.record);
}

void Begun::perform(base::Runnable& work, base::Executor&) {
  auto& self = static_cast<Begun&>(work);
  self.executor_.io().perform(self);
  detail::OpenHandle* used = self.record;
  if (used != nullptr) detail::Use::end_held(*used);
  self.settle_with(self.Operation::result);
}

void Begun::cancelled(detail::FutureCore& core) {
  auto& self = static_cast<Begun&>(core);
  if (self.executor_.may_use_here()) self.executor_.io().cancel(self);
}

// On the last thread that is left. Who waits may free the buffer as soon as he is told.
void Begun::ended(base::AtEnd& entry) {
  auto& self = static_cast<Begun&>(entry);
  io::Reactor& reactor = self.executor_.io();
  reactor.cancel(self);
  while (!self.is_completed_) (void)reactor.wait(0);
  self.settle_with(Error(Errc::loop_closed));
}

int64_t operate_now(base::Executor& executor, io::Operation& operation) noexcept {
  if (!executor.may_use_here()) return -EPERM;
  if (executor.io().submit(operation) != io::Submitted::done) executor.io().perform(operation);
  return operation.result;
}

bool try_now(base::Executor& executor, io::Operation& operation) noexcept {
  return executor.may_use_here() && executor.io().try_now(operation);
}

Error error_of(int64_t result, const char* source) noexcept {
  if (result == -ECANCELED) return Error(Errc::cancelled, {}, source);
  if (result == kNotOpen) return Error(Errc::closed, "it is not open", source);
  return Error::of_system(static_cast<int>(-result), source);
}

}  // namespace jzx::net
