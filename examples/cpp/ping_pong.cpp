// ping_pong: two actors that know each other by typed references.
//
//   main ──Serve──▶ player "ping" ──Ball──▶ player "pong" ──Ball──▶ "ping" …
//
// After enough rallies the one with the ball stops. The other monitors it, gets a Down, and stops
// too; then nobody is left and the run ends.
#include <jzx/jzx.hpp>

#include <cstdio>

namespace {

struct Ball {
  int rallies = 0;
};

struct Player;
struct Serve {
  jzx::ActorRef<Player> to;
};

constexpr int kRallies = 100'000;

struct Player {
  const char* name;
  jzx::ActorRef<Player> partner = {};
  int hits = 0;

  void on(Serve serve, jzx::Context& context) {
    partner = serve.to;
    partner << jzx::ActorRef<Player>(context.self(*this));
    hit({0});
  }

  // The first thing the other hears is who plays against it.
  void on(jzx::ActorRef<Player> the_partner, jzx::Context& context) {
    partner = the_partner;
    (void)context.monitor(partner);
  }

  void on(Ball ball, jzx::Context& context) {
    if (ball.rallies < kRallies) return hit(ball);
    std::printf("%s: enough after %d rallies\n", name, ball.rallies);
    context.stop();
  }

  void on(const jzx::Down& down, jzx::Context& context) {
    std::printf("%s: my partner ended (%s), so do I\n", name, jzx::to_string(down.reason));
    context.stop();
  }

  void on_stop() { std::printf("%s: %d hits\n", name, hits); }

  void hit(Ball ball) {
    ++hits;
    partner << Ball{ball.rallies + 1};
  }
};

}  // namespace

int main() {
  jzx::Loop loop;
  if (!loop) return 1;
  const auto ping = loop.spawn<Player>("ping");
  const auto pong = loop.spawn<Player>("pong");
  ping << Serve{pong};
  return jzx::ok(loop.run()) ? 0 : 2;
}
