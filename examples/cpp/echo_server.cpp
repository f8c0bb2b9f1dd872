// echo_server: a TCP server that can be left alone; echo_server.hpp is the server itself.
//
//   echo_server --port 7000 --max 1000 --idle 30     serves until SIGTERM, then drains
//   echo_server                                      shows itself: clients in the same process
#include "echo_server.hpp"

#include <charconv>
#include <csignal>
#include <optional>
#include <string_view>

namespace {

using jzx::net::Address;
using jzx::net::BufferedReader;
using jzx::net::Stream;
using namespace std::chrono_literals;

// ---- until SIGTERM ----

void drain(echo::Server& server) {
  std::printf("SIGTERM: draining\n");
  const echo::Report report = server.drain(10s);
  std::printf("%zu connections ended well, %zu crashed, %zu were refused, %zu are left\n",
              report.served, report.crashed, report.refused, report.open);
}

int shut_down(jzx::Runtime& runtime) {
  const std::vector<jzx::StillAlive> left = runtime.shutdown(1s);
  for (const jzx::StillAlive& late : left) {
    std::printf("%s cannot be ended: %s\n", late.name.c_str(), late.why.c_str());
  }
  return left.empty() ? 0 : 1;
}

// ---- a client, for the demonstration ----

class Client {
 public:
  explicit Client(Stream stream) : stream_(std::move(stream)), reader_(stream_) {}

  // Says it, and gives back the line that it is answered with.
  jzx::Task<std::string> ask(std::string line) {
    auto writing = stream_.write_all(line + "\n");
    jzx::Result<void> written = co_await writing;
    if (!written) co_return written.error();
    auto reading = reader_.read_line();
    jzx::Result<std::string> answer = co_await reading;
    co_return std::move(answer);
  }
  // Says so much without a newline, and listens.
  jzx::Task<std::string> babble(size_t size) {
    auto writing = stream_.write_all(std::string(size, 'x'));
    jzx::Result<void> written = co_await writing;
    if (!written) co_return written.error();
    auto listening = listen();
    jzx::Result<std::string> heard = co_await listening;
    co_return std::move(heard);
  }
  // All that is said until the connection ends.
  jzx::Task<std::string> listen() {
    std::string all;
    for (;;) {
      auto reading = reader_.read_line();
      jzx::Result<std::string> line = co_await reading;
      if (!line && line.error().code() == jzx::Errc::end_of_stream) co_return all + "(the end)";
      if (!line) co_return line.error();
      all += *line + " ";
    }
  }

 private:
  Stream stream_;
  BufferedReader reader_;
};

// ---- the demonstration: each rule by a server of its own ----

int demonstrate(jzx::Runtime& runtime, jzx::net::Signal& signal) {
  echo::Server server(runtime, Address::loopback(), {.idle = 1h, .longest_line = 100});
  echo::Server small(runtime, Address::loopback(), {.most = 1, .idle = 1h});
  echo::Server hasty(runtime, Address::loopback(), {.idle = 50ms});
  if (!server || !small || !hasty) return 1;
  const auto connect = [&](const echo::Server& to) {
    return Stream::connect(to.address(), runtime).get().value();
  };
  const auto show = [](const char* what, const jzx::Result<std::string>& answer) {
    std::printf("%s: %s\n", what, answer ? answer->c_str() : answer.error().message());
  };

  Client polite(connect(server));
  show("an echo", polite.ask("hello").get());
  Client first(connect(small));
  show("the only seat", first.ask("taken").get());
  show("one too many", Client(connect(small)).listen().get());
  show("one that says nothing", Client(connect(hasty)).listen().get());
  show("one that says too much", Client(connect(server)).babble(100'000).get());
  show("one that crashes", Client(connect(server)).ask("crash").get());
  show("the others do not mind", polite.ask("still there?").get());

  Client busy(connect(server));
  show("one that is busy", busy.ask("work").get());
  std::raise(SIGTERM);
  if (!signal.next().get()) return 1;
  drain(server);
  show("the idle one", polite.listen().get());
  show("the busy one", busy.listen().get());
  return shut_down(runtime);
}

// ---- the command line ----

struct Options {
  uint16_t port = 0;
  echo::Rules rules;
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string_view text = i + 1 < argc ? argv[i + 1] : "";
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (is_number && name == "--port" && value <= 65535) {
      options.port = static_cast<uint16_t>(value);
    } else if (is_number && name == "--max" && value > 0) {
      options.rules.most = value;
    } else if (is_number && name == "--idle" && value > 0) {
      options.rules.idle = std::chrono::seconds(value);
    } else {
      return std::nullopt;
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = parse(argc, argv);
  if (!options) {
    std::fprintf(stderr, "usage: %s [--port NUMBER] [--max CONNECTIONS] [--idle SECONDS]\n",
                 argv[0]);
    return 2;
  }
  jzx::Runtime runtime;
  auto signal = jzx::net::Signal::open(SIGTERM, runtime);
  if (!runtime || !signal) return 1;
  if (argc == 1) return demonstrate(runtime, *signal);

  echo::Server server(runtime, Address::any(options->port), options->rules);
  if (!server) return 1;
  std::printf("serving on %s\n", server.address().to_string().c_str());
  std::fflush(stdout);
  if (!signal->next().get()) return 1;
  drain(server);
  return shut_down(runtime);
}
