// A pool of workers: actors of one type behind one reference, which a supervisor starts again when
// they fail.
//
//   auto pool = jzx::spawn_pool<Resizer>(runtime, 8, jzx::Routing::smallest_mailbox, quality);
//   pool.send(Image{...});
//   runtime.stop(pool.supervisor());              // ends it, with its workers
//
//   supervisor (one_for_one) ──starts──▶ worker ──joins when it has started──▶ the pool's router
//
// A send goes to one of those that are there, as router.hpp says: a worker that is down is passed
// over until its successor has started. What was in the mailbox of one that fails is dead-lettered,
// as with every actor. If workers fail too often the supervisor gives up, the pool ends, and sends
// to it answer no_such_actor.
//
// The reference is a value that is copied freely; the workers live on without it. Threads:
// spawn_pool as spawn; the rest any, for a loop too, while the system exists.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <jzx/context.hpp>
#include <jzx/router.hpp>
#include <jzx/supervisor.hpp>

namespace jzx {

struct WorkerPoolOptions {
  size_t size = 1;
  Routing routing = Routing::round_robin;
  // Of each worker, as in SpawnOptions. A send to the pool does not wait for room, as to a router.
  uint32_t mailbox_cap = 0;  // 0: the system's default
  Priority priority = Priority::normal;
  Overload overload = Overload::refuse;
  uint32_t high_water = 0;
  Placement placement = Placement::anywhere();
  uint32_t intensity = 0;  // restarts allowed in any period; 0: three for each worker
  std::chrono::milliseconds period{5000};
  Backoff backoff{};  // before a worker that failed is started again; as it is here, at once
  Pid parent{};       // hears of the end, and stops the pool with itself
};

namespace detail {

// A worker, and the set that it joins. The worker comes first: handlers know it by its address.
template <class A>
struct PoolWorker {
  template <class... Args>
  PoolWorker(const MembersRef& the_set, const Args&... args) : actor(make(args...)), set(the_set) {}

  A actor;
  MembersRef set;

 private:
  template <class... Args>
  static A make(const Args&... args) {
    if constexpr (std::is_constructible_v<A, const Args&...>) {
      return A(args...);
    } else {
      return A{args...};  // a struct without constructors
    }
  }
};

template <class A>
void start_worker(void* instance, Context& context) {
  auto& worker = *static_cast<PoolWorker<A>*>(instance);
  if (actor_type<A>.on_start != nullptr) actor_type<A>.on_start(&worker.actor, context);
  // Its supervisor will try again. (Another error is that it has been asked to end.)
  if (worker.set.add(context.self(), nullptr) == Errc::no_memory) {
    context.fail("no memory to join the pool");
  }
}

// To the library a worker is an A that needs more room and joins when it has started.
template <class A>
consteval ActorType make_worker_type() {
  ActorType type = actor_type<A>;
  type.destroy = &destroy_actor<PoolWorker<A>>;
  type.on_start = &start_worker<A>;
  return type;
}
template <class A>
inline constexpr ActorType worker_type = make_worker_type<A>();

template <class A, class... Args>
class WorkerMaker final : public ActorMaker {
 public:
  explicit WorkerMaker(MembersRef set, Args... args)
      : set_(std::move(set)), args_(std::move(args)...) {}
  void* make(Port& port) override {
    return std::apply(
        [&](const Args&... args) { return make_instance<PoolWorker<A>>(port, set_, args...); },
        args_);
  }
  const ActorType& type() const noexcept override { return worker_type<A>; }

 private:
  MembersRef set_;
  std::tuple<Args...> args_;
};

}  // namespace detail

template <class A>
class WorkerPool {
 public:
  WorkerPool() noexcept = default;
  WorkerPool(Router<A> workers, SupervisorRef supervisor) noexcept
      : workers_(std::move(workers)), supervisor_(supervisor) {}

  // As Router.
  template <class M>
  Errc send(M&& message) const {
    return workers_.send(std::forward<M>(message));
  }
  template <class M>
  const WorkerPool& operator<<(M&& message) const {
    (void)send(std::forward<M>(message));
    return *this;
  }
  template <class M>
  [[nodiscard]] auto ask(M&& message) const {
    return workers_.ask(std::forward<M>(message));
  }
  template <class M>
  Delivery broadcast(const M& message) const {
    return workers_.broadcast(message);
  }

  // How many workers are there at this moment.
  [[nodiscard]] size_t size() const noexcept { return workers_.size(); }
  [[nodiscard]] std::vector<ActorRef<A>> workers() const { return workers_.members(); }
  // The same workers, for who wants a Router.
  [[nodiscard]] const Router<A>& router() const noexcept { return workers_; }
  // Stop it to end the pool.
  [[nodiscard]] SupervisorRef supervisor() const noexcept { return supervisor_; }

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(supervisor_); }

 private:
  Router<A> workers_;
  SupervisorRef supervisor_;
};

// An empty pool if it cannot be; SystemFace::supervise_error() says why, unless the system could
// not be made or there is no memory for the reference. Each worker is made, for every start, from
// copies of the arguments.
template <class A, class... Args>
[[nodiscard]] WorkerPool<A> spawn_pool_with(SystemFace& face, const WorkerPoolOptions& options,
                                            Args&&... args) {
  detail::Port* const port = detail::port_of(face);
  if (port == nullptr) return {};
  Router<A> workers(face, options.routing);
  if (!workers) return {};
  const detail::Stay stay(*port);
  const auto maker = std::make_shared<detail::WorkerMaker<A, std::decay_t<Args>...>>(
      workers.set(), std::forward<Args>(args)...);
  std::vector<ChildSpec> children;
  children.reserve(options.size);
  for (size_t i = 0; i < options.size; ++i) {
    children.push_back(ChildSpec("worker-" + std::to_string(i), maker)
                           .mailbox_cap(options.mailbox_cap)
                           .priority(options.priority)
                           .overload(options.overload)
                           .high_water(options.high_water)
                           .placement(options.placement)
                           .backoff(options.backoff));
  }
  SupervisorOptions supervisor;
  supervisor.intensity =
      options.intensity != 0 ? options.intensity : static_cast<uint32_t>(3 * options.size);
  supervisor.period = options.period;
  const SupervisorRef family = face.supervise(supervisor, children, options.parent);
  if (!family) return {};
  // They will do so themselves when they start, but are to be reached from now on.
  for (size_t i = 0; i < options.size; ++i) (void)workers.add(family.child_as<A>(i));
  return {std::move(workers), family};
}

template <class A, class... Args>
[[nodiscard]] WorkerPool<A> spawn_pool(SystemFace& face, size_t size, Routing routing,
                                       Args&&... args) {
  WorkerPoolOptions options;
  options.size = size;
  options.routing = routing;
  return spawn_pool_with<A>(face, options, std::forward<Args>(args)...);
}

}  // namespace jzx
