// Simulation: run unchanged actors in a test, in virtual time, once for each of many seeds. Every
// seed is another order of events and other faults; a seed that fails is printed as one line that
// repeats it, shrunk to few choices, and told as a story of causes.
//
//   jzx::SimReport report = jzx::simulate({.name = "Bank.LosesNothing", .seeds = 1000},
//                                         [](jzx::Sim& sim) {
//     auto bank = sim.spawn<Bank>();
//     sim.always("no account is overdrawn", [&] { return …; });
//     bank << Transfer{…};
//     sim.run();
//     sim.check(…, "all money is there");
//     sim.finish();
//   });
//   EXPECT_TRUE(report) << report.text();
//
// The scenario is called once per seed and must do the same whenever it is: no time, randomness or
// threads but those of the Sim; check_determinism finds out whether that is so. When it returns the
// run is over: no actor runs any more, so actors and claims may refer to what is local to it. Two
// things still happen when it is taken down: actors are destroyed, and futures that nobody resolved
// are rejected. What destructors and continuations need is made by Sim::make(). A run that fails is
// taken down at once.
//
// Environment: JZX_SEED=n runs that seed only; JZX_SEED_COUNT=n so many seeds;
// JZX_CHOICES=n3:1,f17:2 repeats a shrunk run.
//
// Threads: one. A reference of a simulated actor must not be used by another thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <jzx/actor.hpp>
#include <jzx/context.hpp>
#include <jzx/net/address.hpp>
#include <jzx/observer.hpp>
#include <jzx/sim/world_faults.hpp>
#include <jzx/system.hpp>

namespace jzx {

enum class SimPolicy : uint8_t {
  fifo,    // one global order, the oldest cause first; no faults: the same for every seed
  random,  // the seed decides everything
  pct,     // priorities that change at few steps: for bugs that need few particular orders
  // Every order, for as many choices as `depth` says, one run after the other, at most `seeds`.
  // What has a rate among the faults happens and does not happen, as a choice like the others;
  // amounts are the least ones. JZX_SEED and check_determinism have no meaning, and swarm is
  // refused.
  dfs,
};

// What may go wrong. Rates are in cases of a million; 0 is never. Who is exempt: see
// Sim::protect().
struct SimFaults {
  uint32_t kill = 0;  // per turn: the actor is killed instead
  // Per message: its handler throws instead. Of fibers and coroutines, per wait that ends: the
  // receive, sleep, get() or co_await throws instead of returning. A std::runtime_error. Where the
  // library is built without exceptions, what waits ends with a panic.
  uint32_t throws = 0;
  // So does one of them all, and only that: the n-th from when this is set. Or one of the next n,
  // or none, as the seed chooses.
  uint32_t throw_at = 0;
  uint32_t throw_within = 0;
  // Per send between actors: it arrives later. So does, behind it, what the same actor sends to the
  // same one meanwhile; what others send overtakes it.
  uint32_t delay = 0;
  uint32_t full_mailbox = 0;  // per send between actors: refused
  uint32_t no_memory = 0;     // the same, for another reason
  // Per allocation during a step: there is no memory. Of actors and what the system keeps for them;
  // of futures, frames of coroutines, locks and channels, if the library has exceptions: of some
  // the only answer is a std::bad_alloc.
  uint32_t allocation = 0;
  uint32_t clock_jump = 0;  // per turn: its node's clock jumps ahead
  // By how many millionths, at most, the clock of each node runs too fast or too slow; not more
  // than half a million. Chosen for each when this is switched on, and when the node starts.
  uint32_t clock_skew = 0;
  uint32_t storm = 0;      // how many new actors, at most, are killed in a row after a kill
  uint32_t crash = 0;      // per step: a node that knows how to start crashes, and starts again
  uint32_t partition = 0;  // per step: two nodes are cut off from one another for a while
  // Longer than max_time: as long as that. Negative ones are refused.
  std::chrono::milliseconds longest_delay{100};
  std::chrono::milliseconds longest_jump{10'000};
  std::chrono::milliseconds longest_outage{5'000};  // of crashes and partitions
  SimNetworkFaults network{};
  SimDiskFaults disk{};  // of every node

  // Some of everything.
  [[nodiscard]] JZX_API static SimFaults all() noexcept;
};

struct SimOptions {
  std::string name = "simulation";  // as the test framework knows it: for the line that repeats it
  uint64_t first_seed = 1;
  uint32_t seeds = 100;  // not 0
  SimPolicy policy = SimPolicy::random;
  // Of pct: how many orders must be just so, at most 10,000; of dfs: how many choices are explored.
  uint32_t depth = 3;
  SimFaults faults{};
  bool swarm = false;  // each seed has a random part of the faults, and others not
  // Every seed twice, and compared step by step: when, who, which type of message from whom, which
  // mishap, and what is noted. What is inside of messages is not compared: a difference there is
  // only seen when it changes what happens.
  bool check_determinism = false;
  bool shrink = true;
  // One run, with first_seed, by this list: what JZX_CHOICES says in a line that repeats a failure.
  // To keep such a run as a test. Empty: the policy decides.
  std::string choices{};
  // More in one run is a livelock, or a run() among timers that never end: see run_for().
  uint64_t max_steps = 1'000'000;
  // Virtual time has 146 years: what is longer is for ever. Negative times are refused.
  std::chrono::milliseconds settle = std::chrono::minutes(10);  // how long finish() waits, at most
  std::chrono::milliseconds max_time = std::chrono::hours(24 * 365);  // virtual; timers later wait
  bool deadlock_fails = true;  // actors that wait for one another's answers: see detect_deadlocks
  // Actors that still wait when finish() has let all come to rest, and no timer is armed that could
  // change it: for a lock, a message of a channel, a connection, a future that nobody resolves,
  // room in a mailbox. Not those that only wait for mail.
  bool stuck_wait_fails = false;
  uint32_t default_mailbox_cap = 1024;
  Observer* observer = nullptr;  // of all nodes
};

struct SimReport {
  bool passed = true;
  std::string failure;        // what was wrong
  uint64_t seed = 0;          // of the failure
  std::string repeat;         // the line that repeats it
  std::string repeat_shrunk;  // the same, with no more choices than needed
  std::string misfit;         // of a list to repeat: what of it could not be done; empty: nothing
  std::string trace;          // what happened, after shrinking, and because of what
  size_t choices = 0;         // that were not plain
  size_t shrunk = 0;          // of these were needed
  uint64_t runs = 0;          // seeds that were run
  uint64_t steps = 0;         // over all runs
  std::chrono::nanoseconds simulated{0};
  uint64_t hash = 0;  // of all steps of all runs

  [[nodiscard]] explicit operator bool() const noexcept { return passed; }
  // For people: all of it.
  [[nodiscard]] JZX_API std::string text() const;
};

namespace detail {

class SimRun;
struct SimNodeState;

// Stands in for the handler of one message of one type of actor.
struct SimMock {
  std::string_view actor;      // the type's name
  const MessageType* key;      // of the message, or of the ask
  const MessageType* instead;  // what calls `function`
  std::shared_ptr<void> function;
};
JZX_API void add_mock(SimRun& run, SimMock mock);
// The function of the mock that runs now.
[[nodiscard]] JZX_API void* mock_function(const MessageType& instead) noexcept;

template <class A, class M>
using MockFunction = std::function<ReplyOf<A, M>(M, Context&)>;

template <class A, class M>
void handle_mocked(void*, Context& context, Envelope& envelope) {
  auto& function = *static_cast<MockFunction<A, M>*>(mock_function(*envelope.type));
  (void)function(std::move(message_in<M>(envelope)), context);
}
template <class A, class M>
inline constexpr MessageType mocked_message{type_name<M>.data(),   &message_type<M>,
                                            destroy_or_nothing<M>, &handle_mocked<A, M>,
                                            &message_type<M>,      !fits_inline<M>};

template <class A, class M>
void handle_mocked_ask(void*, Context& context, Envelope& envelope) {
  auto& function = *static_cast<MockFunction<A, M>*>(mock_function(*envelope.type));
  auto& ask = message_in<Ask<M, ReplyOf<A, M>>>(envelope);
  answer<ReplyOf<A, M>>(context, ask.promise, [&]() -> ReplyOf<A, M> {
    return function(std::move(ask.message), context);
  });
}
template <class A, class M>
inline constexpr MessageType mocked_ask{type_name<M>.data(),
                                        &message_type<Ask<M, ReplyOf<A, M>>>,
                                        destroy_or_nothing<Ask<M, ReplyOf<A, M>>>,
                                        &handle_mocked_ask<A, M>,
                                        &message_type<M>,
                                        !fits_inline<Ask<M, ReplyOf<A, M>>>};

}  // namespace detail

// A message that waits for an actor.
struct SimMessage {
  std::string type;  // as it is written in C++; of an ask, what is asked
  Pid from;          // empty: from outside, or the system
  const MessageType* key = nullptr;
  const void* message = nullptr;  // good until the next step
  // Stashed, or passed over by a fiber's selective receive: the actor has seen it, and will take it
  // when it wants to.
  bool is_put_aside = false;

  // nullptr: it is another type.
  template <class M>
  [[nodiscard]] const M* as() const noexcept {
    return key == &detail::message_type<M> ? static_cast<const M*>(message) : nullptr;
  }
};

// One simulated machine: a system of its own, which may crash and be started again.
class JZX_API SimNode : public SystemFace {
 public:
  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;

  [[nodiscard]] const std::string& name() const noexcept;
  // What it does when it is switched on; called at once, and again by restart().
  void on_start(std::function<void(SimNode&)> start);
  // Everything on it is gone at once; nobody has a last word, and nobody elsewhere is told.
  // References into it are stale from then on.
  void crash();
  // Crashes if it has not, and starts again.
  void restart();
  [[nodiscard]] bool is_up() const noexcept;
  // Its clock shows more than there is. A negative time is a failure of the run.
  void jump_clock(std::chrono::milliseconds ahead);
  // From now on its clock runs by so many millionths too fast, or too slow if that is negative;
  // half a million at most. Its timers go by it. Until it is healed or crashes: what starts again
  // has a new clock, which is right.
  void skew_clock(int32_t per_million);

  // ---- its outside ----

  // Where others reach it; its name can be resolved, too.
  [[nodiscard]] net::Address address(uint16_t port) const;
  // Its process gets a signal. How many listen to it.
  size_t raise(int signal);
  // A file of its disk, as everybody reads it; nothing: there is none.
  [[nodiscard]] std::optional<std::string> file(std::string_view path) const;
  // Puts it there, safely.
  void put_file(std::string_view path, std::string contents);

 private:
  friend class SimNetwork;
  friend class detail::SimRun;
  friend struct detail::SimNodeState;
  explicit SimNode(detail::SimNodeState& state) noexcept;

  detail::SimNodeState* state_;
};

// What lies between the nodes.
class JZX_API SimNetwork {
 public:
  enum class Way : uint8_t { both, one };
  void partition(const SimNode& a, const SimNode& b, Way way = Way::both);
  void heal();
  void heal(const SimNode& a, const SimNode& b);
  // All connections between the two are reset. How many they were.
  size_t reset(const SimNode& a, const SimNode& b);

 private:
  friend class Sim;
  explicit SimNetwork(detail::SimRun& run) noexcept : run_(run) {}

  detail::SimRun& run_;
};

// One run. It is the system of its first node, "main".
class JZX_API Sim : public SystemFace {
 public:
  Sim(const Sim&) = delete;
  Sim& operator=(const Sim&) = delete;

  // ---- running ----
  // By the scenario only. An actor or a claim that calls one of these is in the middle of a step:
  // that is a failure of the run.

  // One turn, and before it time goes on if nothing is ready. False: nothing is left to do, or the
  // run has failed.
  bool step();
  // Until nothing is left to do: nobody is ready and no timer is armed.
  void run();
  // The same, for so much virtual time, which passes even if nothing is left to do, unless it is
  // for ever (milliseconds::max()). A negative time is a failure of the run.
  void run_for(std::chrono::milliseconds time);
  // False: there was nothing more to do, and it was not so.
  bool run_until(const std::function<bool()>& is_so);
  // Until the future has its result. An error if nothing is left to do before that.
  template <class T>
  Result<T> run_until(Future<T> future) {
    run_until([&] { return future.is_ready(); });
    if (!future.is_ready())
      return Error(Errc::timed_out, "nothing is left to do", "Sim::run_until");
    return future.get();
  }
  template <class T>
  Result<T> run_until(Task<T> task) {
    return run_until(spawn_async(std::move(task)));
  }

  // Since the beginning of the run.
  [[nodiscard]] std::chrono::nanoseconds now() const noexcept;
  [[nodiscard]] uint64_t steps() const noexcept;
  [[nodiscard]] uint64_t seed() const noexcept;

  // ---- single actors and messages; see testkit.hpp ----

  // One turn of this actor. False: it has nothing to do now.
  bool step(Pid actor);
  // What waits for it: its mail, the oldest first, and behind that what it has put aside, the
  // oldest first. Not what is delayed on its way (SimFaults::delay).
  [[nodiscard]] std::vector<SimMessage> mailbox(Pid actor);
  // From now on messages M to actors of type A go to `handle(M, Context&)`, whose answer is the
  // actor's. Its constructor and its other handlers are its own.
  template <class A, class M, class F>
  void mock(F&& handle) {
    using Function = detail::MockFunction<A, M>;
    const auto function = std::make_shared<Function>(std::forward<F>(handle));
    constexpr std::string_view actor = detail::type_name_view<A>();
    detail::add_mock(run_,
                     {actor, &detail::message_type<M>, &detail::mocked_message<A, M>, function});
    detail::add_mock(run_,
                     {actor, detail::mocked_ask<A, M>.key, &detail::mocked_ask<A, M>, function});
  }

  // ---- what must hold ----

  // After every step. One that throws does not hold.
  void always(std::string what, std::function<bool()> holds);
  // In finish(), when nothing goes wrong any more and everything has come to rest.
  void eventually(std::string what, std::function<bool()> holds);
  // Heals, runs until nothing is left to do or for SimOptions::settle, and checks what must be so
  // then. At the end of a scenario. False: it has failed.
  bool finish();
  // Now. False, too, after an earlier failure; the run ends at its next step.
  bool check(bool holds, std::string_view what);
  void fail(std::string_view what);
  [[nodiscard]] bool has_failed() const noexcept;

  // ---- what the scenario leaves open ----

  // A number below `count`, which is not 0; 0 is what shrinking prefers.
  [[nodiscard]] uint32_t choose(uint32_t count);
  [[nodiscard]] bool chance(uint32_t per_million);

  // ---- faults ----

  [[nodiscard]] SimFaults faults() const noexcept;
  void set_faults(const SimFaults& faults);
  // No more faults from now on: partitions are healed, nodes that crashed by a fault start, and all
  // clocks run as they should. What a clock shows too much or too little it goes on to.
  void heal();
  // No fault concerns this actor.
  void protect(Pid actor);

  // Lives until the run is over, and longer than the actors.
  template <class T, class... Args>
  T& make(Args&&... args) {
    auto made = std::make_shared<T>(std::forward<Args>(args)...);
    T& object = *made;
    keep(std::move(made));
    return object;
  }

  // ---- nodes ----

  // Made when first asked for.
  SimNode& node(std::string_view name);
  [[nodiscard]] SimNetwork network() noexcept { return SimNetwork(run_); }

  // Writes into the trace.
  void note(std::string_view text);

 private:
  friend class detail::SimRun;
  friend struct detail::SimNodeState;
  void keep(std::shared_ptr<void> object);
  explicit Sim(detail::SimRun& run, detail::Port* port) noexcept : SystemFace(port), run_(run) {}

  detail::SimRun& run_;
};

// Runs the scenario for each seed until one fails. Never throws by itself; what the scenario throws
// is a failure.
JZX_API SimReport simulate(const SimOptions& options, const std::function<void(Sim&)>& scenario);

}  // namespace jzx
