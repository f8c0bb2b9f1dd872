// What a jzx_loop is: a system and the observer that speaks C. The files of this folder translate,
// check arguments, and return a status; they decide nothing.
#pragma once

#include <jzx/jzx.h>

#include "capi/observer.hpp"
#include "runtime/loop_system.hpp"

struct jzx_loop {
  jzx::detail::Port* port = nullptr;
  jzx::runtime::LoopSystem* alone = nullptr;  // the same, if it is a loop and no runtime
  jzx::capi::CObserver observer;
};

namespace jzx::capi {

[[nodiscard]] inline jzx_err to_c(Errc code) noexcept { return static_cast<jzx_err>(code); }

// For the length of a call: may it go on, and if not, why not; and the host to make it with.
class Call {
 public:
  explicit Call(jzx_loop* loop) noexcept
      : loop_(loop), host_(loop == nullptr ? nullptr : loop->port->begin_call()) {}
  ~Call() {
    if (host_ != nullptr) loop_->port->end_call(*host_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  [[nodiscard]] bool is_refused() const noexcept { return host_ == nullptr; }
  [[nodiscard]] jzx_err refusal() const noexcept {
    return loop_ == nullptr ? JZX_ERR_INVALID_ARG : JZX_ERR_LOOP_CLOSED;
  }
  [[nodiscard]] core::Host& host() const noexcept { return *host_; }

 private:
  jzx_loop* loop_;
  core::Host* host_;
};

}  // namespace jzx::capi
