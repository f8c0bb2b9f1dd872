// What docs/record_replay.md takes for granted: a shop, its codec, and a framework for tests.
#pragma once

#include <iostream>

#include <jzx/jzx.hpp>
#include <jzx/sim/recorder.hpp>
#include <jzx/sim/simulation.hpp>

struct Order {
  int pieces;
};
struct Shop {
  void on(Order) {}
};
template <>
struct jzx::Codec<Order> : jzx::ByteCodec<Order> {};

void build(jzx::SystemFace& system);

#define EXPECT_TRUE(report) \
  if (!(report)) std::cerr
