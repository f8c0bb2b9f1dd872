// TestKit: one simulated system in the hands of a test, message by message. Nothing moves unless
// the test says so; what is not said goes in the order in which it was caused.
//
//   TEST(Till, AsksTheBankBeforeItPays) {
//     jzx::TestKit kit;
//     kit.given("a till and its bank");
//     auto bank = kit->spawn<Bank>();
//     auto till = kit->spawn<Till>(bank);
//     kit.when("somebody wants money");
//     till << Withdraw{100};
//     EXPECT_TRUE(kit.expect<Withdraw>(jzx::anybody, till));
//     kit.then("the bank is asked, and nobody is paid yet");
//     EXPECT_TRUE(kit.disallow<Pay>(jzx::anybody, till));
//     EXPECT_TRUE(kit.expect<Debit>(till, bank, [](const Debit& d) { return d.sum == 100; }));
//   }
//
// Threads: one.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <jzx/sim/simulation.hpp>

namespace jzx {

// In place of a sender that does not matter.
inline constexpr Pid anybody{};

// Whether it was as expected, and if not, what was there instead.
struct [[nodiscard]] Expectation {
  bool is_met = true;
  std::string why;

  [[nodiscard]] explicit operator bool() const noexcept { return is_met; }
};

class JZX_API TestKit {
 public:
  explicit TestKit(const SimOptions& options = {});
  // What every simulation must satisfy is looked at here too: a failure is told on stderr, and ends
  // the program, unless finish() has been asked. Nothing runs any more.
  ~TestKit();
  TestKit(const TestKit&) = delete;
  TestKit& operator=(const TestKit&) = delete;

  [[nodiscard]] Sim* operator->() noexcept { return &sim(); }
  [[nodiscard]] Sim& sim() noexcept;

  // ---- a story, for the trace ----

  void given(std::string_view what) { tell("given ", what); }
  void when(std::string_view what) { tell("when ", what); }
  void then(std::string_view what) { tell("then ", what); }
  // All that has happened so far.
  [[nodiscard]] std::string trace() const;

  // ---- time ----

  // So much time passes; what becomes due is queued, but nobody runs. Not beyond the end of virtual
  // time, after 146 years. A negative time is a failure: see finish().
  void advance(std::chrono::milliseconds time);

  // ---- messages ----

  // The next message to `to` is an M from `from` for which holds(message): it is handled now. What
  // `to` has put aside is not the next: its own code decides when it comes.
  template <class M, class F>
  Expectation expect(Pid from, Pid to, F&& holds) {
    const std::string wrong = mismatch<M>(first_of(to), from, holds);
    if (!wrong.empty()) return {false, wrong};
    if (!sim().step(to)) return {false, "it waits, but the actor cannot take it now"};
    return {};
  }
  template <class M>
  Expectation expect(Pid from, Pid to) {
    return expect<M>(from, to, [](const M&) { return true; });
  }
  // The same, and gives a copy of it.
  template <class M>
  std::optional<M> expect_copy(Pid from, Pid to) {
    std::optional<M> copy;
    const Expectation met = expect<M>(from, to, [&](const M& message) {
      copy.emplace(message);
      return true;
    });
    return met ? std::move(copy) : std::nullopt;
  }

  // If it is the next one it is handled now; false: it is not.
  template <class M, class F>
  bool allow(Pid from, Pid to, F&& holds) {
    return mismatch<M>(first_of(to), from, holds).empty() && sim().step(to);
  }
  template <class M>
  bool allow(Pid from, Pid to) {
    return allow<M>(from, to, [](const M&) { return true; });
  }

  // No such message waits for `to`: not as the next one, not behind others, and not put aside.
  template <class M, class F>
  Expectation disallow(Pid from, Pid to, F&& holds) {
    for (const SimMessage& message : sim().mailbox(to)) {
      if (mismatch<M>(message, from, holds).empty()) return {false, message.type + " is there"};
    }
    return {};
  }
  template <class M>
  Expectation disallow(Pid from, Pid to) {
    return disallow<M>(from, to, [](const M&) { return true; });
  }

  // The failure of what must always hold, or empty. Lets everything come to rest first.
  [[nodiscard]] std::string finish();

 private:
  [[nodiscard]] std::optional<SimMessage> first_of(Pid actor) {
    std::vector<SimMessage> all = sim().mailbox(actor);
    if (all.empty() || all.front().is_put_aside) return std::nullopt;
    return std::move(all.front());
  }
  // Empty: it is what was wanted.
  template <class M, class F>
  [[nodiscard]] static std::string mismatch(const std::optional<SimMessage>& message, Pid from,
                                            F&& holds) {
    if (!message) return "no message waits for it";
    if (from && message->from != from) return message->type + " is from somebody else";
    const M* wanted = message->template as<M>();
    if (wanted == nullptr) return "the next message is " + message->type;
    return holds(*wanted) ? std::string() : message->type + " does not hold what was expected";
  }
  void tell(std::string_view how, std::string_view what);

  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace jzx
