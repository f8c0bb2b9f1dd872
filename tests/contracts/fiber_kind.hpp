// A throwaway kind that proves the contracts fit stackful actors: straight-line code on a stack of
// its own, which blocks in receive() and wait(), can be killed there, and unwinds. The real one (a
// pool of guarded stacks, sanitizer annotations, exception globals) is a later step's.
//
// Threads: as core::Kind.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <functional>
#include <memory>
#include <optional>

#include "contracts/signal.hpp"
#include "core/guard.hpp"
#include "core/lifecycle.hpp"

namespace jzx::contracts {

// Thrown out of a wait when the fiber is to end.
struct Killed {};

class Fiber {
 public:
  using Main = std::function<void(Fiber&)>;

  explicit Fiber(Main main) : main_(std::move(main)), stack_(new char[kStackSize]) {
    context_ = boost::context::detail::make_fcontext(stack_.get() + kStackSize, kStackSize, &entry);
  }

  // ---- for the code on the fiber ----

  // Blocks until there is a message.
  RawMessage receive() {
    for (;;) {
      throw_if_killed();
      if (Envelope* envelope = turn_->take()) return envelope->as<RawMessage>();
      switch_out(turn_->pause());
    }
  }

  // As receive(), but not longer than until the signal.
  std::optional<RawMessage> receive_until(Signal& signal) {
    signal.wait_from(turn_->actor);
    for (;;) {
      throw_if_killed();
      if (Envelope* envelope = turn_->take()) return envelope->as<RawMessage>();
      if (signal.is_raised()) return std::nullopt;
      switch_out(turn_->pause());
    }
  }

  // Blocks until the signal, mail or no mail. A kill asks for an early end (`cancel`), which is to
  // raise the signal: a stack is not left while somebody may still write to it.
  void wait(Signal& signal, const std::function<void()>& cancel = {}) {
    signal.wait_from(turn_->actor);
    bool has_cancelled = false;
    while (!signal.is_raised() && !is_abandoned_) {
      if (is_killed_ && !has_cancelled && cancel) {
        has_cancelled = true;
        cancel();
        continue;
      }
      if (is_killed_ && !cancel) break;  // nothing is under way
      switch_out(core::Outcome::suspended);
    }
    throw_if_killed();
  }

  [[nodiscard]] core::Turn& turn() { return *turn_; }
  [[nodiscard]] bool is_killed() const { return is_killed_; }

  // ---- for the kind ----

  core::Outcome run(core::Turn& turn) {
    turn_ = &turn;
    has_started_ = true;
    const auto back = boost::context::detail::jump_fcontext(context_, this);
    context_ = back.fctx;
    turn_ = nullptr;
    return outcome_;
  }

  core::Outcome kill(core::Turn& turn) {
    is_killed_ = true;
    return has_started_ ? run(turn) : core::Outcome::stopped;
  }

  // The system ends: nothing that is waited for will come any more.
  void abandon(core::Turn& turn) {
    if (!has_started_ || has_ended_) return;
    is_abandoned_ = true;
    (void)kill(turn);
  }

 private:
  static constexpr size_t kStackSize = 64 * 1024;

  static void entry(boost::context::detail::transfer_t from) {
    auto& self = *static_cast<Fiber*>(from.data);
    self.caller_ = from.fctx;
    const core::Outcome outcome = core::guard(
        [&] {
          try {
            self.main_(self);
          } catch (const Killed&) {
          }
          return core::Outcome::stopped;
        },
        [&](const char* text) { return self.turn_->fail(ExitReason::panic, text); });
    self.has_ended_ = true;
    self.switch_out(outcome);
  }

  // A wait while unwinding does not throw a second time.
  void throw_if_killed() const {
    if (is_killed_ && std::uncaught_exceptions() == 0) throw Killed{};
  }

  void switch_out(core::Outcome outcome) {
    outcome_ = outcome;
    const auto back = boost::context::detail::jump_fcontext(caller_, nullptr);
    caller_ = back.fctx;
  }

  Main main_;
  std::unique_ptr<char[]> stack_;
  boost::context::detail::fcontext_t context_ = nullptr;
  boost::context::detail::fcontext_t caller_ = nullptr;
  core::Turn* turn_ = nullptr;  // a new one for every turn
  core::Outcome outcome_ = core::Outcome::suspended;
  bool has_started_ = false;
  bool has_ended_ = false;
  bool is_killed_ = false;
  bool is_abandoned_ = false;
};

class FiberKind final : public core::Kind {
 public:
  core::Outcome start(core::Actor& actor, core::Turn& turn) const override {
    return fiber_of(actor).run(turn);
  }
  core::Outcome resume(core::Actor& actor, core::Turn& turn) const override {
    return fiber_of(actor).run(turn);
  }
  core::Outcome stop(core::Actor& actor, core::Turn& turn) const override {
    return fiber_of(actor).kill(turn);
  }
  void destroy(core::Actor& actor, core::Host& host, ExitReason) const noexcept override {
    core::Turn turn(host, actor);
    fiber_of(actor).abandon(turn);
    delete &fiber_of(actor);
  }
  const char* name() const noexcept override { return "fiber"; }

 private:
  static Fiber& fiber_of(core::Actor& actor) { return *static_cast<Fiber*>(actor.body.words[0]); }
};

inline constexpr FiberKind fiber_kind;

[[nodiscard]] inline ActorId spawn_fiber(core::Host& host, Fiber::Main main) {
  core::SpawnOptions options;
  options.kind = &fiber_kind;
  options.body.words[0] = new Fiber(std::move(main));
  options.first_turn = true;
  ActorId id = core::kNobody;
  return core::spawn(host, options, id) == Errc::ok ? id : core::kNobody;
}

}  // namespace jzx::contracts
