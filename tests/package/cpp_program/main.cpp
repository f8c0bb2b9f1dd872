// An outside program in C++: a typed actor that is sent to, asked, and stopped.
#include <jzx/jzx.hpp>

#include <cstdio>

namespace {

struct Add {
  int by = 0;
};
struct Get {};
struct Finish {};

struct Counter {
  int value = 0;
  void on(Add add) { value += add.by; }
  int on(Get) { return value; }
  void on(Finish, jzx::Context& context) { context.stop(); }
};

}  // namespace

int main() {
  jzx::Loop loop;
  if (!loop) return 1;
  const auto counter = loop.spawn<Counter>();
  if (!counter) return 2;
  counter << Add{40} << Add{2};
  const jzx::Result<int> answer = loop.run_until(counter.ask(Get{}));
  if (!answer.ok() || *answer != 42) return 3;
  if (!jzx::ok(counter.send(Finish{}))) return 4;
  if (!jzx::ok(loop.run())) return 5;
  std::printf("libjzx in C++: the answer is %d\n", *answer);
  return 0;
}
