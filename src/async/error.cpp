// What errors carry besides their code and text.
#include <cstring>
#include <new>
#include <stdexcept>

#include <jzx/result.hpp>

#include "base/atomic.hpp"
#include "base/text.hpp"

namespace jzx {

namespace detail {

struct ErrorLuggage {
  base::Atomic<uint32_t> owners{1};
  std::exception_ptr exception;
  std::vector<Error> causes;
};

void share_luggage(ErrorLuggage& luggage) noexcept {
  luggage.owners.fetch_add(1, std::memory_order_relaxed);  // the caller owns it meanwhile
}

void drop_luggage(ErrorLuggage& luggage) noexcept {
  // release: what this owner read is read; acquire: so the last sees that of all. They pair.
  if (luggage.owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete &luggage;
}

std::exception_ptr exception_in(const ErrorLuggage& luggage) noexcept { return luggage.exception; }

std::span<const Error> causes_in(const ErrorLuggage& luggage) noexcept { return luggage.causes; }

ErrorLuggage* pack_exception(std::exception_ptr exception) noexcept {
  auto* luggage = new (std::nothrow) ErrorLuggage;
  if (luggage != nullptr) luggage->exception = std::move(exception);
  return luggage;
}

ErrorLuggage* pack_causes(std::vector<Error>&& causes) noexcept {
  auto* luggage = new (std::nothrow) ErrorLuggage;
  if (luggage != nullptr) luggage->causes = std::move(causes);
  return luggage;
}

void throw_error(const Error& error) {
#ifdef __cpp_exceptions
  if (std::exception_ptr exception = error.exception()) std::rethrow_exception(exception);
  throw std::runtime_error(error.message());
#else
  (void)error;
  std::abort();
#endif
}

}  // namespace detail

Error Error::of_system(int system_code, const char* source) noexcept {
  char text[64];
  return of_system(system_code, ::strerror_r(system_code, text, sizeof(text)), source);
}

Error Error::of_system(int system_code, std::string_view text, const char* source) noexcept {
  Error error(Errc::io_failed, text, source);
  error.system_code_ = system_code;
  return error;
}

Error Error::of_exception(const char* source) noexcept {
#ifdef __cpp_exceptions
  std::exception_ptr exception = std::current_exception();
  if (exception == nullptr) return Error(Errc::exception, {}, source);
  Error error(Errc::exception, "an exception that is no std::exception", source);
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& known) {
    error.text_ = ExitText(base::text_of(known));
  } catch (...) {
  }
  error.luggage_ = detail::pack_exception(std::move(exception));
  return error;
#else
  return Error(Errc::exception, {}, source);
#endif
}

}  // namespace jzx
