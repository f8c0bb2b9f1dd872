// What a jzx_loop is: a one-thread system and the observer that speaks C. The files of this folder
// translate, check arguments, and return a status; they decide nothing.
#pragma once

#include <jzx/jzx.h>

#include "capi/observer.hpp"
#include "runtime/loop_system.hpp"

struct jzx_loop {
  jzx::runtime::LoopSystem* system = nullptr;
  jzx::capi::CObserver observer;

  [[nodiscard]] jzx::core::Host& host() noexcept { return system->worker; }
};

namespace jzx::capi {

[[nodiscard]] inline jzx_err to_c(Errc code) noexcept { return static_cast<jzx_err>(code); }

// For the length of a call on the loop's thread: may it go on, and if not, why not. On the way out
// an embedded loop's fd is made true again.
class Call {
 public:
  explicit Call(jzx_loop* loop) noexcept
      : loop_(loop),
        refusal_(loop == nullptr           ? JZX_ERR_INVALID_ARG
                 : loop->system->is_open() ? JZX_OK
                                           : JZX_ERR_LOOP_CLOSED) {
    if (refusal_ == JZX_OK) loop_->system->loop.enter_call();
  }
  ~Call() {
    if (refusal_ == JZX_OK) loop_->system->loop.leave_call();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  [[nodiscard]] bool is_refused() const noexcept { return refusal_ != JZX_OK; }
  [[nodiscard]] jzx_err refusal() const noexcept { return refusal_; }

 private:
  jzx_loop* loop_;
  jzx_err refusal_;
};

}  // namespace jzx::capi
