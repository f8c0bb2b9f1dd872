// For simulated faults: while one of these is there, the blocks of futures, coroutine frames and
// all else that take_future_block() gives are refused on this thread when it says so.
//
// The thread's cache is emptied and stays shut meanwhile, so that every block is asked for: where
// there is no gate, nobody pays for one.
//
// Threads: made and ended on the thread that it is for. They nest; the innermost counts.
#pragma once

namespace jzx::async {

class BlockGate {
 public:
  using RefusesFn = bool (*)(void* context) noexcept;

  BlockGate(RefusesFn function, void* context) noexcept;
  ~BlockGate();
  BlockGate(const BlockGate&) = delete;
  BlockGate& operator=(const BlockGate&) = delete;

  [[nodiscard]] bool refuses() const noexcept { return refuses_(context_); }

 private:
  RefusesFn refuses_;
  void* context_;
  BlockGate* outer_;
  bool was_open_;
};

}  // namespace jzx::async
