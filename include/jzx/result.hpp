// Result: a value, or why there is none. Error: a code, a short text that needs no memory, and what
// failed. It may carry more: the exception that was thrown, or the errors of several.
//
// A result holds one of the two, and moves only what it holds: the text of an error is 96 bytes,
// which a good answer does not pay for.
#pragma once

#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <jzx/errc.hpp>
#include <jzx/signals.hpp>

namespace jzx {

class Error;

namespace detail {

// What an error carries besides: shared by its copies, and rarely there.
struct ErrorLuggage;
JZX_API void share_luggage(ErrorLuggage& luggage) noexcept;
JZX_API void drop_luggage(ErrorLuggage& luggage) noexcept;
[[nodiscard]] JZX_API std::exception_ptr exception_in(const ErrorLuggage& luggage) noexcept;
[[nodiscard]] JZX_API std::span<const Error> causes_in(const ErrorLuggage& luggage) noexcept;
// nullptr: no memory; the error then goes without.
[[nodiscard]] JZX_API ErrorLuggage* pack_exception(std::exception_ptr exception) noexcept;
[[nodiscard]] JZX_API ErrorLuggage* pack_causes(std::vector<Error>&& causes) noexcept;

}  // namespace detail

// Copies never need memory, and never fail.
class Error {
 public:
  constexpr Error() noexcept = default;
  constexpr explicit Error(Errc code) noexcept : code_(code) {}
  // `source` names what failed, and is a literal.
  Error(Errc code, std::string_view text, const char* source = "") noexcept
      : code_(code), source_(source), text_(text) {}
  constexpr Error(const Error& other) noexcept
      : code_(other.code_),
        system_code_(other.system_code_),
        source_(other.source_),
        luggage_(other.luggage_),
        text_(other.text_) {
    if (luggage_ != nullptr) detail::share_luggage(*luggage_);
  }
  constexpr Error& operator=(const Error& other) noexcept {
    Error copy(other);
    std::swap(luggage_, copy.luggage_);
    code_ = copy.code_;
    system_code_ = copy.system_code_;
    source_ = copy.source_;
    text_ = copy.text_;
    return *this;
  }
  constexpr ~Error() {
    if (luggage_ != nullptr) detail::drop_luggage(*luggage_);
  }

  // Of the operating system, by its errno.
  [[nodiscard]] JZX_API static Error of_system(int system_code, const char* source) noexcept;
  // The same, said better than the system does.
  [[nodiscard]] JZX_API static Error of_system(int system_code, std::string_view text,
                                               const char* source) noexcept;
  // The exception that is being handled, inside of a catch.
  [[nodiscard]] JZX_API static Error of_exception(const char* source = "") noexcept;
  // Several have failed, and with them this.
  [[nodiscard]] static Error of_all(std::vector<Error> causes, const char* source = "") noexcept {
    Error error(Errc::all_failed,
                causes.empty() ? std::string_view("there was none to try") : std::string_view(),
                source);
    error.luggage_ = detail::pack_causes(std::move(causes));
    return error;
  }

  [[nodiscard]] constexpr Errc code() const noexcept { return code_; }
  // The text that it was made with, or what the code means; never empty.
  [[nodiscard]] const char* message() const noexcept {
    return text_.c_str()[0] != '\0' ? text_.c_str() : to_string(code_);
  }
  // What failed: "connect", "ask", …; empty if nobody said. Never null.
  [[nodiscard]] constexpr const char* source() const noexcept { return source_; }
  // errno, for Errc::io_failed; else 0.
  [[nodiscard]] constexpr int system_code() const noexcept { return system_code_; }

  // What was thrown, for Errc::exception; else, or if there was no memory to carry it, null.
  [[nodiscard]] std::exception_ptr exception() const noexcept {
    return luggage_ != nullptr ? detail::exception_in(*luggage_) : nullptr;
  }
  // The errors of each, for Errc::all_failed.
  [[nodiscard]] std::span<const Error> causes() const noexcept {
    return luggage_ != nullptr ? detail::causes_in(*luggage_) : std::span<const Error>();
  }

 private:
  Errc code_ = Errc::unknown;
  int system_code_ = 0;
  const char* source_ = "";
  detail::ErrorLuggage* luggage_ = nullptr;
  ExitText text_;
};

struct Nothing {};

namespace detail {

inline constexpr Error kNoError{Errc::ok};  // what a result with a value answers

// Into bare memory. Not inlined: it is long, and nobody hurries to an error.
[[gnu::noinline, gnu::cold]] inline void copy_error(Error& to, const Error& from) noexcept {
  std::construct_at(&to, from);
}
// Throws what the error carries, or a std::runtime_error with its text; ends a program that is
// compiled without exceptions.
[[noreturn]] JZX_API void throw_error(const Error& error);

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
  // The value, for those who like exceptions: throws what the error carries, or std::runtime_error.
  [[nodiscard]] Value or_throw() && {
    if (!ok_) detail::throw_error(error_);
    return std::move(value_);
  }
  // The value, or another.
  template <class Other>
  [[nodiscard]] Value value_or(Other&& other) && {
    return ok_ ? std::move(value_) : static_cast<Value>(std::forward<Other>(other));
  }
  // Of a result with a value: Errc::ok.
  [[nodiscard]] const Error& error() const noexcept { return ok_ ? detail::kNoError : error_; }

 private:
  static constexpr bool kMovesSafely = std::is_nothrow_move_constructible_v<Value>;

  struct Fallback {
    ~Fallback() {
      if (result == nullptr) return;
      std::construct_at(&result->error_, Errc::unknown);
      result->ok_ = false;
    }
    Result* result;
  };

  // What `other` holds, into the bare memory of the two members.
  template <class Other>
  void take(Other&& other) {
    if (other.ok_) [[likely]] {
      std::construct_at(std::addressof(value_), std::forward<Other>(other).value_);
    } else {
      detail::copy_error(error_, other.error_);
    }
  }
  void clear() noexcept {
    if (ok_) [[likely]] {
      value_.~Value();
    } else {
      error_.~Error();
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
