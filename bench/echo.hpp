// The server's side of a connection: what comes goes back.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <jzx/jzx.hpp>

namespace bench {

inline jzx::Task<void> echo(jzx::net::Stream stream) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    auto reading = stream.read(buffer);
    jzx::Result<size_t> count = co_await reading;
    if (!count || *count == 0) co_return;
    auto writing = stream.write_all(std::span(buffer).first(*count));
    jzx::Result<void> written = co_await writing;
    if (!written) co_return;
  }
}

}  // namespace bench
