// A task that runs beside whoever starts it: an actor of its own, perhaps on another worker.
//
//   Future<int> a = jzx::spawn_async(fetch(1));
//
// It belongs to the actor whose code calls, a fiber, a task or a handler: when that ends, the task
// is asked to stop, and the actor's end waits for it. Otherwise the actor hears nothing of it; what
// the task returned is in the future. To drop the future does not stop the task.
//
// Rejected with Errc::invalid_arg outside of actors: use Runtime::spawn_async() there.
#pragma once

#include <utility>

#include <jzx/detail/spawned_task.hpp>

namespace jzx {

template <class T>
Future<T> spawn_async(Task<T> task) {
  const detail::CurrentActor here = detail::current_actor();
  if (here.port == nullptr) {
    return Future<T>(Error(Errc::invalid_arg,
                           "spawn_async() outside of an actor: use that of a system",
                           "spawn_async"));
  }
  return detail::spawn_child_async(*here.port, here.id, std::move(task), nullptr);
}

}  // namespace jzx
