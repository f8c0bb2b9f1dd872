#include <jzx/net/buffered.hpp>

#include <algorithm>
#include <cstring>

namespace jzx::net {

namespace {

constexpr size_t kLengthSize = 4;

// What is read at once.
constexpr size_t kReadStep = 4096;

uint32_t length_in(std::string_view bytes) noexcept {
  uint32_t length = 0;
  for (size_t i = 0; i < kLengthSize; ++i) {
    length = length << 8 | static_cast<uint8_t>(bytes[i]);
  }
  return length;
}

}  // namespace

std::string BufferedReader::take(size_t count, size_t skipped) {
  std::string piece(view().substr(0, count));
  begin_ += count + skipped;
  if (begin_ == end_) begin_ = end_ = 0;
  return piece;
}

std::string BufferedReader::take_rest() { return take(buffered()); }

Task<bool> BufferedReader::fill() {
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (bytes_.size() < end_ + kReadStep) bytes_.resize(end_ + kReadStep);
  auto reading = stream_.read(std::as_writable_bytes(std::span(bytes_)).subspan(end_));
  Result<size_t> count = co_await reading;
  if (!count) co_return count.error();
  end_ += *count;
  co_return *count > 0;
}

Task<std::string> BufferedReader::read_line() {
  for (size_t seen = 0;;) {
    if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "read line");
    const size_t newline = view().find('\n', seen);
    if (newline != std::string_view::npos && newline <= limit_) {
      std::string line = take(newline, 1);
      if (line.ends_with('\r')) line.pop_back();
      co_return line;
    }
    if (buffered() > limit_) {
      co_return Error(Errc::too_long, "the line is longer than the limit", "read line");
    }
    seen = buffered();
    auto filling = fill();
    Result<bool> has_more = co_await filling;
    if (!has_more) co_return has_more.error();
    if (*has_more) continue;
    if (buffered() == 0) co_return Error(Errc::end_of_stream, {}, "read line");
    if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "read line");
    co_return take_rest();
  }
}

Task<std::string> BufferedReader::read_until(std::string delimiter) {
  if (delimiter.empty()) co_return Error(Errc::invalid_arg, "an empty delimiter", "read until");
  for (size_t seen = 0;;) {
    if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "read until");
    const size_t found = view().find(delimiter, seen);
    if (found != std::string_view::npos && found + delimiter.size() <= limit_) {
      co_return take(found + delimiter.size());
    }
    if (buffered() >= limit_) {
      co_return Error(Errc::too_long, "no delimiter within the limit", "read until");
    }
    // The delimiter may be half there.
    seen = buffered() >= delimiter.size() ? buffered() - delimiter.size() + 1 : 0;
    auto filling = fill();
    Result<bool> has_more = co_await filling;
    if (!has_more) co_return has_more.error();
    if (!*has_more) co_return Error(Errc::end_of_stream, {}, "read until");
  }
}

Task<std::string> BufferedReader::read_exact(size_t count) {
  if (count > limit_) co_return Error(Errc::too_long, "more than the limit", "read");
  while (buffered() < count) {
    auto filling = fill();
    Result<bool> has_more = co_await filling;
    if (!has_more) co_return has_more.error();
    if (!*has_more) {
      co_return Error(Errc::end_of_stream, "the peer ended before all was there", "read");
    }
  }
  if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "read");
  co_return take(count);
}

Task<std::string> BufferedReader::read_frame() {
  for (;;) {
    if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "read frame");
    // The length stays in the buffer until all is there: a cancelled call loses nothing.
    if (buffered() >= kLengthSize) {
      const uint32_t length = length_in(view());
      if (length > limit_)
        co_return Error(Errc::too_long, "a frame beyond the limit", "read frame");
      if (buffered() - kLengthSize >= length) {
        (void)take(0, kLengthSize);
        co_return take(length);
      }
    }
    auto filling = fill();
    Result<bool> has_more = co_await filling;
    if (!has_more) co_return has_more.error();
    if (*has_more) continue;
    if (buffered() == 0) co_return Error(Errc::end_of_stream, {}, "read frame");
    co_return Error(Errc::end_of_stream, "the peer ended in the middle of a frame", "read frame");
  }
}

Task<std::string> BufferedReader::read_to_end() {
  for (;;) {
    if (buffered() > limit_) {
      co_return Error(Errc::too_long, "the peer sent more than the limit", "read to end");
    }
    auto filling = fill();
    Result<bool> has_more = co_await filling;
    if (!has_more) co_return has_more.error();
    if (*has_more) continue;
    if (co_await stop_requested()) co_return Error(Errc::cancelled, {}, "read to end");
    co_return take_rest();
  }
}

Task<void> write_frame(Stream& stream, std::span<const std::byte> bytes, size_t* done) {
  if (bytes.size() > UINT32_MAX) co_await fail(Errc::too_long, "a frame beyond 4 GiB");
  std::byte length[kLengthSize];
  for (size_t i = 0; i < kLengthSize; ++i) {
    length[i] = static_cast<std::byte>(bytes.size() >> (8 * (kLengthSize - 1 - i)));
  }
  size_t own = 0;
  size_t& at = done != nullptr ? *done : own;
  while (at < kLengthSize) {
    const Piece pieces[] = {{length + at, kLengthSize - at}, {bytes.data(), bytes.size()}};
    auto writing = stream.write_pieces(pieces);
    Result<size_t> written = co_await writing;
    if (!written) co_await fail(written.error());
    at += *written;
  }
  size_t of_bytes = at - kLengthSize;
  auto rest = stream.write_all(bytes, &of_bytes);
  Result<void> result = co_await rest;
  at = kLengthSize + of_bytes;
  co_await result;
}

}  // namespace jzx::net
