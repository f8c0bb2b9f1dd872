// Driver: who runs the actors of a stage, and how a test waits for them. A loop is run by the test
// itself, tick by tick, and its time jumps to the next timer when there is nothing else to do;
// workers run by themselves, in real time, and the test waits at the journal; a simulation is run
// by the test, step by step, each by one of the simulator's policies.
//
// The system is made through the C interface and used through both.
//
// Threads: the test's.
#pragma once

#include <jzx/jzx.h>

#include <memory>
#include <string>
#include <vector>

#include "actors/stage/journal.hpp"
#include "core/ledger.hpp"

namespace jzx::actors {

struct SystemOptions {
  uint32_t max_actors = 4096;
  uint32_t max_msgs_per_actor = 64;
};

class Driver {
 public:
  virtual ~Driver() = default;

  [[nodiscard]] virtual jzx_loop* loop() = 0;
  [[nodiscard]] virtual uint64_t now_ns() = 0;
  // May an actor wait at a gate that the test will open?
  [[nodiscard]] virtual bool has_threads() const = 0;

  // False: it will never be so.
  [[nodiscard]] virtual bool await(Journal& journal, const Query& query, size_t count) = 0;
  // Until nothing is left to do but to wait for time.
  virtual void settle() = 0;
  // Asks everybody to end and waits for them.
  virtual void end_everybody(Journal& journal) = 0;
  // After settle(): nothing runs any more.
  virtual void halt() = 0;
  // Destroys the system; the time can still be asked for.
  virtual void close() = 0;
  [[nodiscard]] core::Ledger ledger();
};

// "loop", "workers_1", "workers_2", "sim_fifo", …
[[nodiscard]] std::unique_ptr<Driver> make_driver(const std::string& name,
                                                  const SystemOptions& options,
                                                  const jzx_allocator& allocator,
                                                  Observer& observer);
[[nodiscard]] std::unique_ptr<Driver> make_sim_driver(const std::string& name,
                                                      const SystemOptions& options,
                                                      const jzx_allocator& allocator,
                                                      Observer& observer);
[[nodiscard]] std::vector<std::string> all_drivers();
// A simulation has no file descriptors, and no threads.
[[nodiscard]] std::vector<std::string> real_drivers();

}  // namespace jzx::actors
