// Group: a set of actors, of whatever types, that a message can be sent to at once.
//
//   jzx::Group everybody(loop, "everybody");     // by name: the same one for all who ask
//   jzx::Group mine(context);                    // without a name: for who has a copy of this
//   everybody.join(player);
//   jzx::Delivery sent = everybody.broadcast(RoundBegins{3});
//
// A group is named by a value that is copied freely; a named one also stays while it has members.
// Members get a broadcast as from an untyped Pid, so they list the message in their Messages.
//
// An actor that ends, or was asked to, is a member no more: it is neither counted nor listed nor
// sent to. Its place is freed by the next broadcast that finds it gone, or by the next look.
//
// What one thread broadcasts reaches each member in the order of the broadcasts. A broadcast sends
// to those who were members when it began: a member that leaves meanwhile, on another thread, may
// still get it. No lock is held while messages are copied and sent.
//
// Threads: any, for a loop too, while the system exists; a Group itself may outlive it, unused.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <jzx/system.hpp>

namespace jzx {

// What became of a message to many. One that a mailbox drops by its Overload was delivered.
struct Delivery {
  size_t delivered = 0;  // how many got it
  size_t refused = 0;    // how many did not: their mailboxes are full, or there is no memory

  [[nodiscard]] friend constexpr bool operator==(const Delivery&,
                                                 const Delivery&) noexcept = default;
};

namespace detail {

// ---- sets of actors, type-erased; see src/runtime/groups.hpp ----

class Members;
struct Roster;

// One of a set. The type says how a message gets to its handler; null: as whoever sends thinks.
struct Member {
  ActorId id;
  const MessageType* type;
};

// A new set, or the one with this name and of this kind (the key of a topic's messages, null for
// groups). Empty: no memory, a name that is empty or too long, or a system that is closing.
[[nodiscard]] JZX_API Members* make_members(Port& port) noexcept;
[[nodiscard]] JZX_API Members* find_members(Port& port, const MessageType* kind,
                                            std::string_view name) noexcept;
JZX_API void hold(Members& set) noexcept;
JZX_API void let_go(Members& set) noexcept;

[[nodiscard]] JZX_API Port& port_of(const Members& set) noexcept;
// Again: only the type is changed. no_such_actor: it has ended.
JZX_API Errc add_member(Members& set, Pid actor, const MessageType* type) noexcept;
// no_such_actor: it is no member.
JZX_API Errc remove_member(Members& set, Pid actor) noexcept;
// Takes out those who have ended. How many are left.
JZX_API size_t forget_dead(Members& set) noexcept;
[[nodiscard]] JZX_API bool has_member(Members& set, Pid actor) noexcept;

// The members of this moment, until it is dropped.
struct RosterView {
  Roster* roster;
  const Member* first;
  size_t count;
};
[[nodiscard]] JZX_API RosterView take_roster(Members& set) noexcept;
JZX_API void drop_roster(Roster* roster) noexcept;

// What takes several sends is one call to its user, and the end of the system waits for the whole
// of it.
enum class StayKind : uint8_t { refused, counted, at_home };
[[nodiscard]] JZX_API StayKind begin_stay(Port& port) noexcept;
JZX_API void end_stay(Port& port) noexcept;

class Stay {
 public:
  explicit Stay(Port& port) noexcept : port_(port), kind_(begin_stay(port)) {}
  ~Stay() {
    if (kind_ == StayKind::counted) end_stay(port_);
  }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

  // False: the system is closing.
  [[nodiscard]] explicit operator bool() const noexcept { return kind_ != StayKind::refused; }

 private:
  Port& port_;
  const StayKind kind_;
};

// A counted reference to a set.
class MembersRef {
 public:
  constexpr MembersRef() noexcept = default;
  explicit MembersRef(Members* held) noexcept : set_(held) {}
  MembersRef(const MembersRef& other) noexcept : set_(other.set_) {
    if (set_ != nullptr) hold(*set_);
  }
  MembersRef(MembersRef&& other) noexcept : set_(std::exchange(other.set_, nullptr)) {}
  MembersRef& operator=(MembersRef other) noexcept {
    std::swap(set_, other.set_);
    return *this;
  }
  ~MembersRef() {
    if (set_ != nullptr) let_go(*set_);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return set_ != nullptr; }
  [[nodiscard]] Members& operator*() const noexcept { return *set_; }
  [[nodiscard]] friend bool operator==(const MembersRef&, const MembersRef&) noexcept = default;

  // ---- what every kind of set offers ----

  [[nodiscard]] Errc add(Pid actor, const MessageType* type) const noexcept {
    return set_ == nullptr ? Errc::invalid_arg : add_member(*set_, actor, type);
  }
  [[nodiscard]] Errc remove(Pid actor) const noexcept {
    return set_ == nullptr ? Errc::no_such_actor : remove_member(*set_, actor);
  }
  [[nodiscard]] bool contains(Pid actor) const noexcept {
    return set_ != nullptr && has_member(*set_, actor);
  }
  [[nodiscard]] size_t size() const noexcept { return set_ == nullptr ? 0 : forget_dead(*set_); }
  [[nodiscard]] std::vector<Pid> list() const;

 private:
  Members* set_ = nullptr;
};

class Snapshot {
 public:
  explicit Snapshot(Members& set) noexcept : view_(take_roster(set)) {}
  ~Snapshot() { drop_roster(view_.roster); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  [[nodiscard]] const Member* begin() const noexcept { return view_.first; }
  [[nodiscard]] const Member* end() const noexcept { return view_.first + view_.count; }
  [[nodiscard]] size_t size() const noexcept { return view_.count; }

 private:
  RosterView view_;
};

inline std::vector<Pid> MembersRef::list() const {
  std::vector<Pid> result;
  if (size() == 0) return result;  // who has ended is taken out
  const Snapshot members(*set_);
  result.reserve(members.size());
  for (const Member& member : members) result.emplace_back(&port_of(*set_), member.id);
  return result;
}

// Asked where a message is sent to many, so that the compiler's first sentence is this one.
template <class M>
consteval bool check_copyable() {
  static_assert(std::is_copy_constructible_v<M>,
                "jzx: a message to many must be copyable, since each gets its own; send a "
                "std::shared_ptr<const Message> if it cannot be copied");
  return check_message<M>() && std::is_copy_constructible_v<M>;
}

// If copying throws, those before have it, and the exception goes on.
template <class M>
Delivery send_to_all(const MembersRef& set, const MessageType& otherwise, const M& message) {
  Delivery result;
  if (!set) return result;
  Port& port = port_of(*set);
  const Stay stay(port);
  bool somebody_left = false;
  {
    const Snapshot members(*set);
    if (!stay) return result.refused = members.size(), result;
    for (const Member& member : members) {
      const MessageType& type = member.type != nullptr ? *member.type : otherwise;
      switch (send_message(port, member.id, type, message)) {
        case Errc::ok:
          ++result.delivered;
          break;
        case Errc::no_such_actor:
          somebody_left = true;
          break;
        default:
          ++result.refused;
      }
    }
  }
  if (somebody_left) (void)forget_dead(*set);
  return result;
}

}  // namespace detail

class Group {
 public:
  // Of no system: nobody can join.
  Group() noexcept = default;
  // False in a boolean context if it could not be made: no memory, the system is closing, or the
  // name is empty or longer than 255 characters.
  explicit Group(const SystemFace& face) noexcept {
    if (detail::Port* port = detail::port_of(face)) {
      set_ = detail::MembersRef(detail::make_members(*port));
    }
  }
  Group(const SystemFace& face, std::string_view name) noexcept {
    if (detail::Port* port = detail::port_of(face)) {
      set_ = detail::MembersRef(detail::find_members(*port, nullptr, name));
    }
  }

  // Who is a member already stays one. no_such_actor: it has ended; actor_not_local: it belongs to
  // another system.
  Errc join(Pid actor) const noexcept { return set_.add(actor, nullptr); }
  // no_such_actor: it is no member.
  Errc leave(Pid actor) const noexcept { return set_.remove(actor); }

  // A copy for each member, in the order in which they joined. Who is full does not stop the rest.
  template <class M>
  Delivery broadcast(const M& message) const {
    if constexpr (detail::check_copyable<M>()) {
      return detail::send_to_all(set_, detail::message_type<M>, message);
    } else {
      return {};
    }
  }

  [[nodiscard]] bool contains(Pid actor) const noexcept { return set_.contains(actor); }
  [[nodiscard]] size_t size() const noexcept { return set_.size(); }
  [[nodiscard]] std::vector<Pid> members() const { return set_.list(); }

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(set_); }
  [[nodiscard]] friend bool operator==(const Group&, const Group&) noexcept = default;

 private:
  detail::MembersRef set_;
};

}  // namespace jzx
