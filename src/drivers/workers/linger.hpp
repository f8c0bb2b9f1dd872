// A worker that has nothing to do stays for a while with the pinned actor that it ran last: mostly
// somebody will answer it soon. The actor keeps the mark `scheduled`, by the worker's own doing, as
// it would in a turn that waits a little for more mail. So who sends to it finds it busy and leaves
// the message with it, and not the actor with the worker: of the lines that change hands between
// two cores one is less, and the worker looks at the one where the message is announced.
//
//   idle ── begin ──▶ scheduled ── mail, or something else to do ──▶ its turn
//                         └──────── end, and nothing has come ─────▶ idle
//
// Nothing is lost: to all others it is in a turn, and at the end it becomes idle by the exchange
// with which turns end, or has another. Nobody else runs what is pinned here, so it is at rest
// meanwhile. Its turn comes in the worker's next tick, behind I/O, timers and what others left for
// this worker, which have waited as long.
//
// Threads: the worker's own.
#pragma once

#include <utility>

#include "base/assert.hpp"
#include "core/mailbox.hpp"

namespace jzx::drivers {

// A pinned actor as it was before it was run; it may have ended since.
struct LastRun {
  core::Actor* actor = nullptr;
  core::ActorId id = core::kNobody;
};

class Linger {
 public:
  explicit Linger(const LastRun& last) noexcept
      : actor_(last.actor), generation_(core::generation_of(last.id)) {
    if (actor_ == nullptr) return;
    // Of one that has moved in since, perhaps; then the generation is not the one meant.
    handled_ = core::handled_count(*actor_);
    if (!actor_->state.stay(handled_, generation_)) actor_ = nullptr;
  }
  ~Linger() { JZX_ASSERT(actor_ == nullptr); }
  Linger(const Linger&) = delete;
  Linger& operator=(const Linger&) = delete;

  [[nodiscard]] bool has_begun() const noexcept { return actor_ != nullptr; }

  // Is there a reason for a turn?
  [[nodiscard]] bool has_news() const noexcept {
    if (!has_begun()) return false;
    return !actor_->arrivals.looks_empty() || actor_->state.is_disturbed(generation_);
  }

  // The actor, which is to have a turn; or nullptr: it is idle, or there was none.
  [[nodiscard]] core::Actor* end() noexcept {
    core::Actor* actor = std::exchange(actor_, nullptr);
    if (actor == nullptr) return nullptr;
    if (actor->arrivals.looks_empty() && actor->state.park_at_once(handled_, generation_)) {
      return nullptr;
    }
    return actor;
  }

 private:
  core::Actor* actor_;
  uint32_t generation_;
  uint32_t handled_ = 0;
};

}  // namespace jzx::drivers
