// pub_sub: who publishes does not know who listens, and who listens does not know who publishes.
//
//   thermometer ──publishes──▶ topic "temperature" ──▶ display     subscribed by its reference
//                                                  └─▶ alarm       subscribes by itself, by name
//   main ──broadcasts──▶ group "staff": display, alarm
//
// An actor that ends has left its topics and groups; a publish says how many got the message.
#include <jzx/jzx.hpp>

#include <jzx/topic.hpp>

#include <cstdio>

namespace {

struct Temperature {
  int degrees;
};
struct Measure {
  int degrees;
};
struct GoHome {};

struct Display {
  using Messages = jzx::Messages<GoHome>;  // what comes from a group comes as from a Pid

  void on(Temperature now) { std::printf("display: %d degrees\n", now.degrees); }
  void on(GoHome, jzx::Context& context) {
    std::printf("display: off\n");
    context.stop();
  }
};

struct Alarm {
  using Messages = jzx::Messages<Temperature, GoHome>;

  void on_start(jzx::Context& context) {
    (void)jzx::topic<Temperature>(context, "temperature").subscribe(context.self());
    (void)jzx::Group(context, "staff").join(context.self());
  }
  void on(Temperature now, jzx::Context& context) {
    if (now.degrees <= 90) return;
    std::printf("alarm: %d is too hot, and my fuse is gone\n", now.degrees);
    context.stop();
  }
  void on(GoHome, jzx::Context& context) { context.stop(); }
};

struct Thermometer {
  // How many heard of it.
  size_t on(Measure measure, jzx::Context& context) {
    const auto temperature = jzx::topic<Temperature>(context, "temperature");
    return temperature.publish({measure.degrees}).delivered;
  }
};

}  // namespace

int main() {
  jzx::Loop loop;
  if (!loop) return 1;
  const auto temperature = jzx::topic<Temperature>(loop, "temperature");
  const jzx::Group staff(loop, "staff");
  if (!temperature || !staff) return 2;

  const auto display = loop.spawn<Display>();
  if (!jzx::ok(temperature.subscribe(display)) || !jzx::ok(staff.join(display))) return 3;
  (void)loop.spawn<Alarm>();
  const auto thermometer = loop.spawn<Thermometer>();

  for (const int degrees : {20, 95, 60}) {
    const jzx::Result<size_t> heard = loop.run_until(thermometer.ask(Measure{degrees}));
    if (!heard.ok()) return 4;
    std::printf("thermometer: %d degrees, told to %zu\n", degrees, *heard);
  }

  std::printf("staff: %zu left\n", staff.size());
  (void)staff.broadcast(GoHome{});
  (void)loop.stop(thermometer);
  return jzx::ok(loop.run()) ? 0 : 5;
}
