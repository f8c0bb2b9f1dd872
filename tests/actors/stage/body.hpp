// Body: one way to write an actor, as the suite knows it. To add one: implement this in
// tests/actors/<name>_body.cpp, declare it below and list it in bodies.cpp.
//
// Threads: a constant.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/stage/world.hpp"

namespace jzx::actors {

// What not every face offers.
enum class Trait : uint8_t {
  priority,   // Wish::priority
  overload,   // Wish::overload
  placement,  // Wish::placement
  texts,      // fail() says why, and signals carry it
};

class Body {
 public:
  virtual ~Body() = default;
  [[nodiscard]] virtual const char* name() const = 0;
  // The system as a test sees it that uses this body.
  [[nodiscard]] virtual std::unique_ptr<World> open_world(Stage& stage) const = 0;
  // Why tests that need this are skipped; nullptr: they are not.
  [[nodiscard]] virtual const char* lacks(Trait) const { return nullptr; }
};

[[nodiscard]] const Body& behaviour_body();
[[nodiscard]] const Body& handlers_body();
[[nodiscard]] const Body& fiber_body();
[[nodiscard]] const Body& coroutine_body();

[[nodiscard]] std::vector<const Body*> all_bodies();

}  // namespace jzx::actors
