// How the outside world of a simulation behaves, and how badly: networks and disks. Plain values
// with names, which may be changed at any moment: what begins after that goes by the new ones.
//
// Chances are so many in a million of what they are chances of. As it stands here nothing goes
// wrong, except that a crash takes what was not synced.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jzx {

namespace sim_units {
inline constexpr uint64_t kMicrosecond = 1'000;
inline constexpr uint64_t kMillisecond = 1'000'000;
inline constexpr uint64_t kSecond = 1'000'000'000;
}  // namespace sim_units

struct SimNetworkFaults {
  // ---- how long it takes ----

  // One way, between two nodes.
  uint64_t least_latency_ns = 100 * sim_units::kMicrosecond;
  uint64_t most_latency_ns = 100 * sim_units::kMicrosecond;
  // Within a node. Never lost.
  uint64_t loopback_latency_ns = 10 * sim_units::kMicrosecond;
  // Before the first retransmission of a stream; each further one waits twice as long.
  uint64_t retransmit_ns = 200 * sim_units::kMillisecond;
  uint64_t most_retransmit_ns = 30 * sim_units::kSecond;
  // A connect that nobody answers ends with ETIMEDOUT.
  uint64_t connect_timeout_ns = 30 * sim_units::kSecond;
  // So does a connection whose bytes nobody acknowledges; its send_timeout_ms, if set, says else.
  uint64_t give_up_ns = 900 * sim_units::kSecond;
  uint64_t least_resolve_ns = 1 * sim_units::kMillisecond;
  uint64_t most_resolve_ns = 1 * sim_units::kMillisecond;

  // ---- what goes wrong on the way ----

  uint32_t loss_per_million = 0;         // of datagrams, and of segments: those are sent again
  uint32_t duplication_per_million = 0;  // of datagrams
  uint32_t reorder_per_million = 0;      // of datagrams: it is late, and others overtake it
  uint64_t reorder_ns = 5 * sim_units::kMillisecond;  // so late at most
  uint32_t reset_per_million = 0;  // of segments: the connection is reset instead
  uint32_t resolve_failure_per_million = 0;

  // ---- what an operation may do although it need not ----

  uint32_t short_read_per_million = 0;
  uint32_t short_write_per_million = 0;
  // One that could have been done at once is not (EAGAIN), and ends so much later.
  uint32_t not_ready_per_million = 0;
  uint64_t not_ready_ns = 50 * sim_units::kMicrosecond;

  // ---- room ----

  size_t segment_bytes = 16 * 1024;         // a write is cut into these
  size_t send_buffer_bytes = 64 * 1024;     // of new sockets
  size_t receive_buffer_bytes = 64 * 1024;  // of new sockets
  size_t most_backlog = 128;                // of connections that are still to be accepted
  size_t most_handles = 1 << 16;            // of one node: EMFILE
};

struct SimDiskFaults {
  uint64_t least_latency_ns = 50 * sim_units::kMicrosecond;
  uint64_t most_latency_ns = 50 * sim_units::kMicrosecond;
  uint64_t least_sync_ns = 500 * sim_units::kMicrosecond;
  uint64_t most_sync_ns = 500 * sim_units::kMicrosecond;

  uint64_t capacity_bytes = UINT64_MAX;  // more is ENOSPC

  uint32_t open_error_per_million = 0;   // EIO
  uint32_t read_error_per_million = 0;   // EIO
  uint32_t write_error_per_million = 0;  // EIO
  // EIO. What this sync would have saved a later one does not save either.
  uint32_t sync_error_per_million = 0;
  uint32_t short_read_per_million = 0;
  uint32_t short_write_per_million = 0;
  // One that is cancelled has been done all the same, and says so.
  uint32_t late_cancel_per_million = 0;

  // ---- in a crash ----

  // Of changes since the last sync, each by itself, in whatever order they were made.
  uint32_t lost_per_million = 500'000;
  // Of the writes that are not lost: only a beginning of whole sectors is there.
  uint32_t torn_per_million = 250'000;
};

}  // namespace jzx
