// Locks, events and channels whose waits are futures; see docs/sync.md.
#pragma once

#include <jzx/sync/barrier.hpp>
#include <jzx/sync/broadcast.hpp>
#include <jzx/sync/channel.hpp>
#include <jzx/sync/mutex.hpp>
#include <jzx/sync/notify.hpp>
#include <jzx/sync/oneshot.hpp>
#include <jzx/sync/rw_lock.hpp>
#include <jzx/sync/select.hpp>
#include <jzx/sync/semaphore.hpp>
#include <jzx/sync/watch.hpp>
