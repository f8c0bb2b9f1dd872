// chat_room: a room and its guests, each a fiber.
//
//   guest ──Join, Say, Leave──▶ room ──Welcome, Line──▶ guests
//
// The room is one loop around a receive. It monitors its guests, so it notices also one that does
// not say goodbye. A guest's code reads as its evening went: it comes in, waits to be greeted by
// one certain guest, and only then reads what the others said in the meantime. A receive takes the
// oldest message that fits and leaves the rest, in order, for later ones.
#include <jzx/jzx.hpp>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>

namespace {

using namespace std::chrono_literals;

struct Join {
  std::string name;
};
struct Say {
  std::string text;
};
struct Leave {};

struct Welcome {
  size_t guests;
};
struct Line {
  std::string from;
  std::string text;
};

// ---- the room ----

class Room {
 public:
  void run() {
    do {
      jzx::receive([&](const Join& join) { come_in(join.name); },
                   [&](const Say& say) { tell_all(guests_.at(jzx::sender().id()).name, say.text); },
                   [&](Leave) { go(jzx::sender().id(), "leaves"); },
                   [&](const jzx::Down& down) {
                     go(down.actor, "is gone: " + std::string(down.text.view()));
                   });
    } while (!guests_.empty());
    std::printf("room: dark\n");
  }

 private:
  struct Guest {
    std::string name;
    jzx::Pid pid;
    jzx::MonitorRef monitor;
  };

  void come_in(const std::string& name) {
    Guest guest{name, jzx::sender(), {}};
    (void)jzx::monitor(guest.pid, &guest.monitor);
    guests_[guest.pid.id()] = guest;
    tell_all("room", name + " comes in");
    guest.pid << Welcome{guests_.size()};
  }

  void go(jzx::ActorId id, const std::string& how) {
    const auto found = guests_.find(id);
    if (found == guests_.end()) return;
    const Guest guest = found->second;
    (void)jzx::demonitor(guest.monitor);
    guests_.erase(found);
    std::printf("room: %s %s\n", guest.name.c_str(), how.c_str());
    tell_all("room", guest.name + " " + how);
  }

  void tell_all(const std::string& from, const std::string& text) {
    for (const auto& [id, guest] : guests_) guest.pid << Line{from, text};
  }

  std::map<jzx::ActorId, Guest> guests_;
};

// ---- the guests ----

void come_into(jzx::Pid room, const char* name) {
  room << Join{name};
  // The line that says so came first; it stays for whoever reads lines.
  jzx::receive([&](Welcome welcome) { std::printf("%s: %zu here\n", name, welcome.guests); });
}

void wait_for(const char* name, const char* from) {
  jzx::receive_if(
      [&](const Line& line) { return line.from == from; },
      [&](const Line& line) { std::printf("%s hears %s: %s\n", name, from, line.text.c_str()); });
}

// All that was said in the meantime.
void read_on(const char* name) {
  const auto print = [&](const Line& line) {
    std::printf("%s reads %s: %s\n", name, line.from.c_str(), line.text.c_str());
  };
  while (jzx::receive_for(0ms, print) == jzx::Wait::done) {
  }
}

void ann(jzx::Pid room) {
  come_into(room, "ann");
  wait_for("ann", "bob");
  read_on("ann");
  room << Say{"good to see you, bob"} << Leave{};
}

void bob(jzx::Pid room) {
  come_into(room, "bob");
  wait_for("bob", "carl");
  room << Say{"hello ann"};
  wait_for("bob", "ann");
  read_on("bob");
  room << Leave{};
}

void carl(jzx::Pid room) {
  come_into(room, "carl");
  room << Say{"does anybody hear me?"};
  jzx::exit(jzx::ExitReason::fail, "his line broke");
}

}  // namespace

int main() {
  jzx::Loop loop;
  if (!loop) return 1;
  const jzx::Pid room = loop.spawn([] { Room().run(); });
  for (auto* guest : {ann, bob, carl}) {
    if (!loop.spawn(guest, room)) return 2;
  }
  return jzx::ok(loop.run()) ? 0 : 3;
}
