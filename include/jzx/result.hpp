// Result: a value, or why there is none. Error: a code and a short text that needs no memory.
#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <jzx/errc.hpp>
#include <jzx/signals.hpp>

namespace jzx {

class Error {
 public:
  Error() noexcept = default;
  explicit Error(Errc code) noexcept : code_(code), text_(to_string(code)) {}
  Error(Errc code, std::string_view text) noexcept : code_(code), text_(text) {}

  [[nodiscard]] Errc code() const noexcept { return code_; }
  [[nodiscard]] const char* message() const noexcept { return text_.c_str(); }

 private:
  Errc code_ = Errc::unknown;
  ExitText text_;
};

struct Nothing {};

template <class T>
class [[nodiscard]] Result {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, Nothing, T>;

  Result(Value value) : value_(std::move(value)) {}  // NOLINT: a value is a result
  Result(Error error) : error_(error) {}             // NOLINT: and so is an error
  Result() requires std::is_void_v<T> : value_(Nothing{}) {}

  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  [[nodiscard]] explicit operator bool() const noexcept { return ok(); }

  // Asking an error for its value ends the program, as asking an empty optional should.
  [[nodiscard]] Value& value() & {
    if (!ok()) std::abort();
    return *value_;
  }
  [[nodiscard]] const Value& value() const& {
    if (!ok()) std::abort();
    return *value_;
  }
  [[nodiscard]] Value&& value() && {
    if (!ok()) std::abort();
    return std::move(*value_);
  }
  [[nodiscard]] Value& operator*() & { return value(); }
  [[nodiscard]] const Value& operator*() const& { return value(); }
  [[nodiscard]] Value&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] Value* operator->() { return &value(); }
  [[nodiscard]] const Value* operator->() const { return &value(); }
  [[nodiscard]] const Error& error() const noexcept { return error_; }

 private:
  std::optional<Value> value_;
  Error error_{Errc::ok};
};

}  // namespace jzx
