// All of jazz for C++20.
#pragma once

#include <jzx/actor.hpp>
#include <jzx/actor_ref.hpp>
#include <jzx/async/sleep.hpp>
#include <jzx/async/task.hpp>
#include <jzx/context.hpp>
#include <jzx/errc.hpp>
#include <jzx/event_source.hpp>
#include <jzx/fiber.hpp>
#include <jzx/future.hpp>
#include <jzx/group.hpp>
#include <jzx/handle_pool.hpp>
#include <jzx/handle_pools.hpp>
#include <jzx/loop.hpp>
#include <jzx/manual.hpp>
#include <jzx/observer.hpp>
#include <jzx/pid.hpp>
#include <jzx/result.hpp>
#include <jzx/router.hpp>
#include <jzx/runtime.hpp>
#include <jzx/signals.hpp>
#include <jzx/supervisor.hpp>
#include <jzx/sync/sync.hpp>
#include <jzx/topic.hpp>
#include <jzx/worker_pool.hpp>
