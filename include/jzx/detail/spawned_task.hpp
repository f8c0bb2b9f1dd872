// A task that is an actor of its own: the narrow place between the templates and the library. Not
// for users; see SystemFace::spawn_async() and child_async().
//
// The record holds the task, the root of its chain, and the promise's end of the future that
// spawn_async() returned, or the function that made the task of a child. It belongs to the actor,
// and ends with it.
#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include <jzx/async/task.hpp>
#include <jzx/detail/message.hpp>
#include <jzx/detail/port.hpp>

namespace jzx::detail {

struct SpawnedTask;

struct TaskType {
  const char* name;
  std::coroutine_handle<> (*begin)(SpawnedTask& task) noexcept;
  // It has ended: settles the future. What it ended with; Errc::ok if it did well.
  Error (*finish)(SpawnedTask& task) noexcept;
  // A future that has no result yet is rejected: the task was never begun.
  void (*destroy)(SpawnedTask& task) noexcept;
};

struct SpawnedTask : TaskRoot {
  JZX_API SpawnedTask(const TaskType& the_type) noexcept;  // NOLINT: the root is made with it

  const TaskType& type;
  // Who is to be woken; the library's.
  void* actor = nullptr;
  void* host = nullptr;
  uint32_t generation = 0;
  bool is_given_up = false;
};

// The record is the actor's; if the answer is not ok it has been destroyed.
JZX_API Errc spawn_task(Port& port, SpawnedTask& task, const SpawnRequest& request,
                        ActorId& out) noexcept;

// What the future of a spawned task needs to cancel it.
struct TaskOwner {
  Port* port = nullptr;
  ActorId id = 0;
};
JZX_API void cancel_task(const TaskOwner& owner) noexcept;

// A state whose promise's end keeps something of its own in it, which needs no end.
template <class T, class Source>
struct SourcedState final : FutureState<T> {
  static_assert(std::is_trivially_destructible_v<Source>);

  // nullptr: no memory.
  [[nodiscard]] static SourcedState* try_make(FutureCore::Cancel how) noexcept {
    void* block = take_future_block(sizeof(SourcedState));
    if (block == nullptr) return nullptr;
    auto* made = ::new (block) SourcedState;
    made->FutureCore::cancel = how;
    return made;
  }

  Source source{};

 private:
  SourcedState() noexcept : FutureState<T>(Stage::pending, sizeof(SourcedState)) {}
  ~SourcedState() = delete;  // the state ends by itself
};

template <class T>
struct TypedSpawnedTask final : SpawnedTask {
  using State = SourcedState<T, TaskOwner>;

  TypedSpawnedTask(Task<T>&& the_task, State& state) noexcept
      : SpawnedTask(kType), task(std::move(the_task)), future(&state) {}

  Task<T> task;
  State* future;

 private:
  static TypedSpawnedTask& typed(SpawnedTask& task) noexcept {
    return static_cast<TypedSpawnedTask&>(task);
  }
  static std::coroutine_handle<> begin(SpawnedTask& self) noexcept {
    return typed(self).task.begin(self, nullptr);
  }
  static Error finish(SpawnedTask& self) noexcept {
    State& state = *std::exchange(typed(self).future, nullptr);
    state.put_result(typed(self).task.take());
    const Error error = state.result.error();
    state.settle();
    return error;
  }
  static void destroy(SpawnedTask& self) noexcept {
    State* state = typed(self).future;
    typed(self).~TypedSpawnedTask();
    give_future_block(&self, sizeof(TypedSpawnedTask));
    if (state == nullptr) return;
    // What the task held has ended before its future says so.
    state->put_result(Error(Errc::cancelled, "the task was not begun", "spawn_async"));
    state->settle();
  }

  static constexpr TaskType kType{type_name<Task<T>>.data(), &begin, &finish, &destroy};
};

// Whose code calls; nobody's, outside of actors.
struct CurrentActor {
  Port* port = nullptr;
  ActorId id = 0;
};
[[nodiscard]] JZX_API CurrentActor current_actor() noexcept;

// A task that nobody has a future of: its supervisor hears of the end. It is made by its own copy
// of the function, which is there as long as the task: a coroutine that is a lambda uses its
// captures.
template <class F>
struct SupervisedTask final : SpawnedTask {
  static_assert(alignof(F) <= kFutureAlignment,
                "jzx: what the function of child_async() captures may not be over-aligned");

  // nullptr and the error. Throws what copying or calling the function throws.
  [[nodiscard]] static SpawnedTask* make(const F& function, Errc& error) {
    void* block = take_future_block(sizeof(SupervisedTask));
    if (block == nullptr) return error = Errc::no_memory, nullptr;
    struct Undo {
      ~Undo() {
        if (memory != nullptr) give_future_block(memory, sizeof(SupervisedTask));
      }
      void* memory;
    } undo{block};
    auto* made = ::new (block) SupervisedTask(function);
    undo.memory = nullptr;
    if (made->task.can_begin()) return made;
    error = made->task.take().error().code();
    destroy(*made);
    return nullptr;
  }

  F body;
  Task<void> task;

 private:
  explicit SupervisedTask(const F& function)
      : SpawnedTask(kType), body(function), task(std::invoke(body)) {}

  static SupervisedTask& typed(SpawnedTask& task) noexcept {
    return static_cast<SupervisedTask&>(task);
  }
  static std::coroutine_handle<> begin(SpawnedTask& self) noexcept {
    return typed(self).task.begin(self, nullptr);
  }
  static Error finish(SpawnedTask& self) noexcept { return typed(self).task.take().error(); }
  static void destroy(SpawnedTask& self) noexcept {
    typed(self).~SupervisedTask();
    give_future_block(&self, sizeof(SupervisedTask));
  }

  static constexpr TaskType kType{type_name<F>.data(), &begin, &finish, &destroy};
};

template <class T>
[[nodiscard]] Future<T> spawn_async(Port& port, Task<T>&& task, const SpawnRequest& request,
                                    ActorId* out) {
  using Spawned = TypedSpawnedTask<T>;
  if (!task.can_begin()) return Future<T>(task.take());
  auto* state = Spawned::State::try_make(
      [](FutureCore& core) { cancel_task(static_cast<typename Spawned::State&>(core).source); });
  if (state == nullptr) return Future<T>::failed(Errc::no_memory);
  Future<T> future(state);
  void* block = take_future_block(sizeof(Spawned));
  if (block == nullptr) {
    state->put_result(Error(Errc::no_memory));
    state->settle();
    return future;
  }
  auto* spawned = ::new (block) Spawned(std::move(task), *state);
  ActorId id = 0;
  // The actor may run, and end, before this returns; the future's end is still ours.
  state->source.port = &port;
  const Errc error = spawn_task(port, *spawned, request, state->source.id);
  if (!ok(error)) return Future<T>::failed(error);
  id = state->source.id;
  if (out != nullptr) *out = id;
  return future;
}

// As a child that is stopped with its parent, which does not hear of its end.
template <class T>
[[nodiscard]] Future<T> spawn_child_async(Port& port, ActorId parent, Task<T>&& task,
                                          ActorId* out) {
  SpawnRequest request;
  request.parent = parent;
  request.is_quiet = true;
  return spawn_async(port, std::move(task), request, out);
}

}  // namespace jzx::detail
