// What the tests of streams share: bytes of texts, a reader to the end, and two ends in a place.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "support/place.hpp"

namespace jzx::testing {

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Says how much came.
inline Task<size_t> read_to_end(net::Stream& stream) {
  std::vector<std::byte> buffer(size_t{64} << 10);
  for (size_t total = 0;;) {
    auto reading = stream.read(buffer);
    Result<size_t> count = co_await reading;
    if (!count) co_return count.error();
    if (*count == 0) co_return total;
    total += *count;
  }
}

// A stream, and its other end.
class PlaceWithStream : public Place {
 protected:
  void SetUp() override {
    Place::SetUp();
    if (IsSkipped()) return;
    auto ends = net::Stream::pair(system());
    ASSERT_TRUE(ends.ok());
    peer = std::move(ends->first);
    stream = std::move(ends->second);
  }

  net::Stream peer;
  net::Stream stream;
};

}  // namespace jzx::testing
