// bank: money is neither made nor lost, whatever happens to a transfer.
//
//   teller ──spawns and monitors──▶ transfer ──Book──▶ payer, payee
//                                            ◀─Booked─
//
// An account is a fiber that books what it is told, if its balance allows. A transfer is a fiber of
// its own, for as long as it takes: it books with both, and waits for each, but not for ever. If
// one refuses, or is gone, or does not answer in time, it takes back what it has begun and ends
// with the reason; that is all that the teller has to look at.
//
// Why a timeout is safe: what one sends to another arrives in order. So an account that was too
// late finds the Undo right behind the Book, and an Undo of what was never booked does nothing.
#include <jzx/jzx.hpp>

#include <chrono>
#include <cstdio>
#include <unordered_map>
#include <vector>

namespace {

using namespace std::chrono_literals;

struct Book {
  int amount;  // negative: is paid from here
};
struct Booked {
  bool is_done;
};
struct Undo {};
struct Settled {};  // it will not be undone
struct Balance {};
struct Lunch {};
struct BackFromLunch {};

// ---- an account ----

void account(int balance) {
  std::unordered_map<jzx::ActorId, int> booked;  // by transfer
  jzx::Wait wait = jzx::Wait::done;
  while (wait == jzx::Wait::done) {
    wait = jzx::receive(
        [&](Book book) {
          const bool is_covered = balance + book.amount >= 0;
          if (is_covered) {
            balance += book.amount;
            booked[jzx::sender().id()] += book.amount;
          }
          jzx::sender() << Booked{is_covered};
        },
        [&](Undo) {
          balance -= booked[jzx::sender().id()];
          booked.erase(jzx::sender().id());
        },
        [&](Settled) { booked.erase(jzx::sender().id()); }, [&](Balance) { return balance; },
        // Whatever else comes has to wait.
        [&](Lunch) { jzx::receive([](BackFromLunch) {}); });
  }
}

// ---- a transfer ----

struct Order {
  jzx::Pid from;
  jzx::Pid to;
  int amount;
};

// nullptr, or why not.
const char* book(jzx::Pid account, int amount) {
  if (!jzx::ok(account.send(Book{amount}))) return "there is no such account";
  const char* why = nullptr;
  jzx::receive_for(
      50ms,
      [&](Booked booked) {
        if (!booked.is_done) why = "the balance is too low";
      },
      jzx::after([&] { why = "no answer in time"; }));
  return why;
}

void transfer(const Order& order) {
  const char* why = book(order.from, -order.amount);
  if (why == nullptr) why = book(order.to, order.amount);
  if (why == nullptr) {
    order.from << Settled{};
    order.to << Settled{};
    return;
  }
  order.from << Undo{};
  order.to << Undo{};
  jzx::exit(jzx::ExitReason::fail, why);
}

// ---- the teller ----

void run_and_tell(const char* what, const Order& order) {
  jzx::spawn_monitor([order] { transfer(order); });
  jzx::receive([&](const jzx::Down& down) {
    const bool is_done = down.reason == jzx::ExitReason::normal;
    std::printf("%s: %s\n", what, is_done ? "done" : down.text.c_str());
  });
}

int balance_of(jzx::Pid account) {
  const jzx::Result<int> balance = jzx::ask<int>(account, Balance{}).get();
  return balance.ok() ? *balance : -1;
}

void teller() {
  const jzx::Pid ann = jzx::spawn(account, 100);
  const jzx::Pid bob = jzx::spawn(account, 100);
  const jzx::Pid carl = jzx::spawn(account, 100);
  const jzx::Pid closed = jzx::spawn_monitor([] {});
  jzx::receive([](const jzx::Down&) {});  // now it is

  run_and_tell("ann pays 30 to bob", {ann, bob, 30});
  run_and_tell("ann pays 80 to bob", {ann, bob, 80});
  run_and_tell("bob pays 10 to a closed account", {bob, closed, 10});
  carl << Lunch{};
  run_and_tell("bob pays 50 to carl, who is at lunch", {bob, carl, 50});
  std::printf("ann has %d, bob %d", balance_of(ann), balance_of(bob));
  carl << BackFromLunch{};
  std::printf(", carl %d\n", balance_of(carl));

  // Many at once, some of them for more than is there.
  const std::vector<jzx::Pid> all = {ann, bob, carl};
  constexpr int kTransfers = 300;
  for (int i = 0; i < kTransfers; ++i) {
    const auto from = static_cast<size_t>(i);
    const Order order{all[from % 3], all[(from + 1 + from % 2) % 3], i % 90};
    jzx::spawn_monitor([order] { transfer(order); });
  }
  int done = 0;
  for (int i = 0; i < kTransfers; ++i) {
    jzx::receive([&](const jzx::Down& down) { done += down.reason == jzx::ExitReason::normal; });
  }
  const bool is_mixed = done > 0 && done < kTransfers;
  std::printf("%d transfers at once: %s\n", kTransfers,
              is_mixed ? "some done, some refused" : "that was no test");

  const int sum = balance_of(ann) + balance_of(bob) + balance_of(carl);
  std::printf("the bank has %d\n", sum);
  for (const jzx::Pid each : all) (void)jzx::FiberSystem().stop(each);
}

}  // namespace

int main() {
  jzx::Loop loop;
  if (!loop || !loop.spawn(teller)) return 1;
  return jzx::ok(loop.run()) ? 0 : 2;
}
