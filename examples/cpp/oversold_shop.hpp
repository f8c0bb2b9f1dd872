// A shop with a mistake that shows only if two customers come at the same time: what
// oversold_shop.cpp runs, and what a test replays.
//
//   customer ──Order──▶ Shop ──Look──▶ Shelf
//                       Shop ◀──Count── Shelf       is there one left?
//                       Shop ──Take──▶ Shelf
//
// Between the look and the taking there may be another order.
#pragma once

#include <jzx/jzx.hpp>
#include <jzx/sim/recorder.hpp>

#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace shop {

struct Order {
  int customer = 0;
};
struct Look {
  int customer = 0;
};
struct Count {
  int customer = 0;
  int left = 0;
};
struct Take {
  int customer = 0;
};

using Alarm = std::function<void(const char* what)>;

struct Shelf {
  int left = 1;
  Alarm alarm;
  explicit Shelf(Alarm the_alarm) : alarm(std::move(the_alarm)) {}

  void on(Look look, jzx::Context& context) { (void)context.reply(Count{look.customer, left}); }
  void on(Take) {
    if (left == 0) return alarm("somebody takes what is not there");
    --left;
  }
};

struct Shop {
  using Messages = jzx::Messages<Count>;  // as it comes from a plain Pid

  jzx::ActorRef<Shelf> shelf;
  int sold = 0;
  int refused = 0;
  explicit Shop(jzx::ActorRef<Shelf> the_shelf) : shelf(the_shelf) {}

  void on(Order order) { shelf << Look{order.customer}; }
  void on(Count count) {
    if (count.left == 0) {
      ++refused;
      return;
    }
    ++sold;
    shelf << Take{count.customer};
  }
};

}  // namespace shop

template <>
struct jzx::Codec<shop::Order> : jzx::ByteCodec<shop::Order> {};

namespace shop {

// The same in the program and in a replay of it.
inline jzx::ActorRef<Shop> build(jzx::SystemFace& system, Alarm alarm) {
  return system.spawn<Shop>(system.spawn<Shelf>(std::move(alarm)));
}

// What comes from outside, and is written down with what is in it.
inline jzx::Codecs codecs() { return jzx::Codecs().add_for<Shop, Order>(); }

// A day on which two customers, each a thread of its own, come before the shop opens.
inline void rush(const std::string& record, const Alarm& alarm) {
  jzx::Recorder recorder({.file = record, .codecs = codecs()});
  jzx::LoopOptions options;
  options.recorder = &recorder;
  jzx::Loop loop(options);
  if (!loop) return;
  const jzx::ActorRef<Shop> shop = build(loop, alarm);
  std::thread first([&] { shop << Order{1}; });
  std::thread second([&] { shop << Order{2}; });
  first.join();
  second.join();
  (void)loop.run();
}

}  // namespace shop
