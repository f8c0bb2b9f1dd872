// The test kit, as a user's test would use it.
#include <gtest/gtest.h>

#include <jzx/fiber.hpp>
#include <jzx/jzx.hpp>
#include <jzx/sim/testkit.hpp>

namespace jzx {
namespace {

using namespace std::chrono_literals;

struct Withdraw {
  int sum = 0;
};
struct Debit {
  int sum = 0;
};
struct Pay {
  int sum = 0;
};
struct Balance {};

struct Bank {
  int balance = 150;
  bool on(Debit debit) {
    if (debit.sum > balance) return false;
    balance -= debit.sum;
    return true;
  }
  int on(Balance) const { return balance; }
};

struct Till {
  ActorRef<Bank> bank;
  int paid = 0;
  explicit Till(ActorRef<Bank> the_bank) : bank(the_bank) {}
  void on(Withdraw wish, Context& context) {
    const auto me = context.self(*this);
    bank.ask(Debit{wish.sum}).then([me, wish](Result<bool> answer) {
      if (answer.ok() && *answer) me << Pay{wish.sum};
    });
  }
  void on(Pay pay) { paid += pay.sum; }
  int on(Balance) const { return paid; }
};

TEST(TestKit, HandlesOneExpectedMessageAfterTheOther) {
  TestKit kit;
  kit.given("a till and its bank");
  const auto bank = kit->spawn<Bank>();
  const auto till = kit->spawn<Till>(bank);
  kit.when("somebody wants money");
  till << Withdraw{100};
  EXPECT_TRUE(kit.expect<Withdraw>(anybody, till));
  kit.then("the bank is asked, and nobody is paid yet");
  EXPECT_TRUE(kit.disallow<Pay>(anybody, till));
  EXPECT_TRUE(kit.expect<Debit>(till, bank, [](const Debit& debit) { return debit.sum == 100; }));
  kit.then("the money is paid");
  const auto pay = kit.expect_copy<Pay>(anybody, till);
  ASSERT_TRUE(pay.has_value()) << kit.trace();
  EXPECT_EQ(pay->sum, 100);
  EXPECT_EQ(kit.finish(), "");
  EXPECT_NE(kit.trace().find("then the money is paid"), std::string::npos);
}

TEST(TestKit, SaysWhatIsThereInstead) {
  TestKit kit;
  const auto bank = kit->spawn<Bank>();
  const auto till = kit->spawn<Till>(bank);
  EXPECT_EQ(kit.expect<Withdraw>(anybody, till).why, "no message waits for it");
  till << Withdraw{1} << Pay{2};
  EXPECT_EQ(kit.expect<Pay>(anybody, till).why, "the next message is jzx::Withdraw");
  EXPECT_EQ(kit.expect<Withdraw>(bank, till).why, "jzx::Withdraw is from somebody else");
  EXPECT_EQ(kit.expect<Withdraw>(anybody, till, [](const Withdraw& w) { return w.sum == 5; }).why,
            "jzx::Withdraw does not hold what was expected");
  EXPECT_EQ(kit.disallow<Pay>(anybody, till).why, "jzx::Pay is there");
  EXPECT_EQ(kit->mailbox(till).size(), 2u) << "nothing was taken";
}

TEST(TestKit, AllowsWhatMayBeThere) {
  TestKit kit;
  const auto bank = kit->spawn<Bank>();
  const auto till = kit->spawn<Till>(bank);
  EXPECT_FALSE(kit.allow<Pay>(anybody, till));
  till << Pay{2};
  EXPECT_FALSE(kit.allow<Withdraw>(anybody, till));
  EXPECT_TRUE(kit.allow<Pay>(anybody, till));
  EXPECT_TRUE(kit->mailbox(till).empty());
}

TEST(TestKit, ShowsWhatWaitsInAMailbox) {
  TestKit kit;
  const auto bank = kit->spawn<Bank>();
  const auto till = kit->spawn<Till>(bank);
  till << Withdraw{7} << Pay{8} << Withdraw{9};
  const auto waiting = kit->mailbox(till);
  ASSERT_EQ(waiting.size(), 3u);
  EXPECT_EQ(waiting[1].type, "jzx::Pay");
  ASSERT_NE(waiting[2].as<Withdraw>(), nullptr);
  EXPECT_EQ(waiting[2].as<Withdraw>()->sum, 9);
  EXPECT_EQ(waiting[2].as<Pay>(), nullptr);
}

struct Remind {};
struct Napper {
  int reminded = 0;
  void on(Withdraw, Context& context) {
    (void)context.send_after(1s, context.self(*this), Remind{});
  }
  void on(Remind) { ++reminded; }
};

TEST(TestKit, LetsTimePassWithoutRunningAnybody) {
  TestKit kit;
  const auto napper = kit->spawn<Napper>();
  napper << Withdraw{};
  EXPECT_TRUE(kit.expect<Withdraw>(anybody, napper));
  kit.advance(999ms);
  EXPECT_TRUE(kit.disallow<Remind>(anybody, napper));
  kit.advance(1ms);
  EXPECT_TRUE(kit.expect<Remind>(napper, napper));
}

TEST(TestKit, PutsAMockInPlaceOfAnActor) {
  TestKit kit;
  const auto bank = kit->spawn<Bank>();
  const auto till = kit->spawn<Till>(bank);
  int asked = 0;
  kit->mock<Bank, Debit>([&](Debit, Context&) {
    ++asked;
    return false;
  });
  till << Withdraw{1};
  kit->run();
  EXPECT_EQ(asked, 1);
  auto paid = kit->run_until(till.ask(Balance{}));
  ASSERT_TRUE(paid.ok());
  EXPECT_EQ(*paid, 0) << "the mock said no";
  auto balance = kit->run_until(bank.ask(Balance{}));
  ASSERT_TRUE(balance.ok());
  EXPECT_EQ(*balance, 150) << "other messages are the actor's own";
}

TEST(TestKit, StepsOneActorAtATime) {
  TestKit kit;
  const auto bank = kit->spawn<Bank>();
  const auto a = kit->spawn<Till>(bank);
  const auto b = kit->spawn<Till>(bank);
  a << Pay{1};
  b << Pay{2};
  EXPECT_TRUE(kit->step(b));
  EXPECT_FALSE(kit->step(b)) << "that was all";
  EXPECT_EQ(kit->mailbox(a).size(), 1u);
}

// Puts bills aside until it opens.
struct Counter {
  bool is_open = false;
  int taken = 0;
  void on(Pay pay, Context& context) {
    if (!is_open) {
      EXPECT_TRUE(ok(context.stash(std::move(pay))));
      return;
    }
    taken += pay.sum;
  }
  void on(Withdraw, Context& context) {
    is_open = true;
    context.unstash_all();
  }
};

TEST(TestKit, SeesWhatAnActorHasStashed) {
  TestKit kit;
  const auto counter = kit->spawn<Counter>();
  counter << Pay{1} << Pay{2};
  kit->run();
  EXPECT_EQ(kit.disallow<Pay>(anybody, counter).why, "jzx::Pay is there");
  EXPECT_TRUE(kit.disallow<Debit>(anybody, counter));
  EXPECT_EQ(kit.expect<Pay>(anybody, counter).why, "no message waits for it");
  counter << Withdraw{};
  const auto waiting = kit->mailbox(counter);
  ASSERT_EQ(waiting.size(), 3u);
  EXPECT_FALSE(waiting[0].is_put_aside) << "mail comes first";
  EXPECT_TRUE(waiting[1].is_put_aside);
  ASSERT_NE(waiting[1].as<Pay>(), nullptr);
  EXPECT_EQ(waiting[1].as<Pay>()->sum, 1);
  EXPECT_TRUE(kit.expect<Withdraw>(anybody, counter)) << "the next one, whatever was put aside";
  EXPECT_EQ(kit.expect<Pay>(anybody, counter, [](const Pay& pay) { return pay.sum == 1; }).why, "");
  EXPECT_EQ(kit->mailbox(counter).size(), 1u);
}

TEST(TestKit, SeesWhatASelectiveReceiveHasPassedOver) {
  TestKit kit;
  const auto fiber = kit->spawn_fn([] { (void)receive<Withdraw>(); });
  kit->run();
  fiber << Pay{1} << Debit{2} << Pay{3};
  kit->run();
  EXPECT_EQ(kit.disallow<Pay>(anybody, fiber).why, "jzx::Pay is there");
  const auto waiting = kit->mailbox(fiber);
  ASSERT_EQ(waiting.size(), 3u);
  for (const SimMessage& message : waiting) EXPECT_TRUE(message.is_put_aside);
  EXPECT_EQ(waiting[1].type, "jzx::Debit") << "as they came, whatever their types";
  ASSERT_NE(waiting[2].as<Pay>(), nullptr);
  EXPECT_EQ(waiting[2].as<Pay>()->sum, 3);
}

}  // namespace
}  // namespace jzx
