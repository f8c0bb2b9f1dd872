// Small programs of users, each with a bug that shows in few orders only, and the same without it.
// The simulator must find the bug within the stated number of seeds and shrink it to few choices;
// what has no bug must pass the same seeds.
#include <gtest/gtest.h>

#include <jzx/jzx.hpp>
#include <jzx/sim/simulation.hpp>

#include <cstdio>
#include <memory>
#include <set>
#include <string>

namespace jzx::planted {
namespace {

using std::chrono::milliseconds;

struct Expected {
  std::string failure;
  uint64_t seeds = 0;  // at most
  size_t choices = 0;  // at most, after shrinking
  SimFaults faults = {};
};

template <class Program>
void expect_found(const char* name, const Expected& expected, Program program) {
  SimOptions options;
  options.name = name;
  options.seeds = static_cast<uint32_t>(expected.seeds);
  options.faults = expected.faults;
  const SimReport wrong = simulate(options, [&](Sim& sim) { program(sim, true); });
  ASSERT_FALSE(wrong) << "not found in " << expected.seeds << " seeds";
  EXPECT_NE(wrong.failure.find(expected.failure), std::string::npos) << wrong.text();
  EXPECT_LE(wrong.shrunk, expected.choices) << wrong.text();
  std::printf("found with seed %llu of %llu, and shrunk to %zu choices\n",
              static_cast<unsigned long long>(wrong.seed),
              static_cast<unsigned long long>(expected.seeds), wrong.shrunk);
  const SimReport right = simulate(options, [&](Sim& sim) { program(sim, false); });
  EXPECT_TRUE(right) << right.text();
}

// ---- check, then act ----

// One seat, and two who sell it. The wrong ones ask first whether it is free.
struct IsFree {};
struct Sell {
  bool only_if_free = true;
};

struct Hall {
  explicit Hall(std::shared_ptr<int> the_sold) : sold(std::move(the_sold)) {}
  bool on(IsFree) { return *sold == 0; }
  bool on(Sell sell) {
    if (sell.only_if_free && *sold > 0) return false;
    ++*sold;
    return true;
  }
  std::shared_ptr<int> sold;
};

struct Customer {};

struct Seller {
  Seller(ActorRef<Hall> the_hall, bool asks_first) : hall(the_hall), checks_first(asks_first) {}
  Task<void> on(Customer) {
    if (!checks_first) {
      Future<bool> sale = hall.ask(Sell{});
      (void)co_await sale;
      co_return;
    }
    Future<bool> look = hall.ask(IsFree{});
    const Result<bool> is_free = co_await look;
    if (is_free && *is_free) hall << Sell{false};
  }
  ActorRef<Hall> hall;
  bool checks_first;
};

TEST(Program, SellsASeatTwice) {
  expect_found("Program.SellsASeatTwice", {"no seat is sold twice", 50, 6},
               [](Sim& sim, bool is_wrong) {
                 auto sold = std::make_shared<int>(0);
                 sim.always("no seat is sold twice", [sold] { return *sold < 2; });
                 const auto hall = sim.spawn<Hall>(sold);
                 const auto first = sim.spawn<Seller>(hall, is_wrong);
                 const auto second = sim.spawn<Seller>(hall, is_wrong);
                 first << Customer{};
                 // The second customer is on the way meanwhile; mostly he is too late.
                 (void)sim.spawn_fn([second] {
                   for (int i = 0; i < 4; ++i) {
                     if (yield() == Wait::killed) return;
                   }
                   second << Customer{};
                 });
                 sim.run();
               });
}

// ---- a lost update ----

struct Get {};
struct Set {
  int value = 0;
};
struct Add {
  int value = 0;
};

struct Cell {
  explicit Cell(std::shared_ptr<int> the_value) : value(std::move(the_value)) {}
  int on(Get) { return *value; }
  void on(Set set) { *value = set.value; }
  void on(Add add) { *value += add.value; }
  std::shared_ptr<int> value;
};

// A fiber reads, adds, and writes back.
void count_up(ActorRef<Cell> cell, bool is_wrong) {
  for (int i = 0; i < 3; ++i) {
    if (!is_wrong) {
      cell << Add{1};
      continue;
    }
    const Result<int> before = cell.ask(Get{}).get();
    if (!before) return;
    cell << Set{*before + 1};
  }
}

TEST(Program, LosesAnUpdate) {
  expect_found("Program.LosesAnUpdate", {"all was counted", 20, 3}, [](Sim& sim, bool is_wrong) {
    auto value = std::make_shared<int>(0);
    const auto cell = sim.spawn<Cell>(value);
    for (int i = 0; i < 2; ++i) (void)sim.spawn_fn([=] { count_up(cell, is_wrong); });
    sim.run();
    sim.check(*value == 6, "all was counted");
  });
}

// ---- money in flight ----

// What is on disk: it survives the accounts, which are restarted.
struct Vault {
  int balance[2] = {100, 0};
  std::set<int> done;  // transfers that have arrived
};
using VaultPtr = std::shared_ptr<Vault>;

struct Deposit {
  int number = 0;
  int amount = 0;
};
struct Transfer {
  int number = 0;
  int amount = 0;
};

struct Account {
  Account(VaultPtr the_vault, int the_number) : vault(std::move(the_vault)), number(the_number) {}
  bool on(Deposit deposit) {
    if (vault->done.insert(deposit.number).second) vault->balance[number] += deposit.amount;
    return true;
  }
  VaultPtr vault;
  int number;
};

// Takes the money from the first account and brings it to the second, which may be killed. The
// wrong one does not wait to hear that it has arrived.
class Clerk {
 public:
  Clerk(VaultPtr vault, SupervisorRef accounts, bool is_wrong)
      : vault_(std::move(vault)), accounts_(accounts), is_wrong_(is_wrong) {}

  Task<void> on(Transfer transfer) {
    vault_->balance[0] -= transfer.amount;
    const Deposit deposit{transfer.number, transfer.amount};
    Self self = co_await this_actor();
    for (bool has_arrived = false; !has_arrived;) {
      const auto receiver = accounts_.child_as<Account>(1);
      if (is_wrong_) {
        has_arrived = ok(receiver.send(deposit));
      } else {
        Future<bool> answer = receiver.ask(deposit);
        has_arrived = bool(co_await answer);
      }
      if (has_arrived) break;
      Future<void> pause = self.sleep(milliseconds(10));
      if (const Result<void> rested = co_await pause; !rested) co_return;
    }
  }

 private:
  VaultPtr vault_;
  SupervisorRef accounts_;
  bool is_wrong_;
};

TEST(Program, LosesMoneyWhenTheReceiverIsRestarted) {
  SimFaults faults;
  faults.kill = 50'000;
  expect_found("Program.LosesMoneyWhenTheReceiverIsRestarted", {"no money is lost", 100, 3, faults},
               [](Sim& sim, bool is_wrong) {
                 auto vault = std::make_shared<Vault>();
                 SupervisorOptions options;
                 options.intensity = 1000;
                 const SupervisorRef accounts = sim.supervise(
                     options,
                     {child<Account>("sender", vault, 0), child<Account>("receiver", vault, 1)});
                 const auto clerk = sim.spawn<Clerk>(vault, accounts, is_wrong);
                 sim.protect(accounts);
                 sim.protect(clerk);
                 for (int i = 0; i < 4; ++i) clerk << Transfer{i, 10};
                 sim.eventually("no money is lost",
                                [vault] { return vault->balance[0] + vault->balance[1] == 100; });
                 sim.run();
                 sim.finish();
               });
}

// ---- at least once ----

struct Pay {
  int order = 0;
};

struct Till {
  Till(std::shared_ptr<int> the_paid, bool is_wrong)
      : paid(std::move(the_paid)), forgets(is_wrong) {}
  bool on(Pay pay) {
    if (forgets || known.insert(pay.order).second) ++*paid;
    return true;
  }
  std::shared_ptr<int> paid;
  bool forgets;
  std::set<int> known;
};

// Tries again when no answer has come in time, though the first may only be late.
Task<void> pay_once(ActorRef<Till> till) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    Future<bool> answer = till.ask_for(milliseconds(20), Pay{1});
    const Result<bool> is_paid = co_await answer;
    if (is_paid) co_return;
  }
}

TEST(Program, PaysTwiceWhenTheAnswerIsLate) {
  SimFaults faults;
  faults.delay = 100'000;
  expect_found("Program.PaysTwiceWhenTheAnswerIsLate", {"nobody pays twice", 100, 3, faults},
               [](Sim& sim, bool is_wrong) {
                 auto paid = std::make_shared<int>(0);
                 sim.always("nobody pays twice", [paid] { return *paid < 2; });
                 const auto till = sim.spawn<Till>(paid, is_wrong);
                 auto end = sim.spawn_async(pay_once(till));
                 sim.run();
               });
}

// ---- a circle ----

struct Greet {};
struct Hello {};

struct Neighbour {
  explicit Neighbour(bool is_wrong) : waits(is_wrong) {}
  void on(ActorRef<Neighbour> the_other) { other = the_other; }
  bool on(Hello) { return true; }
  Task<void> on(Greet) {
    Future<bool> answer = other.ask(Hello{});
    if (waits) (void)co_await answer;
  }
  ActorRef<Neighbour> other;
  bool waits;
};

TEST(Program, WaitsInACircle) {
  expect_found("Program.WaitsInACircle", {"deadlock: ", 20, 3}, [](Sim& sim, bool is_wrong) {
    const auto a = sim.spawn<Neighbour>(is_wrong);
    const auto b = sim.spawn<Neighbour>(is_wrong);
    a << ActorRef<Neighbour>(b) << Greet{};
    b << ActorRef<Neighbour>(a) << Greet{};
    sim.run();
  });
}

}  // namespace
}  // namespace jzx::planted
