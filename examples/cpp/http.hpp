// As much of HTTP/1.1 as the examples need: GET, one answer, one connection each. Not a web server:
// no keep-alive, no chunks, no encryption.
#pragma once

#include <jzx/jzx.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace http {

struct Response {
  int status = 0;
  std::string body;
};

// "http://127.0.0.1:8080/users/1" in two parts.
struct Url {
  std::string host;
  std::string path;
};
inline jzx::Result<Url> split(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return jzx::Error(jzx::Errc::invalid_arg, "no http:// URL");
  url.remove_prefix(kScheme.size());
  const size_t slash = url.find('/');
  if (slash == std::string_view::npos) return Url{std::string(url), "/"};
  return Url{std::string(url.substr(0, slash)), std::string(url.substr(slash))};
}

// "HTTP/1.1 200 OK" → 200
inline int status_in(std::string_view line) {
  const size_t space = line.find(' ');
  return space == std::string_view::npos ? 0 : std::atoi(line.data() + space + 1);
}

// GET: an error unless the server answers with 200.
inline jzx::Task<Response> get(std::string url) {
  jzx::Result<Url> split_url = split(url);
  const Url where = co_await split_url;
  jzx::Result<jzx::net::Address> address = jzx::net::Address::parse(where.host);
  auto connecting = jzx::net::Stream::connect(co_await address);
  jzx::Result<jzx::net::Stream> connected = co_await connecting;
  jzx::net::Stream stream = co_await connected;

  const std::string request =
      "GET " + where.path + " HTTP/1.1\r\nHost: " + where.host + "\r\nConnection: close\r\n\r\n";
  auto writing = stream.write_all(request);
  jzx::Result<void> written = co_await writing;
  co_await written;

  jzx::net::BufferedReader reader(stream);
  auto reading_head = reader.read_until("\r\n\r\n");
  jzx::Result<std::string> head = co_await reading_head;
  Response response;
  response.status = status_in(co_await head);
  auto reading_body = reader.read_to_end();
  jzx::Result<std::string> body = co_await reading_body;
  response.body = co_await body;
  if (response.status != 200) {
    co_return jzx::Error(jzx::Errc::no_such_actor, "HTTP " + std::to_string(response.status),
                         "GET");
  }
  co_return response;
}

// ---- the other side ----

using Handler = std::function<jzx::Task<Response>(std::string path)>;

inline jzx::Task<void> answer(jzx::net::Stream stream, const Handler& handler) {
  jzx::net::BufferedReader reader(stream, 8192);
  auto reading = reader.read_until("\r\n\r\n");
  jzx::Result<std::string> request = co_await reading;
  const std::string head = co_await request;
  const size_t begin = head.find(' ') + 1;
  auto handling = handler(head.substr(begin, head.find(' ', begin) - begin));
  jzx::Result<Response> handled = co_await handling;
  const Response response = co_await handled;
  const std::string text = "HTTP/1.1 " + std::to_string(response.status) +
                           "\r\nContent-Length: " + std::to_string(response.body.size()) +
                           "\r\nConnection: close\r\n\r\n" + response.body;
  auto writing = stream.write_all(text);
  jzx::Result<void> written = co_await writing;
  co_await written;
}

// Serves until it is asked to stop. A request that goes wrong is that connection's trouble only.
inline jzx::Task<void> serve(jzx::net::Listener& listener, Handler handler) {
  return jzx::scope(
      [&listener, handler = std::move(handler)](jzx::Scope& scope) -> jzx::Task<void> {
        for (;;) {
          auto accepting = listener.accept();
          jzx::Result<jzx::net::Stream> stream = co_await accepting;
          if (!stream) break;
          auto ignored = scope.start(answer(std::move(*stream), handler));
        }
      });
}

}  // namespace http
