// Where I/O is begun: whose reactor does it. Code that runs in a system (a task, a fiber, a
// handler) need not say; the main program does:
//
//   auto listener = jzx::net::Listener::open(address, {}, runtime);
//
// What was opened belongs to that system, and is closed when the system ends. Of a runtime it may
// be used on any thread; of a loop on the loop's own.
#pragma once

#include <jzx/detail/export.hpp>

namespace jzx {

class SystemFace;

namespace detail {

class Port;
// An executor of the library's.
struct Keeper;
[[nodiscard]] JZX_API Keeper* keeper_here() noexcept;
[[nodiscard]] JZX_API Keeper* keeper_of(Port* port) noexcept;
[[nodiscard]] Port* port_of(const SystemFace& face) noexcept;

}  // namespace detail

namespace net {

class Home {
 public:
  // The system whose code calls.
  Home() noexcept : keeper_(detail::keeper_here()) {}
  template <class System>
  requires requires(const System& system) { detail::port_of(system); }
  Home(const System& system) noexcept  // NOLINT: a system is a home
      : keeper_(detail::keeper_of(detail::port_of(system))) {}

  // nullptr: there is none; whatever is begun there is refused.
  [[nodiscard]] detail::Keeper* keeper() const noexcept { return keeper_; }

 private:
  detail::Keeper* keeper_;
};

}  // namespace net
}  // namespace jzx
