// Gives a suspended actor a turn, from whatever thread.
//
// Threads: any, while its body is in the wait that the waker was made for.
#pragma once

#include "core/host.hpp"

namespace jzx::core {

struct Waker {
  Actor* actor = nullptr;
  uint32_t generation = 0;
  Host* host = nullptr;  // where it waits; any of its system would do

  void wake() const noexcept {
    if (!is_to_be_submitted()) return;
    auto* here = static_cast<Host*>(base::Executor::current());
    if (here != nullptr && &here->system == &host->system) {
      here->submit(*actor);
    } else {
      host->post(*actor);
    }
  }
  // The same without any lock.
  void wake_from_anywhere() const noexcept {
    if (is_to_be_submitted()) host->post(*actor);
  }

 private:
  [[nodiscard]] bool is_to_be_submitted() const noexcept {
    return actor->state.wake(generation) == Wake::submit;
  }
};

}  // namespace jzx::core
