// Sending through typed references and untyped Pids.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "cpp/clocked_loop.hpp"

namespace jzx::testing {
namespace {

struct Add {
  int by = 0;
};
struct Finish {};
struct Text {
  std::string text;
};
struct Parcel {
  std::unique_ptr<int> content;
};

struct Counter {
  explicit Counter(int& the_total) : total(the_total) {}
  void on(Add add) { total += add.by; }
  void on(Finish, Context& context) { context.stop(); }
  int& total;
};

JZX_SUITE_ON_ALL_DRIVERS(Send);

TEST_P(Send, CallsTheHandlerOfTheMessagesType) {
  ClockedLoop loop;
  int total = 0;
  const ActorRef<Counter> counter = loop.spawn<Counter>(total);
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter.send(Add{40}), Errc::ok);
  EXPECT_EQ(counter.send(Add{2}), Errc::ok);
  EXPECT_EQ(total, 0) << "nothing runs before the loop does";
  loop.settle();
  EXPECT_EQ(total, 42);
}

TEST_P(Send, ByShiftOperatorChainsInOrder) {
  struct Speller {
    explicit Speller(std::string& the_word) : word(the_word) {}
    void on(char letter) { word += letter; }
    std::string& word;
  };
  ClockedLoop loop;
  std::string word;
  const auto speller = loop.spawn<Speller>(word);
  speller << 'j' << 'a' << 'z' << 'z';
  loop.settle();
  EXPECT_EQ(word, "jazz");
}

TEST_P(Send, ToAnActorThatStopsEndsTheRun) {
  ClockedLoop loop;
  int total = 0;
  const auto counter = loop.spawn<Counter>(total);
  counter << Add{1} << Finish{};
  EXPECT_EQ(loop.run(), Errc::ok);
  EXPECT_EQ(total, 1);
  EXPECT_EQ(counter.send(Add{1}), Errc::no_such_actor);
}

TEST_P(Send, MovesAMoveOnlyMessageToItsHandler) {
  struct Keeper {
    explicit Keeper(std::unique_ptr<int>& the_place) : place(the_place) {}
    void on(Parcel parcel) { place = std::move(parcel.content); }
    std::unique_ptr<int>& place;
  };
  ClockedLoop loop;
  std::unique_ptr<int> place;
  const auto keeper = loop.spawn<Keeper>(place);
  auto content = std::make_unique<int>(7);
  const int* const address = content.get();
  EXPECT_EQ(keeper.send(Parcel{std::move(content)}), Errc::ok);
  loop.settle();
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place.get(), address);
}

TEST_P(Send, CopiesAMessageThatTheSenderKeeps) {
  struct Reader {
    explicit Reader(std::vector<std::string>& the_log) : log(the_log) {}
    void on(const Text& text) { log.push_back(text.text); }
    std::vector<std::string>& log;
  };
  ClockedLoop loop;
  std::vector<std::string> log;
  const auto reader = loop.spawn<Reader>(log);
  const Text kept{"a text that is too long for the small string optimisation"};
  EXPECT_EQ(reader.send(kept), Errc::ok);
  EXPECT_EQ(reader.send(kept), Errc::ok);
  loop.settle();
  EXPECT_EQ(log, (std::vector<std::string>{kept.text, kept.text}));
}

TEST_P(Send, PrefersTheHandlerThatTakesTheContext) {
  struct Both {
    explicit Both(std::string& the_log) : log(the_log) {}
    void on(Add) { log += "alone"; }
    void on(Add, Context&) { log += "with context"; }
    std::string& log;
  };
  ClockedLoop loop;
  std::string log;
  loop.spawn<Both>(log) << Add{};
  loop.settle();
  EXPECT_EQ(log, "with context");
}

TEST_P(Send, PrefersTheHandlerOfExactlyThatTypeToOneThatConverts) {
  struct Animal {};
  struct Cat : Animal {};
  struct Picky {
    explicit Picky(std::string& the_log) : log(the_log) {}
    void on(char, Context&) { log += "char;"; }
    void on(int) { log += "int;"; }
    void on(const Animal&, Context&) { log += "animal;"; }
    void on(Cat) { log += "cat;"; }
    std::string& log;
  };
  ClockedLoop loop;
  std::string log;
  loop.spawn<Picky>(log) << 1 << 'c' << Cat{} << Animal{};
  loop.settle();
  EXPECT_EQ(log, "int;char;cat;animal;");
}

TEST_P(Send, ConvertsForAHandlerOfABase) {
  struct Animal {
    int legs = 4;
  };
  struct Bird : Animal {
    Bird() : Animal{2} {}
  };
  struct Zoo {
    explicit Zoo(int& the_legs) : legs(the_legs) {}
    void on(const Animal& animal, Context&) { legs += animal.legs; }
    int& legs;
  };
  ClockedLoop loop;
  int legs = 0;
  loop.spawn<Zoo>(legs) << Bird{} << Animal{};
  loop.settle();
  EXPECT_EQ(legs, 6);
}

TEST(SendToNobody, ThroughAnEmptyReferenceSaysThatThereIsNobody) {
  EXPECT_EQ(ActorRef<Counter>().send(Add{1}), Errc::no_such_actor);
  EXPECT_EQ(Pid().send(Add{1}), Errc::no_such_actor);
  EXPECT_FALSE(ActorRef<Counter>());
  EXPECT_FALSE(Pid());
}

TEST_P(Send, PastTheUsersShareOfTheMailboxIsRefusedAndTheObserverIsTold) {
  ClockedLoop loop;
  int total = 0;
  SpawnOptions options;
  options.mailbox_cap = 6;  // 4 are the system's
  const auto counter = loop.spawn_with<Counter>(options, total);
  EXPECT_EQ(counter.send(Add{1}), Errc::ok);
  EXPECT_EQ(counter.send(Add{1}), Errc::ok);
  EXPECT_EQ(counter.send(Add{100}), Errc::mailbox_full);
  loop.settle();
  EXPECT_EQ(total, 2);
  EXPECT_EQ(loop.seen().full, std::vector<ActorId>{counter.id()});
}

// ---- untyped ----

struct Listing {
  using Messages = jzx::Messages<Add, Text>;
  Listing(int& the_total, std::string& the_text) : total(the_total), text(the_text) {}
  void on(Add add) { total += add.by; }
  void on(Text the_text, Context&) { text = std::move(the_text.text); }
  void on(Finish, Context& context) { context.stop(); }  // not in the list
  int& total;
  std::string& text;
};

JZX_SUITE_ON_ALL_DRIVERS(APid);

TEST_P(APid, DeliversWhatTheActorLists) {
  ClockedLoop loop;
  int total = 0;
  std::string text;
  const Pid pid = loop.spawn<Listing>(total, text);
  EXPECT_EQ(pid.send(Add{5}), Errc::ok);
  pid << Text{"hello"} << Add{1};
  loop.settle();
  EXPECT_EQ(total, 6);
  EXPECT_EQ(text, "hello");
  EXPECT_TRUE(loop.seen().dead.empty());
}

TEST_P(APid, DeadLettersWhatTheActorDoesNotList) {
  ClockedLoop loop;
  int total = 0;
  std::string text;
  const Pid pid = loop.spawn<Listing>(total, text);
  EXPECT_EQ(pid.send(Finish{}), Errc::ok) << "it was accepted; nobody looked inside yet";
  pid << Add{1};
  loop.settle();
  ASSERT_EQ(loop.seen().dead.size(), 1u);
  EXPECT_EQ(loop.seen().dead[0].target, pid.id());
  EXPECT_EQ(loop.seen().dead[0].reason, DeadLetterReason::not_handled);
  EXPECT_TRUE(loop.seen().is_alive(pid.id())) << "the actor goes on";
  EXPECT_EQ(total, 1);
}

TEST_P(APid, DeadLettersEverythingForAnActorThatListsNothing) {
  ClockedLoop loop;
  int total = 0;
  const Pid pid = loop.spawn<Counter>(total);
  pid << Add{1};
  loop.settle();
  EXPECT_EQ(total, 0);
  ASSERT_EQ(loop.seen().dead.size(), 1u);
}

TEST_P(APid, ToASupervisorIsDeadLettered) {
  ClockedLoop loop;
  const Pid pid = loop.supervise({}, {});
  EXPECT_EQ(pid.send(Add{1}), Errc::ok);
  loop.settle();
  ASSERT_EQ(loop.seen().dead.size(), 1u);
  EXPECT_EQ(loop.seen().dead[0].reason, DeadLetterReason::not_handled);
}

TEST_P(APid, IsAValueThatCanBeComparedAndHashed) {
  ClockedLoop loop;
  int total = 0;
  const Pid a = loop.spawn<Counter>(total);
  const Pid b = loop.spawn<Counter>(total);
  const Pid same = a;
  EXPECT_EQ(a, same);
  EXPECT_NE(a, b);
  std::unordered_set<Pid> set{a, b, same};
  EXPECT_EQ(set.size(), 2u);
}

TEST_P(APid, OfAnEndedActorNeverReachesTheOneInItsPlace) {
  ClockedLoop loop;
  int total = 0;
  const auto old = loop.spawn<Counter>(total);
  old << Finish{};
  loop.settle();
  const auto young = loop.spawn<Counter>(total);
  EXPECT_EQ(static_cast<uint32_t>(young.id()), static_cast<uint32_t>(old.id()))
      << "the slot was used again, or this test shows nothing";
  EXPECT_EQ(old.send(Add{1}), Errc::no_such_actor);
  EXPECT_EQ(young.send(Add{2}), Errc::ok);
  loop.settle();
  EXPECT_EQ(total, 2);
}

// ---- names of types ----

template <class T>
struct Wrapped {
  T content{};
};

template <class T, class U>
auto make_local() {
  struct Local {
    T first{};
    U second{};
  };
  return Local{};
}

JZX_SUITE_ON_ALL_DRIVERS(TypeNameOfADeadLetter);

TEST_P(TypeNameOfADeadLetter, IsTheMessagesOwn) {
  ClockedLoop loop;
  int total = 0;
  const Pid pid = loop.spawn<Counter>(total);
  pid << Add{1} << 7 << Wrapped<int[2]>{} << Wrapped<Wrapped<char>>{};
  loop.settle();
  ASSERT_EQ(loop.seen().dead.size(), 4u);
  EXPECT_NE(loop.seen().dead[0].type.find("Add"), std::string::npos) << loop.seen().dead[0].type;
  EXPECT_EQ(loop.seen().dead[0].type.find(';'), std::string::npos) << loop.seen().dead[0].type;
  EXPECT_EQ(loop.seen().dead[1].type, "int");
  EXPECT_TRUE(loop.seen().dead[2].type.ends_with("Wrapped<int[2]>") ||
              loop.seen().dead[2].type.ends_with("Wrapped<int [2]>"))
      << loop.seen().dead[2].type;
  EXPECT_NE(loop.seen().dead[3].type.find("Wrapped<char>"), std::string::npos)
      << loop.seen().dead[3].type;
}

TEST(TypeName, OfATypeInsideATemplateIsComplete) {
  const auto message = make_local<int, char>();
  const std::string name = detail::type_name<std::remove_const_t<decltype(message)>>.data();
  EXPECT_TRUE(name.ends_with("Local")) << name;
}

}  // namespace
}  // namespace jzx::testing
