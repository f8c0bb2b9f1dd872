// Senders that wait for room in the mailbox of an actor of a runtime.
#include <jzx/jzx.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/runtime_system.hpp"
#include "support/scale.hpp"
#include "workers/tally.hpp"

namespace jzx::testing {
namespace {

struct Item {
  uint32_t sender = 0;
  uint32_t number = 0;
};
struct Block {};

constexpr uint32_t kShare = 4;

SpawnOptions waiting_options(Placement placement = Placement::anywhere()) {
  SpawnOptions options;
  options.mailbox_cap = kShare + 4;
  options.overload = Overload::wait;
  options.placement = placement;
  return options;
}

void wait_until_waiting(const SystemFace& face, Pid actor, size_t count) {
  auto& room = detail::port_of(face)->system.waiting_senders;
  while (room.count(actor.id()) < count) std::this_thread::yield();
}

struct DeadItems final : Observer {
  void dead_letter(ActorId, Envelope& envelope, DeadLetterReason) override {
    if (std::string_view(envelope.type->name).ends_with("Item")) count.fetch_add(1);
  }
  std::atomic<uint64_t> count{0};
};

// At the end of a runtime's life: every message has its fate in the books.
void expect_balanced(Runtime& runtime) {
  auto* system = static_cast<runtime::RuntimeSystem*>(detail::port_of(runtime));
  system->pause();  // nobody runs while we look
  const core::Ledger ledger = system->ledger();
  EXPECT_TRUE(ledger.balanced());
  EXPECT_EQ(ledger.queued, 0u);
}

constexpr uint32_t kSenders = 8;

// Takes from several senders, each in its order.
struct Sink {
  Sink(Tally* the_taken, Gate* the_gate) : taken(the_taken), gate(the_gate) {}
  void on(Block) { EXPECT_TRUE(gate->wait()); }
  void on(Item item) {
    EXPECT_EQ(item.number, next[item.sender]++);
    taken->add();
  }
  Tally* taken;
  Gate* gate;
  std::array<uint32_t, kSenders> next{};
};

// A mailbox that is full, of an actor that nobody runs unless the test does.
ManualRef<Sink> spawn_full(Runtime& runtime, Tally& taken, Gate& gate) {
  const ManualRef<Sink> sink(
      runtime.spawn_with<Sink>(waiting_options(Placement::by_hand()), &taken, &gate));
  for (uint32_t i = 0; i < kShare; ++i) EXPECT_EQ(sink.send(Item{0, i}), Errc::ok);
  return sink;
}

TEST(WaitingSend, GetsThroughWhenTheActorTakesMail) {
  Tally taken;
  Gate gate;
  Runtime runtime = Runtime::builder().workers(2).build();
  const auto sink = runtime.spawn_with<Sink>(waiting_options(), &taken, &gate);
  ASSERT_EQ(sink.send(Block{}), Errc::ok);
  std::thread sender([&] {
    for (uint32_t i = 0; i < 2 * kShare; ++i) EXPECT_EQ(sink.send(Item{0, i}), Errc::ok);
  });
  wait_until_waiting(runtime, sink, 1);
  EXPECT_EQ(taken.value(), 0u);
  gate.open();
  sender.join();
  EXPECT_TRUE(taken.reaches(2 * kShare));
}

TEST(WaitingSend, OneMessageTakenLetsOneSenderIn) {
  Tally taken;
  Gate gate;
  Runtime runtime = Runtime::builder().workers(1).build();
  const auto sink = spawn_full(runtime, taken, gate);
  Tally let_in;
  std::vector<std::thread> senders;
  for (uint32_t s = 1; s <= 3; ++s) {
    senders.emplace_back([&, s] {
      EXPECT_EQ(sink.send(Item{s, 0}), Errc::ok);
      let_in.add();
    });
  }
  wait_until_waiting(runtime, sink, 3);
  for (uint32_t i = 1; i <= 3; ++i) {
    const uint64_t before = taken.value();
    while (taken.value() == before) (void)sink.poll_one();
    ASSERT_TRUE(let_in.reaches(i));
    EXPECT_EQ(let_in.value(), i);
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(sink.drain(), kShare);
}

TEST(WaitingSend, IsOverWhenTheActorIsKilled) {
  Tally taken;
  Gate gate;
  Runtime runtime = Runtime::builder().workers(2).build();
  const auto sink = spawn_full(runtime, taken, gate);
  std::vector<std::thread> senders;
  for (uint32_t s = 0; s < kSenders; ++s) {
    senders.emplace_back([&, s] { EXPECT_EQ(sink.send(Item{s, 0}), Errc::no_such_actor); });
  }
  wait_until_waiting(runtime, sink, kSenders);
  ASSERT_EQ(runtime.kill(sink), Errc::ok);
  for (std::thread& sender : senders) sender.join();
}

struct Quitter {
  explicit Quitter(Gate* the_gate) : gate(the_gate) {}
  void on(Block, Context& context) {
    EXPECT_TRUE(gate->wait());
    context.stop();
  }
  void on(Item) { ADD_FAILURE() << "it has ended before"; }
  Gate* gate;
};

TEST(WaitingSend, IsOverWhenTheActorEndsByItself) {
  DeadItems dead;
  Gate gate;
  Runtime runtime = Runtime::builder().workers(2).observer(dead).build();
  const auto quitter = runtime.spawn_with<Quitter>(waiting_options(), &gate);
  ASSERT_EQ(quitter.send(Block{}), Errc::ok);
  std::atomic<uint64_t> accepted{0};
  std::vector<std::thread> senders;
  for (uint32_t s = 0; s < kSenders; ++s) {
    senders.emplace_back([&, s] {
      Errc answer = Errc::ok;
      for (uint32_t i = 0; ok(answer); ++i) {
        answer = quitter.send(Item{s, i});
        if (ok(answer)) accepted.fetch_add(1);
      }
      EXPECT_EQ(answer, Errc::no_such_actor);
    });
  }
  wait_until_waiting(runtime, quitter, kSenders);
  gate.open();
  for (std::thread& sender : senders) sender.join();
  EXPECT_TRUE(runtime.shutdown(std::chrono::minutes(1)).empty());
  EXPECT_EQ(dead.count.load(), accepted.load());
}

TEST(WaitingSend, IsOverWhenTheRuntimeIsDestroyed) {
  DeadItems dead;
  Tally taken;
  Gate gate;
  auto runtime = std::make_unique<Runtime>(Runtime::builder().workers(2).observer(dead).options());
  const auto sink = spawn_full(*runtime, taken, gate);
  std::vector<std::thread> senders;
  for (uint32_t s = 0; s < kSenders; ++s) {
    senders.emplace_back([&, s] { EXPECT_EQ(sink.send(Item{s, 0}), Errc::loop_closed); });
  }
  auto blocking = runtime->spawn_blocking([sink] { return sink.send(Item{0, 9}); });
  wait_until_waiting(*runtime, sink, kSenders + 1);
  runtime.reset();
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(blocking.get().value(), Errc::loop_closed);
  EXPECT_EQ(dead.count.load(), kShare);
}

struct Forwarder {
  Forwarder(ActorRef<Sink> the_sink, std::promise<Errc>* the_answer)
      : sink(the_sink), answer(the_answer) {}
  void on(Item item) { answer->set_value(sink.send(item)); }
  ActorRef<Sink> sink;
  std::promise<Errc>* answer;
};

TEST(WaitingSend, IsRefusedToTheHandlerOnAWorker) {
  Tally taken;
  Gate gate;
  Runtime runtime = Runtime::builder().workers(1).build();
  const auto sink = spawn_full(runtime, taken, gate);
  std::promise<Errc> answer;
  const auto forwarder = runtime.spawn<Forwarder>(sink, &answer);
  ASSERT_EQ(forwarder.send(Item{0, kShare}), Errc::ok);
  EXPECT_EQ(answer.get_future().get(), Errc::mailbox_full);
}

TEST(WaitingSend, IsRefusedToAHandlerThatIsRunByHand) {
  Tally taken;
  Gate gate;
  Runtime runtime = Runtime::builder().workers(1).build();
  const auto sink = spawn_full(runtime, taken, gate);
  std::promise<Errc> answer;
  const auto forwarder = spawn_manual<Forwarder>(runtime, sink.ref(), &answer);
  ASSERT_EQ(forwarder.send(Item{0, kShare}), Errc::ok);
  EXPECT_TRUE(forwarder.poll_one());
  EXPECT_EQ(answer.get_future().get(), Errc::mailbox_full);
}

TEST(WaitingSend, AHandlerOnABlockingThreadWaits) {
  Tally taken;
  Gate gate;
  Runtime runtime = Runtime::builder().workers(1).build();
  const auto sink = spawn_full(runtime, taken, gate);
  std::promise<Errc> answer;
  SpawnOptions options;
  options.placement = Placement::blocking();
  const auto forwarder = runtime.spawn_with<Forwarder>(options, sink, &answer);
  ASSERT_EQ(forwarder.send(Item{0, kShare}), Errc::ok);
  wait_until_waiting(runtime, sink, 1);
  while (taken.value() == 0) (void)sink.poll_one();
  EXPECT_EQ(answer.get_future().get(), Errc::ok);
  while (taken.value() < kShare + 1) (void)sink.drain();
}

struct Selfish {
  explicit Selfish(std::promise<Errc>* the_answer) : answer(the_answer) {}
  void on(Block, Context& context) {
    Errc last = Errc::ok;
    while (ok(last)) last = context.self(*this).send(Item{});
    answer->set_value(last);
  }
  void on(Item) {}
  std::promise<Errc>* answer;
};

TEST(WaitingSend, IsRefusedToTheActorItself) {
  Runtime runtime = Runtime::builder().workers(1).build();
  std::promise<Errc> answer;
  const auto selfish = runtime.spawn_with<Selfish>(waiting_options(Placement::blocking()), &answer);
  ASSERT_EQ(selfish.send(Block{}), Errc::ok);
  EXPECT_EQ(answer.get_future().get(), Errc::mailbox_full);
}

TEST(WaitingSend, ManySendersAllGetThroughEachInItsOrder) {
  const auto each = static_cast<uint32_t>(scaled(5000));
  for (const uint32_t workers : {1u, 2u}) {
    DeadItems dead;
    Tally taken;
    Gate gate;
    Runtime runtime = Runtime::builder().workers(workers).observer(dead).build();
    const auto sink = runtime.spawn_with<Sink>(waiting_options(), &taken, &gate);
    std::vector<std::thread> senders;
    for (uint32_t s = 0; s < kSenders; ++s) {
      senders.emplace_back([&, s] {
        for (uint32_t i = 0; i < each; ++i) ASSERT_EQ(sink.send(Item{s, i}), Errc::ok);
      });
    }
    for (std::thread& sender : senders) sender.join();
    EXPECT_TRUE(taken.reaches(uint64_t{kSenders} * each));
    EXPECT_TRUE(runtime.shutdown(std::chrono::minutes(1)).empty());
    EXPECT_EQ(taken.value(), uint64_t{kSenders} * each);
    EXPECT_EQ(dead.count.load(), 0u);
    expect_balanced(runtime);
  }
}

// Actors end while their senders wait, and others move into their slots.
TEST(WaitingSend, NobodyIsForgottenWhereActorsComeAndGo) {
  const size_t rounds = scaled(400);
  DeadItems dead;
  Tally taken;
  Gate gate;
  std::atomic<uint64_t> accepted{0};
  Runtime runtime = Runtime::builder().workers(2).observer(dead).build();
  for (size_t round = 0; round < rounds; ++round) {
    const auto sink = runtime.spawn_with<Sink>(waiting_options(), &taken, &gate);
    const uint64_t before = taken.value();
    std::vector<std::thread> senders;
    for (uint32_t s = 0; s < 3; ++s) {
      senders.emplace_back([&, s] {
        Errc answer = Errc::ok;
        for (uint32_t i = 0; ok(answer); ++i) {
          answer = sink.send(Item{s, i});
          if (ok(answer)) accepted.fetch_add(1);
        }
        EXPECT_EQ(answer, Errc::no_such_actor);
      });
    }
    ASSERT_TRUE(taken.reaches(before + round % 50));
    ASSERT_EQ(runtime.kill(sink), Errc::ok);
    for (std::thread& sender : senders) sender.join();
  }
  EXPECT_TRUE(runtime.shutdown(std::chrono::minutes(1)).empty());
  EXPECT_EQ(taken.value() + dead.count.load(), accepted.load());
  expect_balanced(runtime);
}

}  // namespace
}  // namespace jzx::testing
