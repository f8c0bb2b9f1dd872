// The C++ observer: what it is told, in which order, on which thread.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Fail {};
struct Finish {};

struct Worker {
  void on(Fail, Context& context) { context.fail("worn out"); }
  void on(Finish, Context& context) { context.stop(); }
};

// Everything as one line each, and the thread it was told on.
class Teller final : public Observer {
 public:
  std::vector<std::string> lines;
  std::vector<std::thread::id> threads;

 private:
  void add(std::string line) {
    lines.push_back(std::move(line));
    threads.push_back(std::this_thread::get_id());
  }
  void actor_started(ActorId, const char* label) override {
    add(std::string("started ") + (label == nullptr ? "-" : label));
  }
  void actor_stopped(ActorId, ExitReason reason, const ExitText& text) override {
    add(std::string("stopped ") + to_string(reason) + " " + text.c_str());
  }
  void actor_restarted(ActorId, ActorId, uint32_t attempt) override {
    add("restarted " + std::to_string(attempt));
  }
  void supervisor_escalated(ActorId) override { add("escalated"); }
  void mailbox_full(ActorId) override { add("full"); }
  void dead_letter(ActorId, Envelope&, DeadLetterReason) override { add("dead letter"); }
};

using Lines = std::vector<std::string>;

TEST(Observer, IsToldOfAStartBeforeTheRestartItIsPartOf) {
  Teller teller;
  LoopOptions options;
  options.observer = &teller;
  Loop loop(options);
  const SupervisorRef family =
      loop.supervise({.intensity = 1, .period = 1000ms}, {jzx::child<Worker>("worker")});
  family.child_as<Worker>(0) << Fail{};
  while (teller.lines.size() < 5) ASSERT_TRUE(loop.run_once(0ms));
  EXPECT_EQ(teller.lines, (Lines{"started -", "started worker", "stopped fail worn out",
                                 "started worker", "restarted 1"}));
  teller.lines.clear();
  family.child_as<Worker>(0) << Fail{};
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(teller.lines,
            (Lines{"stopped fail worn out", "escalated", "stopped fail a child failed too often"}));
}

TEST(Observer, IsToldOnTheLoopsThreadWhatAnotherThreadCaused) {
  Teller teller;
  LoopOptions options;
  options.observer = &teller;
  Loop loop(options);
  SpawnOptions small;
  small.mailbox_cap = 5;
  const auto worker = loop.spawn_with<Worker>(small);
  std::thread([&] {
    EXPECT_EQ(worker.send(Finish{}), Errc::ok);
    EXPECT_EQ(worker.send(Finish{}), Errc::mailbox_full);
    EXPECT_EQ(worker.send(Finish{}), Errc::mailbox_full);
  }).join();
  EXPECT_EQ(teller.lines, Lines{"started -"});
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(teller.lines, (Lines{"started -", "full", "stopped normal "}));
  for (const std::thread::id& thread : teller.threads) {
    EXPECT_EQ(thread, std::this_thread::get_id());
  }
}

TEST(Observer, ReadsTheMessageOfADeadLetter) {
  struct Note {
    std::string text;
  };
  struct Deaf {
    void on(Finish, Context& context) { context.stop(); }
    void on(Note) {}
  };
  ClockedLoop loop;
  std::string text;
  loop.seen().on_dead_letter = [&](const Recorder::DeadLetter&, Envelope& envelope) {
    if (envelope.type->key == &detail::message_type<Note>) text = envelope.as<Note>().text;
  };
  loop.spawn<Deaf>() << Finish{} << Note{"unread"};
  loop.settle();
  EXPECT_EQ(text, "unread");
}

}  // namespace
}  // namespace jzx::testing
