// The examples of docs/sync.md, as they stand there.
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include <jzx/jzx.hpp>

namespace {

using namespace std::chrono_literals;

// ---- locks ----

struct Account {
  jzx::Mutex mutex;
  int balance = 0;
};

jzx::Task<int> deposit(Account& account, int amount) {
  auto asked = account.mutex.lock();
  jzx::MutexGuard guard = co_await co_await asked;  // cancelled: the task ends here
  account.balance += amount;                        // nobody else, also across waits
  co_return account.balance;
}

TEST(SyncDocs, Locks) {
  Account account;
  jzx::Loop loop;
  auto first = loop.spawn_async(deposit(account, 40));
  auto second = loop.spawn_async(deposit(account, 2));
  EXPECT_EQ(loop.run(), jzx::Errc::ok);
  EXPECT_EQ(*second.get(), 42);
  EXPECT_TRUE(first.get().ok());
}

// ---- conditions ----

struct Inbox {
  jzx::Mutex mutex;
  jzx::Condition not_empty{mutex};
  std::deque<std::string> mails;
};

jzx::Task<std::string> next_mail(Inbox& inbox) {
  auto asked = inbox.mutex.lock();
  jzx::MutexGuard guard = co_await co_await asked;
  while (inbox.mails.empty()) {
    auto told = inbox.not_empty.wait(std::move(guard));
    guard = co_await co_await told;
  }
  std::string mail = std::move(inbox.mails.front());
  inbox.mails.pop_front();
  co_return mail;
}

TEST(SyncDocs, Conditions) {
  Inbox inbox;
  jzx::Loop loop;
  auto mail = loop.spawn_async(next_mail(inbox));
  loop.run_once(0ms);
  {
    auto guard = inbox.mutex.try_lock();
    ASSERT_TRUE(guard);
    inbox.mails.push_back("hello");
    inbox.not_empty.notify_one();
  }
  EXPECT_EQ(loop.run(), jzx::Errc::ok);
  EXPECT_EQ(*mail.get(), "hello");
}

// ---- channels ----

jzx::Task<int> add_up(jzx::Receiver<int> numbers) {
  int sum = 0;
  for (;;) {
    auto receiving = numbers.recv();
    jzx::Result<int> number = co_await receiving;
    if (!number) co_return sum;  // Errc::closed: all senders are gone
    sum += *number;
  }
}

TEST(SyncDocs, Channels) {
  jzx::Runtime runtime(jzx::RuntimeOptions{.workers = 2});
  auto [sender, receiver] = jzx::channel<int>(16);
  auto sum = runtime.spawn_async(add_up(std::move(receiver)));
  for (int i = 1; i <= 100; ++i) EXPECT_TRUE(sender.send(i).get().ok());  // a thread waits here
  sender = {};
  EXPECT_EQ(*sum.get(), 5050);
}

// ---- a message that must not be lost ----

jzx::Task<void> forward(jzx::Receiver<std::string>& from, jzx::Sender<std::string>& to) {
  auto asked = to.reserve();
  jzx::SendPermit<std::string> place = co_await co_await asked;  // first the place,
  auto receiving = from.recv();
  std::string message = co_await co_await receiving;  // then the message, and no wait between
  if (!ok(place.send(std::move(message)))) co_await jzx::fail(jzx::Errc::closed);
}

TEST(SyncDocs, Forwarding) {
  auto [a_in, a_out] = jzx::channel<std::string>(1);
  auto [b_in, b_out] = jzx::channel<std::string>(1);
  EXPECT_EQ(a_in.try_send("kept"), jzx::Errc::ok);
  EXPECT_TRUE(forward(a_out, b_in).get().ok());
  EXPECT_EQ(*b_out.try_recv(), "kept");
}

// ---- select ----

jzx::Task<std::string> serve(jzx::Receiver<int>& jobs, jzx::Receiver<std::string>& orders) {
  for (;;) {
    auto first = jzx::select(jobs.ready(), orders.ready(), jzx::sleep(1h));
    jzx::Selection selection = co_await co_await first;
    if (selection.index == 0) {
      jzx::Result<int> job = jobs.try_recv();
      if (job) co_return "job " + std::to_string(*job);
    } else if (selection.index == 1) {
      jzx::Result<std::string> order = orders.try_recv();
      if (order) co_return "order " + *order;
    } else {
      co_return "nothing to do";
    }
  }
}

TEST(SyncDocs, Select) {
  jzx::Loop loop;
  auto [jobs_in, jobs] = jzx::channel<int>(1);
  auto [orders_in, orders] = jzx::channel<std::string>(1);
  auto done = loop.spawn_async(serve(jobs, orders));
  loop.run_once(0ms);
  EXPECT_EQ(orders_in.try_send("tea"), jzx::Errc::ok);
  EXPECT_EQ(loop.run(), jzx::Errc::ok);
  EXPECT_EQ(*done.get(), "order tea");
}

}  // namespace
