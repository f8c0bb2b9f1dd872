// Books: what a user of the library could know about a run, kept by a model that is much simpler
// than the library. The actors of an exploration enter what they were promised (a monitor, a link,
// a timer, a name, an answer) and what they were told; the two must agree after every step and at
// the end.
//
// Mistakes are kept until the next look, since what is entered while a run is torn down has nobody
// left to tell it to.
//
// Threads: one.
#pragma once

#include <jzx/jzx.hpp>
#include <jzx/sim/simulation.hpp>

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace jzx::explore {

// One place in a supervisor's list of children, or somebody who was just spawned.
struct Seat {
  int number = -1;
  int family = -1;  // whose children start in order, the eldest first; -1: in any order
};

class Books : public std::enable_shared_from_this<Books> {
 public:
  static constexpr std::array<std::string_view, 3> kNames = {"first", "second", "third"};

  explicit Books(Sim& the_sim) : sim(the_sim) {}
  Books(const Books&) = delete;
  Books& operator=(const Books&) = delete;

  // What must hold is looked at from now on. The books live as long as the run.
  static void open(const std::shared_ptr<Books>& books);

  // ---- who is there ----

  void started(ActorId id);
  void stopped(ActorId id, ExitReason reason);
  // It takes whatever it is sent; supervisors and tasks do not.
  void listens(Pid who) { listening_.insert(who.id()); }
  [[nodiscard]] bool is_listening(Pid who) const { return listening_.contains(who.id()); }
  [[nodiscard]] bool is_alive(ActorId id) const { return alive_.contains(id); }
  [[nodiscard]] size_t population() const noexcept { return crowd_.size(); }
  // One of them, or at times one that has ended; empty if there never was anybody.
  [[nodiscard]] Pid somebody();

  // ---- promises, and what became of them ----

  void monitors(Pid watcher, Pid target, MonitorRef ref);
  void demonitored(MonitorRef ref);
  void heard_down(Pid watcher, const Down& down);
  // A monitor that is still there, most often; 0: none.
  [[nodiscard]] MonitorRef some_monitor();

  void linked(Pid a, Pid b);
  void unlinked(Pid a, Pid b);
  void traps(Pid who, bool on);
  [[nodiscard]] bool is_trapping(Pid who) const { return trapping_.contains(who.id()); }
  void heard_exit(Pid who, const Exit& exit);

  // Before it is armed; the number goes with the message.
  [[nodiscard]] int new_timer(Pid target, std::chrono::milliseconds delay);
  void armed(int timer, TimerId id);
  void not_armed(int timer);
  void cancelled(int timer);
  void ticked(int timer, Pid who);
  // -1: none.
  [[nodiscard]] int some_timer();
  [[nodiscard]] TimerId id_of(int timer) const { return timers_[static_cast<size_t>(timer)].id; }

  void named(Pid who, size_t name);

  [[nodiscard]] int new_ask(Pid target);
  void answered(int ask);

  // Of the next order. Those of one sender must be taken in order, by who puts none aside.
  [[nodiscard]] uint64_t new_order() noexcept { return ++orders_; }
  void obeyed(Pid from, Pid who, uint64_t order);

  // A future without a result, for who is to do no more.
  [[nodiscard]] Future<void> for_ever();
  // Is there still work to be done? Less with every look.
  [[nodiscard]] bool has_work() noexcept { return work_left_ > 0 && --work_left_ > 0; }

  // ---- children ----

  [[nodiscard]] int new_family() { return families_++; }
  [[nodiscard]] Seat new_seat(int family);
  // `is_eager`: it is there as soon as it is started, not only when it runs.
  void enter(const Seat& seat, bool is_eager);
  void leave(const Seat& seat);

  void supervises(SupervisorRef supervisor) { supervisors_.push_back(supervisor); }
  [[nodiscard]] SupervisorRef some_supervisor();

  // What it shows of its children.
  void check_supervisor(const SupervisorRef& supervisor);

  void wrong(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }

  Sim& sim;

 private:
  struct Watch {
    ActorId watcher = 0;
    ActorId target = 0;
    int told = 0;
    bool is_withdrawn = false;
  };
  struct Alarm {
    ActorId target = 0;
    std::chrono::nanoseconds due{0};
    TimerId id;
    int came = 0;
    bool is_cancelled = false;
  };
  struct Question {
    ActorId target = 0;
    bool is_answered = false;
  };
  struct Mail {
    int expected = 0;
    int heard = 0;
  };
  struct Place {
    Seat seat;
    int present = 0;
  };

  // After every step.
  bool agree();
  // At the end.
  bool settle();
  void check_names();

  std::set<ActorId> alive_;
  std::set<ActorId> listening_;
  std::vector<Pid> crowd_;
  std::vector<Pid> former_;
  std::map<uint64_t, Watch> watches_;
  std::vector<uint64_t> watch_order_;
  std::map<ActorId, std::set<ActorId>> links_;
  std::set<ActorId> trapping_;
  std::set<ActorId> doomed_;  // linked to one that ended badly
  std::map<ActorId, Mail> exits_;
  std::vector<Alarm> timers_;
  std::array<ActorId, kNames.size()> names_{};
  std::vector<Question> asks_;
  uint64_t orders_ = 0;
  std::map<std::pair<ActorId, ActorId>, uint64_t> last_order_;  // from, to
  std::vector<Promise<void>> never_;
  int work_left_ = 60;  // or children that end by themselves would be restarted without an end
  std::vector<Place> places_;
  int families_ = 0;
  std::vector<SupervisorRef> supervisors_;
  [[nodiscard]] bool is_clock_wrong();

  bool was_clock_wrong_ = false;
  std::string wrong_;
};

// Tells the books of the run under way who starts and who ends.
class Scribe final : public Observer {
 public:
  void actor_started(ActorId id, const char*) override {
    if (books != nullptr) books->started(id);
  }
  void actor_stopped(ActorId id, ExitReason reason, const ExitText&) override {
    if (books != nullptr) books->stopped(id, reason);
  }
  // Who asks in a circle is told so, and goes on.
  void deadlock(ActorId, const char*) override {}
  Books* books = nullptr;
};

// Somebody sits there.
class Presence {
 public:
  Presence(std::shared_ptr<Books> books, const Seat& seat, bool is_eager)
      : books_(std::move(books)), seat_(seat) {
    books_->enter(seat_, is_eager);
  }
  ~Presence() { books_->leave(seat_); }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

 private:
  std::shared_ptr<Books> books_;
  Seat seat_;
};

}  // namespace jzx::explore
