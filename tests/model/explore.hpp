// How a model test is written:
//
//   TEST(MpscStack, LosesNothing) {
//     expect_always({.name = "mpsc_stack, 2 producers", .preemptions = 3}, [](Scene& scene) {
//       auto& stack = scene.make<Stack>();
//       scene.thread([&] { stack.push(…); });
//       scene.thread([&] { stack.push(…); });
//       scene.join();
//       MODEL_ASSERT(…);
//     });
//   }
//
// The body is run once for every execution: every order of the threads' atomic operations with at
// most that many preemptions, and every choice of what the loads return. It must depend on nothing
// else. Variables of the test that no code under test sees need no protection: one thread runs at a
// time, and is taken off only at an atomic operation. All shared objects are made inside the body.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "model/execution.hpp"

namespace jzx::base::model {

struct Options {
  const char* name = "";
  uint32_t preemptions = 3;
  uint64_t max_executions = 20'000'000;  // a test that needs more fails: it has not seen all
  uint32_t max_steps = 2'000;            // of one execution
};
inline constexpr uint32_t kUnbounded = 0xffffffffu;

struct Result {
  uint64_t executions = 0;
  bool failed = false;
  std::string message;
  std::string trace;
};

class Scene {
 public:
  explicit Scene(Execution& execution) noexcept : execution_(execution) {}

  // An object that lives until the end of the execution.
  template <class T, class... Arguments>
  T& make(Arguments&&... arguments) {
    T* object = new T(std::forward<Arguments>(arguments)...);
    objects_.push_back({object, [](void* it) { delete static_cast<T*>(it); }});
    return *object;
  }

  // The threads are 1, 2 …; they begin in join().
  void thread(std::function<void()> body) { execution_.start_thread(std::move(body)); }
  void join() { execution_.join_threads(); }
  // As where the system lets nobody have one any more.
  void refuse_barriers() { execution_.refuse_barriers(); }

  ~Scene() {
    while (!objects_.empty()) {
      objects_.back().destroy(objects_.back().it);
      objects_.pop_back();
    }
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

 private:
  struct Object {
    void* it;
    void (*destroy)(void*);
  };
  Execution& execution_;
  std::vector<Object> objects_;
};

// Stands for a system call in which one thread sleeps and by which another wakes it. As such calls
// do in practice, it orders what the waker did before what the sleeper does next; code that claims
// not to rely on that is tested with one that does not.
class Sleep {
 public:
  enum class Ordering : uint8_t { orders, orders_nothing };

  explicit Sleep(Ordering ordering = Ordering::orders) noexcept {
    token_.orders = ordering == Ordering::orders;
  }
  void wake() { current_execution()->set_token(token_); }
  // False: nobody woke it, and nobody is left who could: all others have ended or sleep too.
  [[nodiscard]] bool until_woken() { return current_execution()->wait_for_token(token_); }

 private:
  Execution::Token token_;
};

using Body = std::function<void(Scene&)>;

// Runs all executions, or up to the first that fails.
[[nodiscard]] Result explore(const Options& options, const Body& body);

// No execution fails. Prints how many there were; if one fails, its steps.
void expect_always(const Options& options, const Body& body);
// Some execution fails, with a message that contains `part`. For tests of the checker itself, and
// to show what a protocol would be without one of its parts.
void expect_sometimes_fails(const Options& options, const char* part, const Body& body);

[[noreturn]] void fail(const std::string& message);
// For the trace.
inline void say(const char* words) { current_execution()->say(words); }

#define MODEL_ASSERT(property)                                                      \
  ((property) ? (void)0                                                             \
              : ::jzx::base::model::fail("violated: " #property " (" __FILE__ ":" + \
                                         std::to_string(__LINE__) + ")"))

}  // namespace jzx::base::model
