// What docs/futures.md takes for granted.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <jzx/jzx.hpp>

using namespace std::chrono_literals;

struct User {
  std::string name;
};
struct Row {
  int amount = 0;
};
struct Fetch {
  int id = 0;
};
struct Store {
  Row on(Fetch) { return {}; }
};
extern jzx::ActorRef<Store> store;
User parse(const Row& row);

struct Lookup {
  int id = 0;
};
struct Balance {
  int amount = 0;
};

struct Question {};
struct Oracle {
  int on(Question) { return 42; }
};

jzx::Task<void> write_log();
jzx::Task<int> fetch(int id);
