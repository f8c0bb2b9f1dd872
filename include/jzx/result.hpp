// Result: a value, or why there is none. Error: a code and a short text that needs no memory.
//
// A result holds one of the two, and moves only what it holds: the text of an error is 96 bytes,
// which a good answer does not pay for.
#pragma once

#include <cstdlib>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <jzx/errc.hpp>
#include <jzx/signals.hpp>

namespace jzx {

class Error {
 public:
  constexpr Error() noexcept = default;
  constexpr explicit Error(Errc code) noexcept : code_(code) {}
  Error(Errc code, std::string_view text) noexcept : code_(code), text_(text) {}

  [[nodiscard]] constexpr Errc code() const noexcept { return code_; }
  // The text that it was made with, or what the code means; never empty.
  [[nodiscard]] const char* message() const noexcept {
    return text_.c_str()[0] != '\0' ? text_.c_str() : to_string(code_);
  }

 private:
  Errc code_ = Errc::unknown;
  ExitText text_;
};

struct Nothing {};

namespace detail {

inline constexpr Error kNoError{Errc::ok};  // what a result with a value answers

}  // namespace detail

template <class T>
class [[nodiscard]] Result {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, Nothing, T>;

  Result(Value value) noexcept(kMovesSafely)  // NOLINT: a value is a result
      : ok_(true), value_(std::move(value)) {}
  Result(const Error& error) noexcept : ok_(false), error_(error) {}  // NOLINT: and so is an error
  template <class... Args>
  explicit Result(std::in_place_t, Args&&... args)
      : ok_(true), value_(std::forward<Args>(args)...) {}
  Result() noexcept requires std::is_void_v<T> : ok_(true), value_() {}

  Result(Result&& other) noexcept(kMovesSafely) : ok_(other.ok_) { take(std::move(other)); }
  Result(const Result& other) requires std::is_copy_constructible_v<Value> : ok_(other.ok_) {
    take(other);
  }
  // A move that throws leaves an error behind.
  Result& operator=(Result&& other) noexcept(kMovesSafely) {
    if (this == &other) return *this;
    clear();
    Fallback undo{this};
    take(std::move(other));
    undo.result = nullptr;
    ok_ = other.ok_;
    return *this;
  }
  Result& operator=(const Result& other) requires std::is_copy_constructible_v<Value> {
    return *this = Result(other);
  }
  ~Result() { clear(); }

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] explicit operator bool() const noexcept { return ok_; }

  // Asking an error for its value ends the program, as asking an empty optional should.
  [[nodiscard]] Value& value() & {
    if (!ok_) std::abort();
    return value_;
  }
  [[nodiscard]] const Value& value() const& {
    if (!ok_) std::abort();
    return value_;
  }
  [[nodiscard]] Value&& value() && {
    if (!ok_) std::abort();
    return std::move(value_);
  }
  [[nodiscard]] Value& operator*() & { return value(); }
  [[nodiscard]] const Value& operator*() const& { return value(); }
  [[nodiscard]] Value&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] Value* operator->() { return &value(); }
  [[nodiscard]] const Value* operator->() const { return &value(); }
  // Of a result with a value: Errc::ok.
  [[nodiscard]] const Error& error() const noexcept { return ok_ ? detail::kNoError : error_; }

 private:
  static constexpr bool kMovesSafely = std::is_nothrow_move_constructible_v<Value>;

  struct Fallback {
    ~Fallback() {
      if (result != nullptr) std::construct_at(&result->error_, Errc::unknown);
    }
    Result* result;
  };

  // What `other` holds, into the bare memory of the two members.
  template <class Other>
  void take(Other&& other) {
    if (other.ok_) {
      std::construct_at(std::addressof(value_), std::forward<Other>(other).value_);
    } else {
      std::construct_at(&error_, other.error_);
    }
  }
  // Leaves an error, whose memory needs no end.
  void clear() noexcept {
    if (ok_) {
      ok_ = false;
      value_.~Value();
    }
  }

  // In front, so that a small value is in the same cache line.
  bool ok_;
  union {
    Value value_;
    Error error_;
  };
};

}  // namespace jzx
