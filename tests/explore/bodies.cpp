// The kinds of bodies.
#include <optional>
#include <stdexcept>

#include "explore/crowd.hpp"

namespace jzx::explore {

namespace {

using std::chrono::milliseconds;

// An ask that its asker waits for. One whose asker is unwound is nobody's any more.
class Waiting {
 public:
  Waiting(BooksPtr books, Pid whom) : books_(std::move(books)), number_(books_->new_ask(whom)) {}
  ~Waiting() { books_->answered(number_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  BooksPtr books_;
  int number_;
};

// Who waits for one that never answers must not do so for ever, or others wait for it in turn.
Future<int> ask_safely(Books& books, Pid whom, int number) {
  if (books.is_listening(whom)) return ask<int>(whom, Query{number});
  return ask_for<int>(some_time(books), whom, Query{number});
}

void throw_or_fail(Context& self) {
#ifndef JZX_LIBRARY_NOEXCEPT
  throw std::runtime_error("by chance");
#endif
  self.fail("by chance");
}

// ---- handlers ----

struct Member {
  using Messages = jzx::Messages<Do, Tick, Query>;

  Member(BooksPtr the_books, Seat seat)
      : books(std::move(the_books)), presence(books, seat, true) {}

  void on_start(Context& self) {
    has_started = true;
    books->listens(self.self());
  }
  void on_stop(Context& self, ExitReason) {
    if (!has_started) books->wrong("on_stop() without on_start()");
    if (has_stopped) books->wrong("on_stop() twice");
    has_stopped = true;
    // A last word.
    if (books->sim.choose(8) == 7) (void)act(*books, self, self.self(), 1);
  }

  void on(Do order, Context& self) {
    if (!has_started) books->wrong("a message before on_start()");
    // Not while some are put aside: what comes then is ahead of them.
    if (stashed == 0) books->obeyed(self.sender(), self.self(), order.number);
    if (stashed > 0 && books->sim.choose(2) == 1) {
      stashed = 0;
      self.unstash_all();
    }
    switch (act(*books, self, self.self(), order.energy)) {
      case Then::stash:
        if (ok(self.stash(order))) ++stashed;
        break;
      case Then::stop:
        return self.stop();
      case Then::fail:
        return self.fail("by chance");
      case Then::throws:
        return throw_or_fail(self);
      case Then::go_on:
      case Then::ask:
      case Then::sleep:
        break;
    }
  }
  void on(Tick tick, Context& self) { books->ticked(tick.timer, self.self()); }
  int on(Query query) { return query.number; }
  void on(const Down& down, Context& self) { books->heard_down(self.self(), down); }
  void on(const Exit& exit, Context& self) { books->heard_exit(self.self(), exit); }
  void on(const ChildExit&) {}

  BooksPtr books;
  Presence presence;
  bool has_started = false;
  bool has_stopped = false;
  int stashed = 0;
};

// ---- coroutine handlers ----

template <bool Interleaves>
struct Thinker {
  static constexpr bool interleaves = Interleaves;
  using Messages = jzx::Messages<Do, Tick, Query>;

  Thinker(BooksPtr the_books, Seat seat)
      : books(std::move(the_books)), presence(books, seat, true) {}

  // Of its handlers one is under way at a time.
  class Handling {
   public:
    explicit Handling(Thinker& thinker) : thinker_(thinker) {
      if (++thinker_.handling > 1 && !Interleaves) {
        thinker_.books->wrong("a handler began before the one before had ended");
      }
    }
    ~Handling() { --thinker_.handling; }
    Handling(const Handling&) = delete;
    Handling& operator=(const Handling&) = delete;

   private:
    Thinker& thinker_;
  };

  void on_start(Context& self) { books->listens(self.self()); }

  Task<void> on(Do order) {
    const Handling busy(*this);
    Self self = co_await this_actor();
    books->obeyed(self.sender(), self.pid(), order.number);
    for (uint32_t i = 0; i < 2; ++i) {
      switch (act(*books, self, self.pid(), order.energy)) {
        case Then::ask: {
          const Pid whom = books->somebody();
          const Waiting waiting(books, whom);
          Future<int> answer = ask_safely(*books, whom, waiting.number());
          (void)co_await answer;
          break;
        }
        case Then::sleep: {
          Future<void> nap = self.sleep(some_time(*books));
          (void)co_await nap;
          break;
        }
        case Then::stop:
          (void)self.stop();
          co_return;
        case Then::fail: {
          const Error error(Errc::invalid_arg, "by chance");
          co_await fail(error);
          break;
        }
#ifndef JZX_LIBRARY_NOEXCEPT
        case Then::throws:
          throw std::runtime_error("by chance");
#endif
        default:
          break;
      }
    }
  }
  Task<int> on(Query query) {
    const Handling busy(*this);
    if (books->sim.choose(2) == 1) {
      Self self = co_await this_actor();
      Future<void> nap = self.sleep(milliseconds(1));
      (void)co_await nap;
    }
    co_return query.number;
  }
  void on(Tick tick, Context& self) { books->ticked(tick.timer, self.self()); }
  void on(const Down& down, Context& self) { books->heard_down(self.self(), down); }
  void on(const Exit& exit, Context& self) { books->heard_exit(self.self(), exit); }

  BooksPtr books;
  Presence presence;
  int handling = 0;
};

using Patient = Thinker<false>;
using Juggler = Thinker<true>;

// ---- fibers ----

class FiberBody {
 public:
  FiberBody(BooksPtr books, Seat seat) : books_(std::move(books)), seat_(seat) {}

  void operator()() {
    const Presence presence(books_, seat_, false);
    books_->listens(self());
    std::optional<Do> order;
    while (is_going_) {
      const Wait wait = receive(
          [&](Do one) {
            order = one;
            books_->obeyed(sender(), self(), one.number);
          },
          [&](Tick tick) { books_->ticked(tick.timer, self()); },
          [&](Query query) { return query.number; },
          [&](const Down& down) { books_->heard_down(self(), down); },
          [&](const Exit& exit) { books_->heard_exit(self(), exit); }, [&](const ChildExit&) {});
      if (wait == Wait::killed) return;
      if (order) obey(*order);
      order.reset();
    }
  }

 private:
  void obey(const Do& order) {
    FiberSystem system;
    switch (act(*books_, system, self(), order.energy)) {
      case Then::ask: {
        const Pid whom = books_->somebody();
        const Waiting waiting(books_, whom);
        Future<int> answer = ask_safely(*books_, whom, waiting.number());
        (void)(books_->sim.choose(2) == 0 ? answer.get() : answer.get_for(some_time(*books_)));
        break;
      }
      case Then::sleep:
        is_going_ = sleep_for(some_time(*books_)) != Wait::killed;
        break;
      case Then::stash: {  // everything else is kept meanwhile
        const Wait wait =
            receive_for(some_time(*books_), [&](Tick tick) { books_->ticked(tick.timer, self()); });
        is_going_ = wait != Wait::killed;
        break;
      }
      case Then::stop:
        is_going_ = false;
        break;
      case Then::fail:
        is_going_ = false;
        exit(ExitReason::fail, "by chance");
        break;
      case Then::throws:
        is_going_ = false;
#ifndef JZX_LIBRARY_NOEXCEPT
        throw std::runtime_error("by chance");
#endif
        break;
      case Then::go_on:
        break;
    }
  }

  BooksPtr books_;
  Seat seat_;
  bool is_going_ = true;
};

// ---- tasks ----

Task<void> toil(BooksPtr books, Seat seat) {
  const Presence presence(books, seat, false);
  Self self = co_await this_actor();
  for (uint32_t left = books->sim.choose(4) + 1; left > 0; --left) {
    Future<void> nap = books->has_work() ? self.sleep(some_time(*books)) : books->for_ever();
    const Result<void> woken = co_await nap;
    if (!woken) co_return;
    const Then then = act(*books, self, {}, 2);
    (void)then;
  }
  if (books->sim.choose(2) == 1) {
    const Error error(Errc::invalid_arg, "by chance");
    co_await fail(error);
  }
}

enum class Body : uint8_t { member, fiber, patient, juggler, task };
constexpr Body kBodies[] = {Body::member,  Body::member,  Body::fiber,
                            Body::patient, Body::juggler, Body::task};

Body some_body(Books& books) { return kBodies[books.sim.choose(std::size(kBodies))]; }

}  // namespace

Pid spawn_somebody(const BooksPtr& books, SystemFace& system, const SpawnOptions& options) {
  const Seat seat = books->new_seat(-1);
  switch (some_body(*books)) {
    case Body::member:
      return system.spawn_with<Member>(options, books, seat);
    case Body::patient:
      return system.spawn_with<Patient>(options, books, seat);
    case Body::juggler:
      return system.spawn_with<Juggler>(options, books, seat);
    case Body::fiber:
      return system.spawn_fn_with(options, FiberBody(books, seat));
    case Body::task: {
      Pid pid;
      const Future<void> end = system.spawn_async_with(options, toil(books, seat), &pid);
      return pid;
    }
  }
  return {};
}

ChildSpec some_child(const BooksPtr& books, const Seat& seat) {
  const std::string name = "child" + std::to_string(seat.number);
  switch (some_body(*books)) {
    case Body::member:
      return child<Member>(name, books, seat);
    case Body::patient:
      return child<Patient>(name, books, seat);
    case Body::juggler:
      return child<Juggler>(name, books, seat);
    case Body::fiber:
      return child_fn(name, FiberBody(books, seat));
    case Body::task:
      break;
  }
  return child_async(name, [books, seat] { return toil(books, seat); });
}

}  // namespace jzx::explore
