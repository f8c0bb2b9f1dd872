// Ending a runtime in good order: everybody is asked to end, children before their parents as
// always, and whoever has not when the time is up is named, with the reason. Functions of
// spawn_blocking() cannot be asked; they are waited for as well.
#include <algorithm>
#include <string>

#include "core/lifecycle.hpp"
#include "runtime/runtime_system.hpp"

namespace jzx::runtime {

namespace {

constexpr const char* kEndIsRunning = "its on_stop or its destructor is still running";

// Under its lock: the id of the live actor in this slot, or kNobody. Not by the actor's own word:
// one that is just being born has not published it yet.
ActorId id_of_live(core::System& system, core::Actor& actor, uint32_t slot) noexcept {
  const ActorId id = core::make_id(slot, actor.state.generation());
  return system.is_live(actor, id) ? id : core::kNobody;
}

std::string reason_to_live(core::System& system, core::Actor& actor, ActorId id) {
  const char* running = nullptr;
  system.for_each_host([&](core::Host& host) {
    if (host.acting() != id) return;
    running = host.handling() == &core::end_step ? kEndIsRunning : "its handler is still running";
  });
  if (running != nullptr) return running;
  if (actor.relations != nullptr && !actor.relations->children.empty()) {
    const core::Actor& youngest = *actor.relations->children.back()->actor;
    return std::string("it waits for the end of its child ") +
           (youngest.label != nullptr ? youngest.label : std::to_string(youngest.own_id));
  }
  if (actor.home() == base::kByHand) return "it runs by hand, and nobody polls it";
  const uint32_t queued = core::queued_count(actor);
  return "its turn has not come; " + std::to_string(queued) + " messages are queued";
}

// The functions of one kind, if there are any.
void name_functions(std::vector<Straggler>& all, uint32_t count, const char* what_one_does,
                    const char* what_many_do) {
  if (count == 0) return;
  Straggler straggler;
  straggler.name = "spawn_blocking";
  straggler.why = count == 1 ? std::string("a function ") + what_one_does
                             : std::to_string(count) + " functions " + what_many_do;
  all.push_back(std::move(straggler));
}

}  // namespace

bool RuntimeSystem::is_nobody_left() const noexcept {
  return system.alive_count() == 0 && blocking_functions.left().nobody();
}

// The parents' children are their own business.
void RuntimeSystem::ask_everybody_to_end() noexcept {
  Call call(*this);
  if (!call) return;
  system.actors.for_each_slot_now([&](core::Actor& actor, uint32_t slot) {
    ActorId id = core::kNobody;
    {
      core::Bonds hold(system.is_shared, actor);
      id = id_of_live(system, actor, slot);
      if (id != core::kNobody && actor.child != nullptr) id = core::kNobody;
    }
    // no_such_actor: it is ending already.
    if (id != core::kNobody) (void)core::request_exit(call.host(), id, ExitReason::normal);
  });
}

std::vector<Straggler> RuntimeSystem::shut_down(uint64_t timeout_ns) {
  const uint64_t now_ns = clock_.now_ns();
  const uint64_t deadline_ns =
      timeout_ns > base::kNever - now_ns - 1 ? base::kNever - 1 : now_ns + timeout_ns;
  if (front_desk_->tap != nullptr) front_desk_->tap->closing();
  system.refuse_spawns();
  blocking_functions.refuse();
  for (;;) {
    const uint32_t heard = rings();
    ask_everybody_to_end();
    if (is_nobody_left()) return {};
    // Not for long: somebody may have been born when we had passed its place.
    const uint64_t look_again_ns = clock_.now_ns() + 50 * base::kNanosPerMilli;
    (void)wait_for_bell(heard, std::min(deadline_ns, look_again_ns));
    if (clock_.now_ns() >= deadline_ns) break;
  }
  std::vector<Straggler> alive;
  const drivers::BlockingFunctions::Left functions = blocking_functions.left();
  name_functions(alive, functions.running, "is still running", "are still running");
  name_functions(alive, functions.waiting, "waits for a thread", "wait for a thread");
  if (system.alive_count() == 0) return alive;
  system.actors.for_each_slot_now([&](core::Actor& actor, uint32_t slot) {
    Straggler straggler;
    {
      core::Bonds hold(system.is_shared, actor);
      const ActorId id = id_of_live(system, actor, slot);
      if (id == core::kNobody) return;
      straggler.id = id;
      if (actor.label != nullptr) straggler.name = actor.label;
      straggler.why = reason_to_live(system, actor, id);
    }
    alive.push_back(std::move(straggler));
  });
  // One that is just ending is in no list any more, but its end may hang.
  system.for_each_host([&](core::Host& host) {
    const ActorId id = host.acting();
    const auto is_it = [id](const Straggler& one) { return one.id == id; };
    if (id == core::kNobody || std::any_of(alive.begin(), alive.end(), is_it)) return;
    Straggler straggler;
    straggler.id = id;
    host.see_dying([&](const core::Host::Dying& dying) {
      if (dying.id == id && dying.label != nullptr) straggler.name = dying.label;
    });
    straggler.why = kEndIsRunning;
    alive.push_back(std::move(straggler));
  });
  return alive;
}

}  // namespace jzx::runtime
