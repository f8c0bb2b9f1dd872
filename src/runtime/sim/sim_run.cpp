#include "runtime/sim/sim_run.hpp"

#include <algorithm>
#include <utility>

#include "async/future_memory.hpp"
#include "core/guard.hpp"
#include "core/mailbox.hpp"
#include "runtime/record/plain_name.hpp"
#include "runtime/sim/sim_times.hpp"

namespace jzx::detail {

using drivers::sim::SimHost;
using drivers::sim::Step;
using drivers::sim::StepKind;

// ---- the run ----

SimRun::SimRun(const SimOptions& the_options, drivers::sim::Policy& policy, uint64_t the_seed,
               bool told, SimFittings the_fittings)
    : trace_(told),
      options(the_options),
      seed(the_seed),
      fittings(std::move(the_fittings)),
      simulator(policy),
      network(simulator.time(), simulator.choices()),
      oracles(trace_) {
  simulator.outside = &network.events();
  simulator.witness = this;
  simulator.may_fail = [this](SimHost& host, ActorId id) {
    return exempt.empty() || !exempt.contains({host.node(), id});
  };
  SimNode& first = node("main");
  sim_.reset(new Sim(*this, port_of(first)));
}

SimRun::~SimRun() {
  network.events().clear();
  simulator.witness = nullptr;
  simulator.faults = {};
  faults = {};
  // All of them, before the first one's memory goes: coroutines that end with their node run on to
  // their ends, and may look at another.
  for (const auto& node : nodes_) {
    if (node->system != nullptr) (void)node->system->power_off();
  }
}

void SimRun::play(const std::function<void(Sim&)>& scenario) {
  const bool is_done = core::guard(
      [&] {
        scenario(*sim_);
        end();
        return true;
      },
      [&](const char* text) {
        fail(std::string("the scenario threw: ") + text);
        return false;
      });
  (void)is_done;
}

// ---- steps ----

namespace {

class Moving {
 public:
  explicit Moving(bool& is_moving) noexcept : is_moving_(is_moving) { is_moving_ = true; }
  ~Moving() { is_moving_ = false; }
  Moving(const Moving&) = delete;
  Moving& operator=(const Moving&) = delete;

 private:
  bool& is_moving_;
};

}  // namespace

bool SimRun::may_move() {
  if (!is_moving_) return true;
  fail("a step, a run or finish() was called in the middle of a step: only the scenario may do so");
  return false;
}

// Futures, and the frames of coroutines, have their memory from the process. Some of what makes one
// has no answer but std::bad_alloc: without exceptions they are left alone.
template <class F>
auto SimRun::short_of_memory(F&& step) {
#ifdef __cpp_exceptions
  if (faults.allocation != 0) {
    const async::BlockGate gate(
        [](void* run) noexcept { return static_cast<SimRun*>(run)->refuses_memory(); }, this);
    return step();
  }
#endif
  return step();
}

bool SimRun::step(uint64_t latest_ns) {
  if (!may_move()) return false;
  if (has_failed()) return switch_off(), false;
  latest_ns = std::min(latest_ns, last_ns());
  const bool is_done = short_of_memory([&] {
    const Moving now(is_moving_);
    return simulator.step(latest_ns);
  });
  if (!is_done) return false;
  if (has_failed()) return switch_off(), false;
  if (simulator.steps() > options.max_steps) {
    fail("livelock, or timers without end: after " + std::to_string(options.max_steps) +
         " steps there is still work");
  } else if (faults.crash != 0 || faults.partition != 0) {
    strike();
  }
  return !has_failed();
}

uint64_t SimRun::last_ns() const noexcept {
  return runtime::time_after(drivers::sim::VirtualTime::kStart, options.max_time);
}

bool SimRun::pass_time() {
  if (!may_move() || has_failed() || simulator.has_ready()) return false;
  const uint64_t next_ns = simulator.next_event_ns();
  if (next_ns == base::kNever || next_ns > last_ns()) return false;
  move_to(next_ns);
  return true;
}

void SimRun::move_to(uint64_t ns) {
  if (!may_move()) return;
  const Moving now(is_moving_);
  simulator.move_to(ns);
}

void SimRun::fail(std::string what) {
  if (has_failed()) return;
  failure_ = std::move(what);
  note("FAILED: " + failure_);
}

// A run that has failed is over. What still waits hears of it now, while what the scenario has on
// its stack is there.
void SimRun::switch_off() {
  if (base::Executor::current() != nullptr) return;  // when the step has ended
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i]->system != nullptr) (void)nodes_[i]->system->power_off();
  }
}

void SimRun::check_rest() {
  if (has_failed()) return;
  const bool is_at_rest = !simulator.has_ready() && !simulator.has_delayed();
  for (const auto& node : nodes_) {
    if (node->system == nullptr || has_failed()) continue;
    fail_if(is_at_rest ? oracles.at_rest(*node->system, node->system->host)
                       : oracles.ledger(*node->system));
  }
}

// Nothing will happen any more: who waits now waits for ever.
void SimRun::check_waits() {
  if (!options.stuck_wait_fails || has_failed()) return;
  if (simulator.has_ready() || simulator.has_delayed() || simulator.has_timers()) return;
  std::string names;
  for (const auto& node : nodes_) {
    if (node->system == nullptr) continue;
    const std::string here = oracles.stuck(*node->system, node->system->host);
    if (!here.empty()) names += (names.empty() ? "" : ", ") + here;
  }
  if (!names.empty()) fail("in the end these wait for what will never come: " + names);
}

bool SimRun::look_at(const Claim& claim, const char* otherwise) {
  std::string thrown;
  const bool holds = core::guard([&] { return claim.holds(); },
                                 [&](const char* text) {
                                   thrown = std::string(" (looking at it threw: ") + text + ')';
                                   return false;
                                 });
  if (!holds) fail(otherwise + claim.what + thrown);
  return holds;
}

void SimRun::finish() {
  if (!may_move()) return;
  if (std::exchange(has_finished_, true)) return;
  heal();
  const uint64_t end_ns = runtime::time_after(simulator.time().now_ns(), options.settle);
  while (step(end_ns)) {
  }
  if (has_failed()) return;
  check_rest();
  for (const Claim& claim : eventually) {
    if (!look_at(claim, "in the end it is not so: ")) break;
  }
  check_waits();
}

void SimRun::end() {
  if (has_failed() || has_finished_) return;
  if (!eventually.empty()) {
    return fail("the scenario says what must be so eventually, but did not call finish()");
  }
  check_rest();
}

void SimRun::note(std::string text) {
  trace_.add_note(simulator.time().now_ns(), current_step_, std::move(text));
}

// ---- what is seen ----

void SimRun::before_step(SimHost& host, const Step& step) {
  current_step_ = step.number;
  trace_.add_step(step);
  fail_if(oracles.before_step(host, step));
  if (!mocks.empty() && step.kind == StepKind::message) put_mock(host, step);
}

// The message is about to be handled: its type says by whom.
void SimRun::put_mock(SimHost& host, const Step& step) {
  core::Actor* actor = host.system.actors.find(step.actor);
  if (actor == nullptr || actor->inbox.is_empty()) return;
  Envelope& envelope = *actor->inbox.oldest();
  const std::string_view type = actor->kind->type_name(*actor);
  // The last one counts.
  for (auto mock = mocks.rbegin(); mock != mocks.rend(); ++mock) {
    if (mock->key != envelope.type->key || mock->actor != type) continue;
    envelope.type = mock->instead;
    return;
  }
}

void add_mock(SimRun& run, SimMock mock) { run.mocks.push_back(std::move(mock)); }

void* mock_function(const MessageType& instead) noexcept {
  auto* host = static_cast<core::Host*>(base::Executor::current());
  const SimRun& run = *static_cast<runtime::SimSystem*>(static_cast<Port*>(host->port))->run;
  for (auto mock = run.mocks.rbegin(); mock != run.mocks.rend(); ++mock) {
    if (mock->instead == &instead) return mock->function.get();
  }
  return nullptr;
}

// ---- single actors ----

bool SimRun::step_of(Pid pid) {
  if (!may_move() || has_failed() || pid.port() == nullptr) return false;
  const auto& system = static_cast<runtime::SimSystem&>(*pid.port());
  const uint64_t who = drivers::sim::Simulator::name_of(system.host.node(), pid.id());
  const auto ready = simulator.candidates();
  for (uint32_t i = 0; i < ready.size(); ++i) {
    if (ready[i].who != who) continue;
    short_of_memory([&] {
      const Moving now(is_moving_);
      simulator.run_candidate(i);
    });
    return !has_failed();
  }
  return false;
}

std::vector<SimMessage> SimRun::mailbox(Pid pid) {
  std::vector<SimMessage> messages;
  if (pid.port() == nullptr) return messages;
  core::System& system = pid.port()->system;
  core::Actor* actor = system.find_open(pid.id());
  if (actor == nullptr) return messages;
  core::fetch_arrivals(*actor);
  const auto add = [&](const Envelope& envelope, bool is_put_aside) {
    SimMessage message;
    message.type = runtime::plain_type_name(envelope.type->inner->name);
    if (envelope.sender != 0) message.from = Pid(pid.port(), envelope.sender);
    message.key = envelope.type->inner;
    message.message = inner_message(const_cast<Envelope&>(envelope));  // shown as const
    message.is_put_aside = is_put_aside;
    messages.push_back(std::move(message));
  };
  const core::Inbox& inbox = actor->inbox;
  for (const Envelope* one = inbox.oldest(); one != nullptr; one = inbox.after(*one)) {
    add(*one, false);
  }
  actor->kind->show_put_aside(
      *actor,
      [](void* adder, const Envelope& one) { (*static_cast<decltype(add)*>(adder))(one, true); },
      const_cast<void*>(static_cast<const void*>(&add)));
  return messages;
}

void SimRun::after_step(SimHost& host, const Step& step) {
  fail_if(oracles.after_step(host, step));
  current_step_ = 0;
  for (const Claim& claim : always) {
    if (!look_at(claim, "it must always be so: ")) return;
  }
}

void SimRun::message_sent(SimHost& host, ActorId target, const Envelope& envelope, uint64_t,
                          uint64_t) {
  fail_if(oracles.sent(host, target, envelope));
}

void SimRun::send_refused(SimHost& host, ActorId target, const Envelope& envelope, Errc error) {
  const char* type = envelope.type != nullptr ? envelope.type->inner->name : "a message";
  note(std::string(type) + " to " + name_of(host.node(), target) +
       " is refused (fault): " + to_string(error));
}

void SimRun::message_held(SimHost& host, ActorId target, const Envelope& envelope) {
  note(runtime::plain_type_name(envelope.type->inner->name) + " to " +
       name_of(host.node(), target) + " is delayed (fault)");
}

SimNode& SimRun::node(std::string_view name) {
  for (const auto& node : nodes_) {
    if (node->name == name) return *node->face;
  }
  const uint32_t number = network.add_node(std::string(name));
  trace_.name_node(number, std::string(name));
  nodes_.push_back(std::make_unique<SimNodeState>(*this, number, std::string(name)));
  nodes_.back()->switch_on();
  return *nodes_.back()->face;
}

}  // namespace jzx::detail
