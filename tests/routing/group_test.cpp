// Groups: who is in, who gets a broadcast, and what happens to names.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <jzx/group.hpp>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

using Log = std::vector<std::string>;

struct Call {
  int number;
};
struct Unknown {};
struct Finish {};

struct Listener {
  using Messages = jzx::Messages<Call, Finish, std::function<void()>>;
  void on(Call call) { log.push_back(name + std::to_string(call.number)); }
  void on(Finish, Context& context) { context.stop(); }
  void on(std::function<void()> work) { work(); }
  Log& log;
  std::string name;
};

class GroupTest : public OnAnyDriver {
 protected:
  ActorRef<Listener> listener(const char* name, uint32_t mailbox_cap = 0) {
    SpawnOptions options;
    options.mailbox_cap = mailbox_cap;
    return loop.spawn_with<Listener>(options, std::ref(log), std::string(name));
  }
  // What was logged since the last look, by whom first.
  Log heard() {
    loop.settle();
    std::stable_sort(log.begin(), log.end(), [](auto& x, auto& y) { return x[0] < y[0]; });
    return std::exchange(log, {});
  }
  runtime::Groups& names() { return detail::port_of(loop)->groups; }

  Log log;
  ClockedLoop loop;
  Group group{loop};
  ActorRef<Listener> a = listener("a");
  ActorRef<Listener> b = listener("b");
  ActorRef<Listener> c = listener("c");
};
JZX_ON_ALL_DRIVERS(GroupTest);

TEST_P(GroupTest, ABroadcastReachesEveryMemberAndTheyKeepTheOrderOfJoining) {
  for (const Pid pid : {c.pid(), a.pid(), b.pid()}) EXPECT_EQ(group.join(pid), Errc::ok);
  EXPECT_EQ(group.broadcast(Call{1}), (Delivery{3, 0}));
  EXPECT_EQ(group.broadcast(Call{2}), (Delivery{3, 0}));
  EXPECT_EQ(heard(), (Log{"a1", "a2", "b1", "b2", "c1", "c2"}));
  EXPECT_EQ(group.members(), (std::vector<Pid>{c, a, b}));
}

TEST_P(GroupTest, ABroadcastToNobodyReachesNobody) {
  EXPECT_EQ(group.broadcast(Call{1}), Delivery{});
  EXPECT_EQ(group.size(), 0u);
  EXPECT_TRUE(group.members().empty());
}

TEST_P(GroupTest, WhoJoinsTwiceGetsOneCopyAndLeavesOnce) {
  EXPECT_EQ(group.join(a), Errc::ok);
  EXPECT_EQ(group.join(a), Errc::ok);
  EXPECT_EQ(group.size(), 1u);
  EXPECT_EQ(group.broadcast(Call{1}), (Delivery{1, 0}));
  EXPECT_EQ(group.leave(a), Errc::ok);
  EXPECT_EQ(group.leave(a), Errc::no_such_actor);
  EXPECT_EQ(heard(), (Log{"a1"}));
}

TEST_P(GroupTest, WhoLeavesGetsNoMoreAndTheOthersKeepTheirOrder) {
  for (const Pid pid : {a.pid(), b.pid(), c.pid()}) EXPECT_EQ(group.join(pid), Errc::ok);
  EXPECT_EQ(group.leave(b), Errc::ok);
  EXPECT_FALSE(group.contains(b));
  EXPECT_TRUE(group.contains(c));
  EXPECT_EQ(group.broadcast(Call{1}), (Delivery{2, 0}));
  EXPECT_EQ(heard(), (Log{"a1", "c1"}));
}

TEST_P(GroupTest, AFullMemberDoesNotStopTheOthers) {
  const auto full = listener("f", 5);  // one of the user's
  for (const Pid pid : {a.pid(), full.pid(), b.pid()}) EXPECT_EQ(group.join(pid), Errc::ok);
  EXPECT_EQ(group.broadcast(Call{1}), (Delivery{3, 0}));
  EXPECT_EQ(group.broadcast(Call{2}), (Delivery{2, 1}));
  EXPECT_EQ(heard(), (Log{"a1", "a2", "b1", "b2", "f1"}));
  EXPECT_EQ(group.broadcast(Call{3}), (Delivery{3, 0})) << "it is a member still";
}

TEST_P(GroupTest, AnActorThatEndedIsAMemberNoMore) {
  for (const Pid pid : {a.pid(), b.pid(), c.pid()}) EXPECT_EQ(group.join(pid), Errc::ok);
  a << Finish{};
  loop.settle();
  EXPECT_FALSE(group.contains(a));
  EXPECT_EQ(group.size(), 2u);
  EXPECT_EQ(group.broadcast(Call{1}), (Delivery{2, 0}));
  EXPECT_EQ(loop.stop(b), Errc::ok);
  EXPECT_EQ(group.broadcast(Call{2}), (Delivery{1, 0})) << "it was asked to end";
  EXPECT_EQ(group.members(), (std::vector<Pid>{c}));
  EXPECT_EQ(group.leave(a), Errc::no_such_actor);
}

TEST_P(GroupTest, NobodyJoinsWhoHasEndedOrIsOfAnotherSystem) {
  ClockedLoop other;
  const auto stranger = other.spawn<Listener>(std::ref(log), std::string("s"));
  a << Finish{};
  loop.settle();
  EXPECT_EQ(group.join(a), Errc::no_such_actor);
  EXPECT_EQ(group.join(Pid()), Errc::no_such_actor);
  EXPECT_EQ(group.join(stranger), Errc::actor_not_local);
  EXPECT_EQ(group.leave(stranger), Errc::no_such_actor);
  EXPECT_FALSE(group.contains(stranger));
  EXPECT_EQ(group.size(), 0u);
}

TEST_P(GroupTest, WhatAMemberHasNoHandlerForIsDeadLettered) {
  EXPECT_EQ(group.join(a), Errc::ok);
  EXPECT_EQ(group.broadcast(Unknown{}), (Delivery{1, 0}));
  loop.settle();
  ASSERT_EQ(loop.seen().dead.size(), 1u);
  EXPECT_EQ(loop.seen().dead[0].target, a.id());
}

TEST_P(GroupTest, MembersMayJoinAndLeaveFromInsideAHandler) {
  a.pid() << std::function<void()>([&] {
    EXPECT_EQ(group.join(a), Errc::ok);
    EXPECT_EQ(group.join(b), Errc::ok);
    EXPECT_EQ(group.broadcast(Call{1}), (Delivery{2, 0}));
    EXPECT_EQ(group.leave(a), Errc::ok);
    EXPECT_EQ(group.broadcast(Call{2}), (Delivery{1, 0}));
  });
  EXPECT_EQ(heard(), (Log{"a1", "b1", "b2"}));
}

// ---- what happens while a message is copied ----

struct Sprung {
  explicit Sprung(std::function<void()> the_trap) : trap(std::move(the_trap)) {}
  Sprung(const Sprung& other) : trap(other.trap) { trap(); }
  Sprung(Sprung&&) noexcept = default;
  std::function<void()> trap;
};

TEST_P(GroupTest, ABroadcastSendsToThoseWhoWereMembersWhenItBegan) {
  EXPECT_EQ(group.join(a), Errc::ok);
  EXPECT_EQ(group.join(b), Errc::ok);
  int copies = 0;
  // No lock is held while this runs.
  const Sprung message([&] {
    ++copies;
    EXPECT_EQ(group.join(c), Errc::ok);
    (void)group.leave(b);
    EXPECT_EQ(group.size(), 2u);
  });
  EXPECT_EQ(group.broadcast(message), (Delivery{2, 0}));
  EXPECT_EQ(copies, 2);
  EXPECT_EQ(group.members(), (std::vector<Pid>{a, c}));
  loop.settle();
  ASSERT_EQ(loop.seen().dead.size(), 2u) << "listeners have no handler for it";
  std::set<ActorId> reached;
  for (const auto& one : loop.seen().dead) reached.insert(one.target);
  EXPECT_EQ(reached, (std::set<ActorId>{a.id(), b.id()}));
}

TEST_P(GroupTest, ManyMayJoinWhileABroadcastIsUnderWay) {
  EXPECT_EQ(group.join(a), Errc::ok);
  std::vector<Pid> all = {a};
  const Sprung message([&] {
    for (int i = 0; i < 100; ++i) {
      all.push_back(listener("x"));
      EXPECT_EQ(group.join(all.back()), Errc::ok);
    }
  });
  EXPECT_EQ(group.broadcast(message), (Delivery{1, 0}));
  EXPECT_EQ(group.members(), all);
}

TEST_P(GroupTest, IfCopyingThrowsThoseBeforeHaveTheMessage) {
  EXPECT_EQ(group.join(a), Errc::ok);
  EXPECT_EQ(group.join(b), Errc::ok);
  bool is_second = false;
  const Sprung message([&] {
    if (std::exchange(is_second, true)) throw std::runtime_error("no copy");
  });
  EXPECT_THROW((void)group.broadcast(message), std::runtime_error);
  EXPECT_EQ(loop.ledger().accepted, 1u);
  EXPECT_EQ(group.broadcast(Call{1}), (Delivery{2, 0}));
}

// ---- names ----

TEST_P(GroupTest, OneNameIsOneGroupOfItsSystem) {
  ClockedLoop other;
  EXPECT_EQ(Group(loop, "red").join(a), Errc::ok);
  EXPECT_EQ(Group(loop, "red").members(), (std::vector<Pid>{a}));
  EXPECT_EQ(Group(loop, "red"), Group(loop, "red"));
  EXPECT_NE(Group(loop, "red"), Group(loop, "blue"));
  EXPECT_EQ(Group(loop, "blue").size(), 0u);
  EXPECT_EQ(Group(other, "red").size(), 0u) << "two systems do not know each other";
}

TEST_P(GroupTest, AGroupWithoutANameIsKnownToItsCopiesOnly) {
  const Group copy = group;
  EXPECT_EQ(copy.join(a), Errc::ok);
  EXPECT_EQ(group.size(), 1u);
  EXPECT_EQ(copy, group);
  EXPECT_NE(Group(loop), group);
  EXPECT_EQ(Group(loop).size(), 0u);
}

TEST_P(GroupTest, NamesThatAreEmptyOrTooLongAreNone) {
  EXPECT_FALSE(Group(loop, ""));
  EXPECT_FALSE(Group(loop, std::string(256, 'x')));
  EXPECT_TRUE(Group(loop, std::string(255, 'x')));
}

TEST_P(GroupTest, AnEmptyGroupAnswersForItself) {
  const Group none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.join(a), Errc::invalid_arg);
  EXPECT_EQ(none.leave(a), Errc::no_such_actor);
  EXPECT_EQ(none.broadcast(Call{1}), Delivery{});
  EXPECT_EQ(none.size(), 0u);
  EXPECT_TRUE(none.members().empty());
}

TEST_P(GroupTest, NamesStayWhileTheyHaveMembersAndGoWhenNobodyNeedsThem) {
  const Group held(loop, "held");
  EXPECT_EQ(Group(loop, "joined").join(a), Errc::ok);
  for (int i = 0; i < 10'000; ++i) {
    const auto passer_by = listener("p");
    EXPECT_EQ(Group(loop, "room " + std::to_string(i)).join(passer_by), Errc::ok);
    passer_by << Finish{};
    loop.settle();
  }
  EXPECT_LE(names().size(), 32u);
  EXPECT_EQ(Group(loop, "joined").members(), (std::vector<Pid>{a}));
  EXPECT_EQ(Group(loop, "held"), held);
}

TEST_P(GroupTest, ManyNamesAreAllFound) {
  std::vector<Group> groups;
  for (int i = 0; i < 1000; ++i) groups.emplace_back(loop, "room " + std::to_string(i));
  EXPECT_EQ(names().size(), 1000u);
  for (size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(Group(loop, "room " + std::to_string(i)), groups[i]);
  }
  EXPECT_EQ(names().size(), 1000u);
}

// ---- memory and lifetime ----

TEST_P(GroupTest, ThoseWhoComeAndGoLeaveNoRoomBehind) {
  const detail::MembersRef set(detail::make_members(*detail::port_of(loop)));
  EXPECT_EQ(set.add(a, nullptr), Errc::ok);
  for (int i = 0; i < 1000; ++i) {
    const auto passer_by = listener("p");
    EXPECT_EQ(set.add(passer_by, nullptr), Errc::ok);
    passer_by << Finish{};
    loop.settle();
  }
  EXPECT_LE(detail::Snapshot(*set).size(), 8u) << "though nobody has looked or sent";
  EXPECT_EQ(set.size(), 1u);
}

JZX_SUITE_ON_ALL_DRIVERS(AGroup);

TEST_P(AGroup, MayOutliveItsSystem) {
  Group named;
  Group nameless;
  {
    Log log;
    ClockedLoop loop;
    named = Group(loop, "name");
    nameless = Group(loop);
    EXPECT_EQ(named.join(loop.spawn<Listener>(std::ref(log), std::string("a"))), Errc::ok);
  }
  EXPECT_TRUE(named);
  named = nameless;
}

// Joins when it is destroyed, which is too late.
struct Latecomer {
  void on(Call) {}
  explicit Latecomer(Group the_group, std::vector<Errc>& the_answers)
      : group(std::move(the_group)), answers(the_answers) {}
  ~Latecomer() {
    answers.push_back(group.join(self));
    answers.push_back(group.broadcast(Call{1}) == Delivery{0, 1} ? Errc::loop_closed : Errc::ok);
    EXPECT_EQ(group.size(), 0u);
  }
  void on_start(Context& context) {
    self = context.self();
    EXPECT_EQ(group.join(self), Errc::ok);
  }
  Group group;
  std::vector<Errc>& answers;
  Pid self;
};

TEST_P(AGroup, OfASystemThatIsClosingRefuses) {
  std::vector<Errc> answers;
  {
    ClockedLoop loop;
    ASSERT_TRUE(loop.spawn<Latecomer>(Group(loop), std::ref(answers)));
    loop.settle();
  }
  EXPECT_EQ(answers, (std::vector<Errc>{Errc::loop_closed, Errc::loop_closed}));
}

}  // namespace
}  // namespace jzx::testing
