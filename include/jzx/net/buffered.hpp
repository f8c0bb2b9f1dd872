// A reader that keeps what came too early: lines, frames, exact counts. It reads as much as there
// is and gives it out piece by piece.
//
// Limits: a piece may be as long as the limit that the reader was made with, and no longer. A peer
// that sends more without an end is an error, Errc::too_long, and is not stored for ever: the
// reader holds at most the limit and one read more. Pieces and errors depend on the bytes only, and
// never on the packets they came in.
//
// Cancelling loses nothing: what came stays in the reader, and the next call goes on with it. A
// call that is asked to stop takes nothing out any more, so this holds in a race() too.
//
// Threads: as the stream's. The stream must be there as long as the reader is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <jzx/net/stream.hpp>

namespace jzx::net {

class JZX_API BufferedReader {
 public:
  static constexpr size_t kUsualLimit = size_t{64} << 10;

  explicit BufferedReader(Stream& stream, size_t limit = kUsualLimit)
      : stream_(stream), limit_(limit) {}

  // Up to and without the next newline; a carriage return before it is taken away too, but counts.
  // What the peer sent after the last newline is the last line. end_of_stream: there is no more.
  [[nodiscard]] Task<std::string> read_line();
  // Up to and with the delimiter, which is not empty and counts. end_of_stream: the peer ended
  // before one came; what it sent is still there for take_rest().
  [[nodiscard]] Task<std::string> read_until(std::string delimiter);
  // Exactly so many bytes; at most the limit.
  [[nodiscard]] Task<std::string> read_exact(size_t count);
  // A frame: its length as four bytes, the highest first, and then as many bytes.
  [[nodiscard]] Task<std::string> read_frame();
  // All until the peer ends; too_long beyond the limit.
  [[nodiscard]] Task<std::string> read_to_end();

  // What has come and nobody has taken.
  [[nodiscard]] std::string take_rest();
  [[nodiscard]] size_t buffered() const noexcept { return end_ - begin_; }

 private:
  // More bytes from the stream; false: the peer sends no more.
  [[nodiscard]] Task<bool> fill();
  [[nodiscard]] std::string take(size_t count, size_t skipped = 0);
  [[nodiscard]] std::string_view view() const noexcept {
    return {bytes_.data() + begin_, end_ - begin_};
  }

  Stream& stream_;
  size_t limit_;
  std::vector<char> bytes_;  // what counts is from begin_ to end_
  size_t begin_ = 0;
  size_t end_ = 0;
};

// Writes a frame as read_frame() reads it. `done` as in Stream::write_all(), and counts the four
// bytes of the length too: a frame that was cancelled is finished by the same call again.
[[nodiscard]] JZX_API Task<void> write_frame(Stream& stream, std::span<const std::byte> bytes,
                                             size_t* done = nullptr);

}  // namespace jzx::net
