// A server of lines, as one would write it for real: what echo_server.cpp runs.
//
//   door (supervised task) ──Arrived──▶ House ──supervises──▶ a task per connection
//
// A connection is an actor: what goes wrong in it ends it alone, and the house hears of that. What
// a peer can make us keep is bounded: connections by `most`, a line by `longest_line`, answers
// because the next line is not read before the last answer is written, and time by `idle`.
//
// To drain is to stop one actor, `patience`, whose children are the reads of those that wait for a
// line. Their connections say goodbye; the others find out when they want to read again, and so end
// their request first.
#pragma once

#include <jzx/jzx.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace echo {

using namespace std::chrono_literals;
using jzx::net::Stream;

struct Rules {
  size_t most = 1000;                   // connections at a time
  std::chrono::milliseconds idle{30s};  // for the peer to send a line, or to take an answer
  size_t longest_line = 4096;
};

struct Report {
  size_t served = 0;   // connections that have ended well
  size_t crashed = 0;  // …and badly
  size_t refused = 0;  // because the house was full
  size_t open = 0;
};

// What a peer may still send when it is told to go, and for how long.
constexpr size_t kEnough = size_t{1} << 20;
constexpr std::chrono::milliseconds kPatience{1000};

// ---- one connection ----

// What a connection knows of its house.
struct Terms {
  jzx::Runtime& runtime;
  Rules rules;
  jzx::Pid patience;
};

inline jzx::Task<void> say(const Terms& terms, Stream& stream, std::string text) {
  auto writing =
      jzx::with_timeout(terms.rules.idle, terms.runtime.spawn_async(stream.write_all(text)));
  jzx::Result<void> written = co_await writing;
  co_await written;
}

inline jzx::Task<std::string> next_line(const Terms& terms, jzx::net::BufferedReader& reader) {
  auto reading = jzx::with_timeout(
      terms.rules.idle,
      terms.runtime.spawn_async_with({.supervisor = terms.patience}, reader.read_line()));
  jzx::Result<std::string> line = co_await reading;
  co_return std::move(line);
}

inline const char* farewell(const jzx::Error& why) {
  if (why.code() == jzx::Errc::timed_out) return "too quiet, goodbye\n";
  if (why.code() == jzx::Errc::too_long) return "too long a line, goodbye\n";
  return "closing, goodbye\n";
}

// Reads what the peer still sends, until it ends or this is enough of it.
inline jzx::Task<void> ignore(Stream& stream, size_t at_most) {
  std::array<std::byte, 4096> buffer;
  for (size_t ignored = 0; ignored < at_most;) {
    auto reading = stream.read(buffer);
    jzx::Result<size_t> count = co_await reading;
    if (!count || *count == 0) co_return;
    ignored += *count;
  }
}

// Says why it ends. To close while the peer still sends is a reset, which may overtake what was
// said: so who is cut off in the middle is told that no more comes, and is let finish, for a while.
inline jzx::Task<void> part(const Terms& terms, Stream& stream, jzx::Error why) {
  auto saying = say(terms, stream, farewell(why));
  jzx::Result<void> said = co_await saying;
  if (!said || why.code() != jzx::Errc::too_long) co_return;
  if (!stream.shut_down_writing()) co_return;
  auto ignoring = jzx::with_timeout(std::min(terms.rules.idle, kPatience), ignore(stream, kEnough));
  (void)co_await ignoring;
}

// Three words are requests of their own: "crash", "work", which takes a while, and "quit".
inline jzx::Task<void> answer(const Terms& terms, Stream& stream, std::string line) {
  if (line == "crash") co_await jzx::fail(jzx::Errc::unknown, "the peer wanted a crash");
  if (line == "work") {
    auto beginning = say(terms, stream, "working\n");
    jzx::Result<void> begun = co_await beginning;
    co_await begun;
    auto working = jzx::sleep(100ms);
    jzx::Result<void> worked = co_await working;
    co_await worked;
  }
  auto saying = say(terms, stream, line + "\n");
  jzx::Result<void> said = co_await saying;
  co_await said;
}

inline jzx::Task<void> converse(Terms terms, Stream stream) {
  jzx::net::BufferedReader reader(stream, terms.rules.longest_line);
  for (;;) {
    auto reading = next_line(terms, reader);
    jzx::Result<std::string> line = co_await reading;
    if (!line && line.error().code() == jzx::Errc::end_of_stream) co_return;
    if (!line) {
      auto parting = part(terms, stream, line.error());
      (void)co_await parting;
      co_return;
    }
    if (*line == "quit") co_return;
    auto answering = answer(terms, stream, std::move(*line));
    jzx::Result<void> answered = co_await answering;
    co_await answered;
  }
}

// ---- the house ----

struct Arrived {
  Stream stream;
};
// Lets nobody wait for a line any more; `empty` is settled when the last connection has ended.
struct Drain {
  jzx::Promise<void> empty;
};
struct HowIsIt {};

struct Patience {};  // does nothing; it is the parent of reads

class House {
 public:
  House(jzx::Runtime& runtime, const Rules& rules)
      : terms_{runtime, rules, runtime.spawn<Patience>()} {}

  void on(Arrived arrived, jzx::Context& context) {
    if (open_.size() >= terms_.rules.most) {
      ++report_.refused;
      (void)context.spawn_async(refuse(terms_, std::move(arrived.stream)));
      return;
    }
    jzx::Pid connection;
    (void)context.spawn_async_with({.name = "connection", .supervisor = context.self()},
                                   converse(terms_, std::move(arrived.stream)), &connection);
    if (connection) open_.insert(connection.id());
  }

  void on(const jzx::ChildExit& end) {
    open_.erase(end.child);
    if (end.reason == jzx::ExitReason::normal) {
      ++report_.served;
    } else {
      ++report_.crashed;
      std::printf("a connection has crashed: %s\n", end.text.c_str());
    }
    tell_if_empty();
  }

  void on(Drain drain, jzx::Context& context) {
    empty_.push_back(std::move(drain.empty));
    (void)context.stop(terms_.patience);
    tell_if_empty();
  }

  Report on(HowIsIt) {
    report_.open = open_.size();
    return report_;
  }

 private:
  static jzx::Task<void> refuse(Terms terms, Stream stream) {
    auto saying = say(terms, stream, "full, try again later\n");
    (void)co_await saying;
  }
  void tell_if_empty() {
    if (!open_.empty()) return;
    for (jzx::Promise<void>& each : empty_) each.resolve();
    empty_.clear();
  }

  Terms terms_;
  Report report_;
  std::set<jzx::ActorId> open_;
  std::vector<jzx::Promise<void>> empty_;
};

// ---- the door ----

// An error of accept, such as too many open files, is not the end: it tries again, a little later.
inline jzx::Task<void> keep_the_door(std::shared_ptr<jzx::net::Listener> listener,
                                     jzx::ActorRef<House> house) {
  for (;;) {
    auto accepting = listener->accept();
    jzx::Result<Stream> accepted = co_await accepting;
    if (accepted) {
      (void)house.send(Arrived{std::move(*accepted)});  // refused: the stream is closed
      continue;
    }
    if (co_await jzx::stop_requested()) co_return;
    std::printf("cannot accept: %s\n", accepted.error().message());
    auto pausing = jzx::sleep(100ms);
    (void)co_await pausing;
  }
}

// ---- all of it ----

class Server {
 public:
  Server(jzx::Runtime& runtime, const jzx::net::Address& address, const Rules& rules)
      : runtime_(runtime), house_(runtime.spawn<House>(runtime, rules)) {
    auto listener = jzx::net::Listener::open(address, {}, runtime);
    if (!listener) {
      std::printf("cannot listen: %s\n", listener.error().message());
      return;
    }
    address_ = *listener->address();
    auto shared = std::make_shared<jzx::net::Listener>(std::move(*listener));
    door_ = runtime.supervise({}, {jzx::child_async("door", [shared, house = house_] {
                                return keep_the_door(shared, house);
                              })});
  }

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(door_); }
  [[nodiscard]] const jzx::net::Address& address() const { return address_; }

  // Accepts no more, lets requests that are under way end, says goodbye to the others. What is left
  // after this time is for Runtime::shutdown() to kill.
  Report drain(std::chrono::milliseconds at_most) {
    (void)runtime_.stop(door_);
    auto [empty, promise] = jzx::promise<void>();
    house_ << Drain{std::move(promise)};
    (void)jzx::with_timeout(runtime_.sleep(at_most), std::move(empty)).get();
    jzx::Result<Report> report = house_.ask(HowIsIt{}).get();
    return report ? *report : Report{};
  }

 private:
  jzx::Runtime& runtime_;
  jzx::ActorRef<House> house_;
  jzx::SupervisorRef door_;
  jzx::net::Address address_;
};

}  // namespace echo
