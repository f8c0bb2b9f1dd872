// What a BufferedReader must give, said in the simplest way: of all bytes at once. And a stream
// whose every read is one packet, so that a test chooses how the bytes come in.
//
// Threads: the test's own.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <jzx/jzx.hpp>
#include <jzx/net/net.hpp>

namespace jzx::testing {

// Reads the same piece again and again, until an error ends it.
struct ReadPlan {
  enum class Piece : uint8_t { line, until, exact, frame, to_end } piece = Piece::line;
  size_t limit = 0;
  std::string delimiter{};  // of until
  size_t count = 0;         // of exact
};

struct ReadResult {
  std::vector<std::string> pieces;
  Errc end = Errc::ok;
  friend bool operator==(const ReadResult&, const ReadResult&) = default;
};

// One piece off the front of what is left.
inline Errc take_piece(const ReadPlan& plan, std::string_view& input, std::string& piece) {
  const auto take = [&](size_t count, size_t behind = 0) {
    piece = input.substr(0, count);
    input.remove_prefix(count + behind);
    return Errc::ok;
  };
  switch (plan.piece) {
    case ReadPlan::Piece::line: {
      const size_t newline = input.find('\n');
      if (newline != std::string_view::npos && newline <= plan.limit) {
        (void)take(newline, 1);
        if (piece.ends_with('\r')) piece.pop_back();
        return Errc::ok;
      }
      if (input.size() > plan.limit) return Errc::too_long;
      return input.empty() ? Errc::end_of_stream : take(input.size());
    }
    case ReadPlan::Piece::until: {
      const size_t found = input.find(plan.delimiter);
      const size_t size = found + plan.delimiter.size();
      if (found != std::string_view::npos && size <= plan.limit) return take(size);
      return input.size() >= plan.limit ? Errc::too_long : Errc::end_of_stream;
    }
    case ReadPlan::Piece::exact:
      if (plan.count > plan.limit) return Errc::too_long;
      return input.size() < plan.count ? Errc::end_of_stream : take(plan.count);
    case ReadPlan::Piece::frame: {
      if (input.size() < 4) return Errc::end_of_stream;
      size_t length = 0;
      for (size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<uint8_t>(input[i]);
      if (length > plan.limit) return Errc::too_long;
      if (input.size() - 4 < length) return Errc::end_of_stream;
      input.remove_prefix(4);
      return take(length);
    }
    case ReadPlan::Piece::to_end:
      return input.size() > plan.limit ? Errc::too_long : take(input.size());
  }
  return Errc::unknown;
}

// An empty piece at the end of the stream would come for ever.
inline bool is_last(const ReadPlan& plan, const std::string& piece) {
  return plan.piece == ReadPlan::Piece::to_end ||
         (plan.piece == ReadPlan::Piece::exact && piece.empty());
}

inline ReadResult expected_of(const ReadPlan& plan, std::string_view input) {
  ReadResult result;
  for (;;) {
    std::string piece;
    result.end = take_piece(plan, input, piece);
    if (!ok(result.end)) return result;
    result.pieces.push_back(piece);
    if (is_last(plan, piece)) return result;
  }
}

inline Task<std::string> read_piece(net::BufferedReader& reader, const ReadPlan& plan) {
  switch (plan.piece) {
    case ReadPlan::Piece::line:
      return reader.read_line();
    case ReadPlan::Piece::until:
      return reader.read_until(plan.delimiter);
    case ReadPlan::Piece::exact:
      return reader.read_exact(plan.count);
    case ReadPlan::Piece::frame:
      return reader.read_frame();
    case ReadPlan::Piece::to_end:
      break;
  }
  return reader.read_to_end();
}

inline Task<void> read_pieces(net::Stream& stream, const ReadPlan& plan, ReadResult& result) {
  net::BufferedReader reader(stream, plan.limit);
  for (;;) {
    auto reading = read_piece(reader, plan);
    Result<std::string> piece = co_await reading;
    result.end = piece.error().code();
    if (!piece) co_return;
    result.pieces.push_back(*piece);
    if (is_last(plan, *piece)) co_return;
  }
}

// The other end has sent these packets and is closed; each read takes one of them.
[[nodiscard]] inline net::Stream stream_of_packets(Loop& loop,
                                                   const std::vector<std::string_view>& packets) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return {};
  for (const std::string_view packet : packets) {
    if (!packet.empty()) (void)!::send(ends[1], packet.data(), packet.size(), MSG_DONTWAIT);
  }
  ::close(ends[1]);
  Result<net::Stream> stream = net::Stream::adopt(ends[0], loop);
  return stream ? std::move(*stream) : net::Stream();
}

// What a reader gives when the bytes come in these packets.
inline ReadResult read_packets(Loop& loop, const ReadPlan& plan,
                               const std::vector<std::string_view>& packets) {
  net::Stream stream = stream_of_packets(loop, packets);
  ReadResult result;
  (void)loop.run_until(loop.spawn_async(read_pieces(stream, plan, result)));
  return result;
}

}  // namespace jzx::testing
