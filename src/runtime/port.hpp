// A Port is a running system as its users reach it: the typed references of C++ through the
// functions of jzx/detail/port.hpp, C through jzx_loop. There is one kind per driver; what they
// have in common is here.
//
//   send         on a thread of the system with that thread's host, else as a foreign thread
//   other calls  with the host that begin_call() gives
//
// Threads: any, unless a member says otherwise; a loop's calls that are no sends are for its
// thread.
#pragma once

#include <jzx/detail/port.hpp>
#include <jzx/handle_pools.hpp>

#include "async/waits_for.hpp"
#include "base/call_gate.hpp"
#include "core/send.hpp"
#include "drivers/loop/fd_watches.hpp"
#include "runtime/groups.hpp"
#include "runtime/type_registry.hpp"

namespace jzx::detail {

class Port {
 public:
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  // Ends everything, then itself. Waits for other threads' calls, also for a run. False: it did
  // nothing, because it was called from inside its own run, or by a callback of itself.
  virtual bool destroy() noexcept = 0;

  // False once destroy() began.
  [[nodiscard]] bool is_open() const noexcept { return !gate_.is_closed(); }
  // A call that destroy() must wait for.
  [[nodiscard]] bool enter() noexcept { return gate_.enter(); }
  void leave() noexcept { gate_.leave(); }

  // The host whose thread this is, or nullptr. Every executor that is current is a host.
  [[nodiscard]] core::Host* host_here() const noexcept {
    return own(static_cast<core::Host*>(base::Executor::current()));
  }
  // The same, where Executor::current_inlined() is allowed.
  [[nodiscard]] core::Host* host_here_inlined() const noexcept {
    return own(static_cast<core::Host*>(base::Executor::current_inlined()));
  }
  // Only this thread runs its actors, whether it does so now or not.
  [[nodiscard]] virtual bool is_run_by_this_thread() const noexcept { return false; }
  // Any of the system's, for what needs none of its thread.
  [[nodiscard]] virtual core::Host& any_host() noexcept = 0;

  // The host to make a call with, until end_call(); nullptr: closing.
  [[nodiscard]] virtual core::Host* begin_call() noexcept = 0;
  virtual void end_call(core::Host& host) noexcept = 0;

  // A host for a turn that this thread runs by hand, until end_turn(); it is this thread's current
  // executor in between. nullptr: closing, or no memory.
  [[nodiscard]] virtual core::Host* begin_turn() noexcept = 0;
  virtual void end_turn(core::Host& host) noexcept = 0;

  // Who watches this fd.
  [[nodiscard]] virtual drivers::FdWatches& watches_for(int fd) noexcept = 0;

  // Makes a run that sleeps look at its conditions again.
  virtual void wake() noexcept = 0;

  // Ends the run under way, or else the next one.
  virtual void request_stop() noexcept = 0;

  // Sends a raw message from whatever thread this is.
  [[nodiscard]] Errc send_from_anywhere(ActorId target, const RawMessage& message) noexcept;

  // From outside of the system's threads, or of a loop's run. The envelope is from the depot.
  [[nodiscard]] Errc send_from_outside(ActorId target, Envelope& envelope) noexcept;

  // At a quiet moment.
  [[nodiscard]] core::Ledger ledger() noexcept;

  core::System system;
  runtime::Groups groups{system.allocator, system.first_generation};
  async::WaitsFor waits_for;  // looked at if the system detects deadlocks
  TypeRegistry types;
  HandlePools pools;
  void* runtime_face = nullptr;  // the jzx::Runtime that this is, if it is one

 private:
  [[nodiscard]] core::Host* own(core::Host* host) const noexcept {
    return host != nullptr && host->port == this ? host : nullptr;
  }

 protected:
  explicit Port(const core::SystemOptions& options) noexcept
      : system(options),
        pools(PoolMemory{options.allocator.alloc_fn, options.allocator.free_fn,
                         options.allocator.ctx}) {}
  ~Port() = default;

  base::CallGate gate_;
};

}  // namespace jzx::detail

namespace jzx::runtime {

// A hundred years. Longer times, which users may write down in milliseconds, are cut to this, since
// nanoseconds cannot hold them.
inline constexpr uint64_t kLongestTimeMs = 100ull * 365 * 24 * 3600 * 1000;

// For the length of a call: the host to make it with. False: the system is closing.
class Call {
 public:
  explicit Call(detail::Port& port) noexcept : port_(port), host_(port.begin_call()) {}
  ~Call() {
    if (host_ != nullptr) port_.end_call(*host_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return host_ != nullptr; }
  [[nodiscard]] core::Host& host() const noexcept { return *host_; }

 private:
  detail::Port& port_;
  core::Host* host_;
};

// A call that destroy() waits for. False: the system is closing, or there is none.
template <class System>
class Entered {
 public:
  explicit Entered(System* system) noexcept
      : system_(system != nullptr && system->enter() ? system : nullptr) {}
  ~Entered() {
    if (system_ != nullptr) system_->leave();
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return system_ != nullptr; }
  [[nodiscard]] System* operator->() const noexcept { return system_; }

 private:
  System* system_;
};

// Objects that are more aligned than malloc is: the pointer that free wants is kept in front.
template <class T, class... Args>
[[nodiscard]] T* create_aligned(const base::Allocator& allocator, Args&&... args) noexcept {
  void* memory = allocator.allocate(sizeof(T) + alignof(T) + sizeof(void*));
  if (memory == nullptr) return nullptr;
  void* place = base::align_up(static_cast<void**>(memory) + 1, alignof(T));
  static_cast<void**>(place)[-1] = memory;
  return new (place) T(std::forward<Args>(args)...);
}
template <class T>
void destroy_aligned(base::Allocator allocator, T* object) noexcept {
  if (object == nullptr) return;
  void* memory = reinterpret_cast<void**>(object)[-1];
  object->~T();
  allocator.release(memory);
}

// Two systems of a process differ in time or place.
[[nodiscard]] uint64_t make_seed(const void* place) noexcept;

// False: no system can be made for so many, and a line on stderr says it of those that are too
// many.
[[nodiscard]] bool is_actor_limit(uint32_t max_actors) noexcept;

}  // namespace jzx::runtime
