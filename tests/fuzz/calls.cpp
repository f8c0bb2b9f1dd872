// The calls of jzx.h against a model. The input is a list of calls on a loop in virtual time; the
// model says what each must answer, who is alive whenever the loop has come to rest, and that every
// message, DOWN, EXIT and CHILD_EXIT came exactly once.
#include "fuzz/calls/model.hpp"

namespace jzx::fuzz {
namespace {

// What the bytes of the input ask for.
void do_one(CallsModel& model, Choices& choices) {
  const auto who = [&] { return choices.below(kMostActors + 2); };
  switch (choices.below(17)) {
    case 0:
    case 1: {
      const uint32_t caps[] = {0, 1, 5, 7};
      const uint32_t cap = caps[choices.below(4)];
      return model.spawn(cap, choices.below(3) == 0 ? who() : kMostActors);
    }
    case 2:
    case 3:
    case 4: {
      const size_t target = who();
      const size_t kind = choices.below(6);
      return model.send(target, kind < 4 ? static_cast<Kind>(kind) : Kind::keep, kind == 5);
    }
    case 5: {
      const size_t target = who();
      return model.send_after(target, choices.below(64));
    }
    case 6:
      return model.cancel(choices.byte());
    case 7: {
      const size_t target = who();
      return model.end(target, choices.below(2) == 0);
    }
    case 8: {
      const size_t one = who();
      return model.link(one, who());
    }
    case 9: {
      const size_t one = who();
      return model.unlink(one, who());
    }
    case 10: {
      const size_t watcher = who();
      return model.monitor(watcher, who());
    }
    case 11:
      return model.demonitor(choices.byte());
    case 12: {
      const size_t one = who();
      return model.trap(one, choices.below(2) == 0);
    }
    case 13: {
      const size_t one = who();
      return model.name(one, choices.below(5));
    }
    case 14:
      return model.look_up(choices.below(5));
    case 15:
      return model.advance(choices.below(128));
    default:
      return model.rest();
  }
}

}  // namespace
}  // namespace jzx::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // The reactor that is made fastest: a loop for every input.
  return ::setenv("JZX_REACTOR", "epoll", 1);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  jzx::fuzz::Choices choices(data, size);
  jzx::fuzz::CallsModel model;
  for (int calls = 0; calls < 300 && !choices.is_empty(); ++calls) {
    jzx::fuzz::do_one(model, choices);
  }
  model.rest();
  return 0;
}
