// Messages between actors that a fault holds up: on their way from the sender to the mailbox.
//
//   A ── 1 ──▶ held until its time ──┐
//   A ── 2 ──▶ behind it             ├──▶ mailbox of C
//   B ── 3 ──────────────────────────┘
//
// What A sends to C while something of A's to C is held waits behind it: the order of a pair stays.
// What others send overtakes it. The sender has been told that it was accepted; it takes up room in
// the mailbox, and is in the ledger, from when it arrives. If there is no room then, it waits until
// there is. Nothing overtakes the news of its sender's end: who ends lets go of all that is held of
// it first.
//
// They are kept here, at the sending side, and not in the mailbox: that has one queue, whose actor
// counts on getting what was let in.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <vector>

#include <jzx/envelope.hpp>

namespace jzx::drivers::sim {

class SimHost;

class LateMail {
 public:
  [[nodiscard]] bool is_empty() const noexcept { return all_.empty(); }
  // Is anything of that sender to that receiver held?
  [[nodiscard]] bool holds(const SimHost& host, ActorId sender, ActorId target) const noexcept {
    return last_of(host, sender, target) != nullptr;
  }
  // `cause`: the step that sent it. Not before what is held of the same pair.
  void hold(SimHost& host, ActorId target, Envelope& envelope, uint64_t until_ns, uint64_t cause);

  // When the next one arrives; kNever: none does by itself.
  [[nodiscard]] uint64_t next_ns(uint64_t now_ns) const noexcept;
  // All whose time has come, and for whom there is room, arrive.
  void arrive(uint64_t now_ns);
  // This actor ends: all that is held of it arrives.
  void let_go(SimHost& host, ActorId sender);
  // The host ends, and all that is held there.
  void drop(SimHost& host);

  // While one arrives: the step that sent it. nullptr: none does.
  [[nodiscard]] const uint64_t* arriving_because() const noexcept { return cause_; }

 private:
  struct Late {
    SimHost* host = nullptr;
    ActorId target = 0;
    Envelope* envelope = nullptr;
    uint64_t until_ns = 0;
    uint64_t cause = 0;
  };
  enum class IfFull : uint8_t { waits, is_dropped };

  [[nodiscard]] const Late* last_of(const SimHost& host, ActorId sender,
                                    ActorId target) const noexcept;
  [[nodiscard]] bool is_first_of_pair(size_t place) const noexcept;
  // False: there is no room.
  bool deliver(size_t place, IfFull if_full);

  std::vector<Late> all_;  // in the order in which they were sent
  const uint64_t* cause_ = nullptr;
};

}  // namespace jzx::drivers::sim
