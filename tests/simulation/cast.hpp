// The small actors that the tests of simulate() share.
#pragma once

#include <jzx/sim/simulation.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace jzx::cast {

struct Number {
  int value = 0;
};

struct Collector {
  explicit Collector(std::vector<int>* the_list) : list(the_list) {}
  void on(Number number) { list->push_back(number.value); }
  std::vector<int>* list;
};

struct Repeater {
  ActorRef<Collector> to;
  explicit Repeater(ActorRef<Collector> the_to) : to(the_to) {}
  void on(Number number) { to << number; }
};

inline SimOptions quiet(const char* name, uint32_t seeds = 50) {
  SimOptions options;
  options.name = name;
  options.seeds = seeds;
  return options;
}

struct Tick {};
struct Clockwork {
  int ticks = 0;
  void on(Tick, Context& self) {
    if (++ticks < 3600) (void)self.send_after(std::chrono::seconds(1), self.self(*this), Tick{});
  }
};

struct Ends final : Observer {
  void actor_stopped(ActorId, ExitReason reason, const ExitText& text) override {
    reasons.push_back(reason);
    texts.emplace_back(text.view());
  }
  std::vector<ExitReason> reasons;
  std::vector<std::string> texts;
};

// An environment variable, as long as this lives.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

constexpr uint32_t kAlways = 1'000'000;

}  // namespace jzx::cast
