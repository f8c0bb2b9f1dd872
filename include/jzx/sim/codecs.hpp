// Codecs: the messages that are recorded with what is in them, and can be sent again from a record.
//
//   jzx::Codecs codecs;
//   codecs.add_for<Account, Deposit, Withdraw>();   // as an Account handles them, asks too
//   codecs.add<Tick>();                              // to whoever lists it, or receives it
//
// Each of them has a jzx::Codec, see codec.hpp. The same list is given to a Recorder and to
// replay().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <jzx/actor_ref.hpp>
#include <jzx/sim/codec.hpp>

namespace jzx {

namespace detail {

// What became of a message that was sent again.
enum class Resent : uint8_t { ok, not_decoded, refused, is_ask };

struct MessageCodec {
  const MessageType* key = nullptr;
  const char* message = nullptr;  // names of types
  const char* actor = nullptr;    // null: whoever
  void (*encode)(const void* message, std::string& out) = nullptr;
  Resent (*resend)(Port& port, ActorId target, std::string_view bytes, bool is_ask) = nullptr;
};

template <class M>
void encode_message(const void* message, std::string& out) {
  out += Codec<M>::encode(*static_cast<const M*>(message));
}

// `A` is void: whoever finds a handler for it.
template <class A, class M>
Resent resend_message(Port& port, ActorId target, std::string_view bytes, bool is_ask) {
  std::optional<M> message = Codec<M>::decode(bytes);
  if (!message) return Resent::not_decoded;
  Errc result = Errc::ok;
  if constexpr (std::is_void_v<A>) {
    if (is_ask) return Resent::is_ask;
    result = send_message(port, target, message_type<M>, std::move(*message));
  } else if (is_ask) {
    // Who asked is not there; the answer is nobody's.
    auto answer = ask_by<A>({}, std::move(*message), [&](const MessageType& type, auto&& question) {
      return result = send_message(port, target, type, std::move(question));
    });
    (void)answer;
  } else {
    result = send_message(port, target, typed_message<A, M>, std::move(*message));
  }
  return ok(result) ? Resent::ok : Resent::refused;
}

// In a replay: the actor that had this id when the record was made. Empty: there is none.
[[nodiscard]] JZX_API Pid pid_in_replay(ActorId recorded) noexcept;

}  // namespace detail

class Codecs {
 public:
  // Messages for whoever takes them from a plain Pid; see jzx::Messages in actor.hpp.
  template <class... M>
  Codecs& add() {
    (add_one<void, M>(nullptr), ...);
    return *this;
  }
  // Messages for actors of type A.
  template <class A, class... M>
  Codecs& add_for() {
    static_assert((Handles<A, M> && ...), "jzx: this actor has no handler for this message");
    (add_one<A, M>(detail::type_name<A>.data()), ...);
    return *this;
  }

  // ---- for the library ----
  [[nodiscard]] const std::vector<detail::MessageCodec>& list() const noexcept { return list_; }

 private:
  template <class A, class M>
  void add_one(const char* actor) {
    static_assert(HasCodec<M>,
                  "jzx: this message has no jzx::Codec; for one that is no more than its bytes: "
                  "`template <> struct jzx::Codec<M> : jzx::ByteCodec<M> {};`");
    list_.push_back({&detail::message_type<M>, detail::type_name<M>.data(), actor,
                     &detail::encode_message<M>, &detail::resend_message<A, M>});
  }

  std::vector<detail::MessageCodec> list_;
};

// A reference to an actor becomes, in a replay, one to the actor that stands for it.
template <>
struct Codec<Pid> {
  static std::string encode(const Pid& pid) { return ByteCodec<ActorId>::encode(pid.id()); }
  static std::optional<Pid> decode(std::string_view text) {
    const std::optional<ActorId> id = ByteCodec<ActorId>::decode(text);
    if (!id) return std::nullopt;
    const Pid pid = detail::pid_in_replay(*id);
    return pid || *id == 0 ? std::optional(pid) : std::nullopt;
  }
};
template <class A>
struct Codec<ActorRef<A>> {
  static std::string encode(const ActorRef<A>& ref) { return Codec<Pid>::encode(ref.pid()); }
  static std::optional<ActorRef<A>> decode(std::string_view text) {
    const std::optional<Pid> pid = Codec<Pid>::decode(text);
    return pid ? std::optional(ActorRef<A>(*pid)) : std::nullopt;
  }
};

}  // namespace jzx
