// What docs/determinism.md takes for granted.
#pragma once

#include <chrono>
#include <cstdio>

#include <jzx/jzx.hpp>
#include <jzx/sim/simulation.hpp>
#include <jzx/sim/testkit.hpp>

using namespace std::chrono_literals;

struct Free {};
struct Sell {};
struct Customer {};

struct Cinema {
  int* sold;
  explicit Cinema(int* the_sold) : sold(the_sold) {}
  int on(Free) const { return 1 - *sold; }
  void on(Sell) { ++*sold; }
};
struct Desk {
  jzx::ActorRef<Cinema> cinema;
  explicit Desk(jzx::ActorRef<Cinema> the_cinema) : cinema(the_cinema) {}
  jzx::Task<void> on(Customer) {
    auto asking = cinema.ask(Free{});
    const int seats = co_await co_await asking;
    if (seats > 0) cinema << Sell{};
  }
};
