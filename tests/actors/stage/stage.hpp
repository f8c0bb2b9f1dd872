// Stage: a system with one driver, on which scripted actors of one body play, and a journal of what
// they saw. Tests tell actors what to do and await what must follow; they do not know which body
// and driver it is.
//
//   const ActorId a = stage.spawn();
//   EXPECT_EQ(stage.ask(a, say::link(b)).error, Errc::ok);      // performed, and its answer
//   stage.tell(a, say::fail("why"));
//   EXPECT_EQ(stage.await(seen::ended(b)).reason, ExitReason::fail);
//
// When a stage goes it checks what must hold after every play: the ledger balances; every accepted
// command was performed, dead-lettered or cancelled, once; who began ended at most once, and nobody
// else did; all memory came back.
//
// Threads: the test's; books, journal and parcels any.
#pragma once

#include <jzx/system.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "actors/stage/body.hpp"
#include "actors/stage/driver.hpp"
#include "actors/stage/journal.hpp"
#include "support/counting_allocator.hpp"

namespace jzx::actors {

// The fates of commands.
struct Books {
  std::atomic<uint64_t> accepted{0};
  std::atomic<uint64_t> performed{0};
  std::atomic<uint64_t> dead{0};
  std::atomic<uint64_t> cancelled{0};
};

class Stage final : private Observer {
 public:
  Stage(const Body& body, const std::string& driver, const SystemOptions& options = {});
  ~Stage() override;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // ---- what tests do; these expect to succeed ----
  ActorId spawn(const Wish& wish = {});
  ActorId supervise(const Family& family, ActorId parent = 0);
  void tell(ActorId whom, Command command);
  // Tells, and waits until it was performed: of a batch, until its last command was.
  Note ask(ActorId whom, Command command);
  // Waits until there are `count` such notes: the last of these.
  Note await(const Query& query, size_t count = 1);
  // Until there is nothing left to do but to wait for time.
  void settle() { driver_->settle(); }
  // Settles, then: how many are there?
  [[nodiscard]] size_t count(const Query& query);
  void end_everybody() { driver_->end_everybody(journal_); }
  // Destroys the system and makes the checks; the destructor does it otherwise.
  void close();
  // The same in the middle of things: actors that always have something to do never settle.
  void cut();
  // A gate for say::hold(). On a loop, where nothing happens while the test acts, it is open.
  [[nodiscard]] std::shared_ptr<testing::Gate> gate() const;

  [[nodiscard]] World& world() { return *world_; }
  [[nodiscard]] Journal& journal() { return journal_; }
  [[nodiscard]] Books& books() { return books_; }
  [[nodiscard]] uint64_t now_ns() { return driver_->now_ns(); }
  [[nodiscard]] bool has_threads() const { return driver_->has_threads(); }

  // ---- for bodies ----
  [[nodiscard]] jzx_loop* loop() { return driver_->loop(); }
  [[nodiscard]] SystemFace& face() { return *face_; }
  // A command that C actors are sent by its address; it stays as long as the stage.
  [[nodiscard]] Command* keep(Command command);

 private:
  void actor_started(ActorId id, const char* label) override;
  void actor_stopped(ActorId id, ExitReason reason, const ExitText& text) override;
  void actor_restarted(ActorId supervisor, ActorId child, uint32_t attempt) override;
  void supervisor_escalated(ActorId id) override;
  void mailbox_full(ActorId id) override;
  void dead_letter(ActorId target, Envelope& envelope, DeadLetterReason reason) override;

  void check_ledger();
  void check_lives() const;

  class Face final : public SystemFace {
   public:
    explicit Face(detail::Port* port) : SystemFace(port) {}
  };

  testing::CountingAllocator allocator_;
  Books books_;
  Journal journal_;
  std::mutex parcels_mutex_;
  std::deque<Command> parcels_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Face> face_;
  std::unique_ptr<World> world_;
  uint64_t tokens_ = 0;
  bool is_closed_ = false;
  bool has_given_up_ = false;
};

}  // namespace jzx::actors
