// One operation of a reactor as a future of its raw result: bytes, a handle, or -errno.
//
//   begin ──▶ done: settled at once
//         ├─▶ pending: settled by the completion, or by the end of the executor
//         └─▶ must_block: settled on a thread for what blocks
//
// What the operation points to belongs to the task that awaits it. A task does not leave a future
// before that is settled, and a cancelled one is settled by its completion: so no buffer goes away
// under a reactor.
//
// Threads: those that may use the executor.
#pragma once

#include <cerrno>
#include <cstdint>

#include <jzx/future.hpp>
#include <jzx/net/handle.hpp>

#include "base/executor.hpp"
#include "io/contract.hpp"

namespace jzx::net {

[[nodiscard]] inline base::Executor* executor_of(detail::Keeper* keeper) noexcept {
  return reinterpret_cast<base::Executor*>(keeper);
}
[[nodiscard]] inline detail::Keeper* keeper_from(base::Executor* executor) noexcept {
  return reinterpret_cast<detail::Keeper*>(executor);
}

// The operation is the future's own. Rejected with an Error if it could not be begun.
class Begun final : public detail::FutureState<int64_t>,
                    public io::Operation,
                    private base::Runnable,
                    private base::AtEnd {
 public:
  // nullptr: no memory.
  [[nodiscard]] static Begun* make(base::Executor& executor, io::Opcode opcode) noexcept;
  // When it says what it wants. Once, and never not: see `record`.
  [[nodiscard]] Future<int64_t> begin() noexcept;

  [[nodiscard]] base::Executor& executor() const noexcept { return executor_; }

  // Of the handle, if it has one: entered until the operation is submitted. Who goes on will look
  // at it, unless it has gone by then.
  detail::OpenHandle* record = nullptr;

 private:
  Begun(base::Executor& executor, io::Opcode what) noexcept;
  ~Begun() = delete;  // the state ends by itself

  template <class... Args>
  void settle_with(Args&&... args) {
    put_result(std::forward<Args>(args)...);
    settle();
  }
  static void completed(io::Operation& operation);
  static void expected(const io::Operation& operation, Step step);
  static void perform(base::Runnable& work, base::Executor& executor);
  // True: this thread is through with the handle. False: another will perform the operation.
  [[nodiscard]] bool submit() noexcept;
  static void cancelled(detail::FutureCore& core);
  static void ended(base::AtEnd& entry);

  base::Executor& executor_;
  bool is_completed_ = false;  // after the end of the executor was told
};

// An operation that ends at once: its result, or -errno.
[[nodiscard]] int64_t operate_now(base::Executor& executor, io::Operation& operation) noexcept;

// One that may have to wait, if it need not: true, it has its result. Else begin one; that also
// says why it may not be used here.
[[nodiscard]] bool try_now(base::Executor& executor, io::Operation& operation) noexcept;

// ---- what results mean ----

// A result for what could not be tried. No operation of ours fails with this errno.
inline constexpr int64_t kNotOpen = -EBADFD;

[[nodiscard]] Error error_of(int64_t result, const char* source) noexcept;
// The size, or why not.
[[nodiscard]] inline Result<size_t> size_of(const Result<int64_t>& result, const char* source) {
  if (!result) return result.error();
  if (*result < 0) return error_of(*result, source);
  return static_cast<size_t>(*result);
}
[[nodiscard]] inline Result<void> nothing_of(const Result<int64_t>& result, const char* source) {
  if (!result) return result.error();
  if (*result < 0) return error_of(*result, source);
  return {};
}

}  // namespace jzx::net
