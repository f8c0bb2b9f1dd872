// What a supervisor is told: whom to start, in which order, and what to do when one ends. Specs own
// everything they refer to.
#pragma once

#include <cstdint>

#include <jzx/errc.hpp>

#include "core/lifecycle.hpp"
#include "supervise/backoff.hpp"

namespace jzx::supervise {

enum class ChildMode : uint8_t { permanent, transient, temporary };
enum class Strategy : uint8_t { one_for_one, one_for_all, rest_for_one };

// Supervisors in supervisors, the outermost counted. A spec that is deeper is a mistake, most
// likely one that contains itself.
inline constexpr int kMostNested = 64;

// Makes the body of a child, again for every restart.
class ChildFactory {
 public:
  virtual ~ChildFactory() = default;

  // Fills in kind, body and what else the kind wants. start_failed: an init function refused.
  [[nodiscard]] virtual Errc make(core::Host& host, core::SpawnOptions& options) = 0;
  // The spawn was refused: frees the body that make() made.
  virtual void unmake(core::Host& host, core::SpawnOptions& options) noexcept = 0;
  // The actor exists: what is left to do for it. Anything but ok undoes the spawn.
  [[nodiscard]] virtual Errc after_spawn(core::Host&, core::ActorId) { return Errc::ok; }
  [[nodiscard]] virtual bool makes_supervisors() const noexcept { return false; }
  // Ends the factory and gives its memory back.
  virtual void dispose(const base::Allocator& allocator) noexcept = 0;
};

struct ChildSpec {
  ChildFactory* factory = nullptr;  // owned
  char* name = nullptr;             // owned, may be null
  ChildMode mode = ChildMode::permanent;
  // As in core::SpawnOptions, for every start.
  uint32_t mailbox_cap = 0;
  uint32_t high_water = 0;
  base::Priority priority = base::Priority::normal;
  uint8_t home = base::kAnyWorker;  // kSomeWorker: the one of the first start, from then on
  core::Overload overload = core::Overload::refuse;
  uint32_t stop_within_ms = core::kUsualStopLimitMs;
  bool has_backoff = false;
  BackoffSpec backoff;

  void dispose(const base::Allocator& allocator) noexcept {
    if (factory != nullptr) factory->dispose(allocator);
    allocator.release(name);
    factory = nullptr;
    name = nullptr;
  }
};

struct SupervisorSpec {
  Strategy strategy = Strategy::one_for_one;
  uint32_t intensity = 0;
  uint32_t period_ms = 0;
};

}  // namespace jzx::supervise
