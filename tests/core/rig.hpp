// What the inside tests share: a one-thread system whose time and memory are the test's, and actors
// whose bodies are lambdas over the core's own Turn, so that outcomes can be chosen freely. It is
// run by a loop, or by the simulator if the test is; see support/any_driver.hpp.
//
// When a Rig goes away it checks what must hold after every run: the ledger balances and every byte
// went back to the allocator.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/time/clock.hpp"
#include "core/lifecycle.hpp"
#include "core/send.hpp"
#include "core/turn.hpp"
#include "runtime/loop_system.hpp"
#include "support/any_driver.hpp"
#include "support/counting_allocator.hpp"

namespace jzx::testing {

// The body of a test's actor. An empty function does the obvious thing.
struct Script {
  // One message; wants_mail: go on with the next.
  std::function<core::Outcome(core::Turn&, Envelope&)> handle = nullptr;
  std::function<core::Outcome(core::Turn&)> start = nullptr;
  std::function<core::Outcome(core::Turn&)> stop = nullptr;
  std::function<void(ExitReason)> destroyed = nullptr;
};

class ScriptKind final : public core::Kind {
 public:
  core::Outcome start(core::Actor& actor, core::Turn& turn) const override {
    const Script& script = script_of(actor);
    return script.start ? script.start(turn) : core::Outcome::wants_mail;
  }
  core::Outcome resume(core::Actor& actor, core::Turn& turn) const override {
    const Script& script = script_of(actor);
    while (Envelope* envelope = turn.take()) {
      if (!script.handle) continue;
      const core::Outcome outcome = script.handle(turn, *envelope);
      if (outcome != core::Outcome::wants_mail) return outcome;
    }
    return turn.pause();
  }
  core::Outcome stop(core::Actor& actor, core::Turn& turn) const override {
    const Script& script = script_of(actor);
    return script.stop ? script.stop(turn) : core::Outcome::stopped;
  }
  void destroy(core::Actor& actor, core::Host&, ExitReason reason) const noexcept override {
    Script* script = &script_of(actor);
    if (script->destroyed) script->destroyed(reason);
    delete script;
  }
  const char* name() const noexcept override { return "script"; }

 private:
  static Script& script_of(core::Actor& actor) {
    return *static_cast<Script*>(actor.body.words[0]);
  }
};

inline constexpr ScriptKind script_kind;

// A new life in a free slot; the answer is its generation.
inline uint32_t open_slot(core::StateWord& word, uint32_t first_generation, bool first_turn) {
  const uint32_t generation = word.next_generation(first_generation);
  word.open(generation, first_turn);
  return generation;
}

// The number that a test's message carries.
[[nodiscard]] inline uint64_t value_of(Envelope& envelope) { return envelope.as<RawMessage>().tag; }

[[nodiscard]] inline base::Allocator allocator_of(CountingAllocator& counting) {
  const jzx_allocator functions = counting.c_allocator();
  return base::Allocator{functions.alloc, functions.free, functions.ctx};
}

// Sends a number from the host's own thread.
[[nodiscard]] inline Errc send_value(core::Host& host, ActorId target, uint32_t value) {
  Envelope* envelope = host.envelopes.take(&raw_message_type, host.acting());
  if (envelope == nullptr) return Errc::no_memory;
  new (envelope->storage) RawMessage{nullptr, 0, value};
  const Errc result = core::send(host, target, *envelope);
  if (result != Errc::ok) host.envelopes.give(*envelope);
  return result;
}

// The same from any other thread; admission alone decides, without a look beforehand.
[[nodiscard]] inline Errc send_value_foreign(core::Host& host, ActorId target, uint32_t value) {
  Envelope* envelope = host.system.envelopes.take_foreign(&raw_message_type);
  if (envelope == nullptr) return Errc::no_memory;
  new (envelope->storage) RawMessage{nullptr, 0, value};
  const Errc result = core::send_foreign(host, target, *envelope);
  if (result != Errc::ok) host.system.envelopes.give_back(*envelope);
  return result;
}

[[nodiscard]] inline Errc spawn_script(core::Host& host, Script script, ActorId& out,
                                       core::SpawnOptions options = {}) {
  options.kind = &script_kind;
  auto* body = new Script(std::move(script));
  options.body.words[0] = body;
  const Errc result = core::spawn(host, options, out);
  if (result != Errc::ok) delete body;
  return result;
}

class Rig {
 public:
  explicit Rig(runtime::LoopOptions options = {}, bool jump_when_idle = false)
      : clock(jump_when_idle) {
    if (is_simulated(chosen_driver())) {
      sim_.emplace(chosen_driver(), SimEngineOptions{.max_actors = options.max_actors},
                   memory.c_allocator());
      port_ = sim_->port();
      return;
    }
    options.allocator = allocator_of(memory);
    options.clock = &clock;
    parts = runtime::LoopSystem::create(options);
    if (parts == nullptr) std::abort();
    port_ = parts;
  }
  ~Rig() { close(); }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  void close() {
    if (port_ == nullptr) return;
    expect_balanced();
    if (sim_) {
      sim_->close();
    } else {
      parts->destroy();
    }
    port_ = parts = nullptr;
    EXPECT_EQ(memory.live_blocks(), 0) << "everything goes back to the allocator";
  }

  void expect_balanced() {
    const core::Ledger ledger = port_->ledger();
    EXPECT_TRUE(ledger.balanced())
        << "accepted " << ledger.accepted << ", handled " << ledger.handled << ", dead-lettered "
        << ledger.dead_lettered << ", queued " << ledger.queued;
  }

  [[nodiscard]] drivers::Worker& worker() { return parts->worker; }
  [[nodiscard]] core::Host& host() { return port_->any_host(); }
  [[nodiscard]] core::System& system() { return port_->system; }

  ActorId spawn(Script script = {}, core::SpawnOptions options = {}) {
    ActorId id = core::kNobody;
    EXPECT_EQ(spawn_script(host(), std::move(script), id, options), Errc::ok);
    return id;
  }

  Errc send(ActorId target, uint32_t value) { return send_value(host(), target, value); }

  [[nodiscard]] bool is_alive(ActorId id) { return system().find_live(id) != nullptr; }
  [[nodiscard]] core::Actor& actor(ActorId id) { return *system().actors.find(id); }

  void tick() { EXPECT_EQ(worker().tick(0), 0); }

  // Runs until there is nothing left to do at this moment.
  void settle() {
    if (sim_) return sim_->settle();
    for (int ticks = 0; ticks < 1'000'000; ++ticks) {
      tick();
      if (!worker().has_work()) return;
    }
    ADD_FAILURE() << "it never comes to rest";
  }

  // Time moves, in between two quiet moments.
  void advance(uint64_t ms) {
    settle();
    if (sim_) {
      sim_->move_time(ms * base::kNanosPerMilli);
    } else {
      clock.advance_ms(ms);
    }
    settle();
  }

  CountingAllocator memory;
  base::ManualClock clock;               // of a loop
  runtime::LoopSystem* parts = nullptr;  // of a loop

 private:
  detail::Port* port_ = nullptr;
  std::optional<SimEngine> sim_;
};

}  // namespace jzx::testing
