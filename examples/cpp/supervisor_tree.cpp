// supervisor_tree: failures stay as low in the tree as they can.
//
//   root (one_for_one)
//     |- clerk            outside all trouble; gives out the jobs
//     `- press (rest_for_one, at most 2 restarts in 10 s)
//          |- paper       has a backoff of 5, 10 ms; its first three jobs tear it
//          `- ink         is started again whenever paper is
//
// The first two failures are the press's own business: paper comes back after its backoff, and ink
// with it. The third is one too many: the press gives up and fails, and root makes a new one. A
// restarted child is a new actor, so the clerk asks for it by its place in the tree.
#include <jzx/jzx.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <string>

namespace {

using namespace std::chrono_literals;

struct Job {};
struct Printed {};
struct TryAgain {};

// What outlives every restart.
struct World {
  jzx::SupervisorRef root;
  int torn = 0;
};

struct Paper {
  World& world;
  using Messages = jzx::Messages<Job>;

  void on(Job, jzx::Context& context) {
    if (world.torn == 3) return (void)context.reply(Printed{});
    ++world.torn;
    context.fail("torn");
  }
};

struct Ink {};

struct Clerk {
  World& world;
  jzx::Pid last = {};
  using Messages = jzx::Messages<Printed>;

  void on(TryAgain, jzx::Context& context) {
    // Press and paper may be down at the moment: then these are empty.
    const jzx::SupervisorRef press(world.root.child(1));
    const auto paper = press.child_as<Paper>(0);
    if (paper && paper.pid() != last) {
      last = paper;
      paper << Job{};
    }
    (void)context.send_after(1ms, context.self(*this), TryAgain{});
  }

  void on(Printed, jzx::Context& context) {
    std::printf("clerk: printed; closing\n");
    (void)context.stop(world.root);
  }
};

class Narrator final : public jzx::Observer {
  void actor_started(jzx::ActorId id, const char* label) override {
    names_[id] = label == nullptr ? "root" : label;
    std::printf("  %s starts\n", names_[id].c_str());
  }
  void actor_stopped(jzx::ActorId id, jzx::ExitReason reason, const jzx::ExitText& text) override {
    std::printf("  %s ends: %s%s%s\n", names_[id].c_str(), jzx::to_string(reason),
                text.view().empty() ? "" : ", ", text.c_str());
  }
  void actor_restarted(jzx::ActorId supervisor, jzx::ActorId child, uint32_t attempt) override {
    std::printf("%s: restart %u of %s\n", names_[supervisor].c_str(), attempt,
                names_[child].c_str());
  }
  void supervisor_escalated(jzx::ActorId id) override {
    std::printf("%s: that is too much for me\n", names_[id].c_str());
  }

  std::map<jzx::ActorId, std::string> names_;
};

}  // namespace

int main() {
  Narrator narrator;
  jzx::LoopOptions options;
  options.observer = &narrator;
  jzx::Loop loop(options);
  if (!loop) return 1;

  World world;
  world.root = loop.supervise(
      {.strategy = jzx::Strategy::one_for_one, .intensity = 3, .period = 10s},
      {jzx::child<Clerk>("clerk", std::ref(world)),
       jzx::supervisor("press",
                       {.strategy = jzx::Strategy::rest_for_one, .intensity = 2, .period = 10s},
                       {jzx::child<Paper>("paper", std::ref(world)).backoff({.initial = 5ms}),
                        jzx::child<Ink>("ink")})});
  if (!world.root) return 2;

  world.root.child_as<Clerk>(0) << TryAgain{};
  return jzx::ok(loop.run()) ? 0 : 3;
}
