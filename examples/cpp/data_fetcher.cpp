// data_fetcher: an actor with a cache, in front of something slow. Whoever asks for what is not
// there waits; however many do, it is fetched once.
//
//   client ──Fetch──▶ fetcher ──spawn_async──▶ http::get ──FetchComplete──▶ fetcher
//   client ◀───────── CacheHit, or FetchResult when it has come ────────────┘
//
// The fetch is a task of its own, so that the fetcher goes on meanwhile. The same in one handler
// that waits, for those who ask: SimpleFetcher, below, which interleaves. What is slow is a server
// in the same loop, over real connections.
#include <jzx/jzx.hpp>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "http.hpp"

namespace {

using namespace std::chrono_literals;

// ---- the server ----

// Every page is there; long ones take a while, and one never comes.
jzx::Task<http::Response> handle(std::string path) {
  if (path == "/long" || path == "/never") {
    auto nap = jzx::sleep(path == "/long" ? std::chrono::milliseconds(50) : 1h);
    jzx::Result<void> slept = co_await nap;
    co_await slept;
  }
  http::Response response{200, {}};
  response.body = "<the page " + path + ">";
  co_return response;
}

// ---- the fetcher ----

struct Fetch {
  std::string url;
  jzx::Pid reply_to;
};
struct FetchComplete {
  std::string url;
  std::string data;
};
struct CacheHit {
  std::string data;
};
struct FetchResult {
  std::string data;
};

struct DataFetcher {
  std::map<std::string, std::string> cache;
  std::map<std::string, std::vector<jzx::Pid>> pending;
  int fetched = 0;

  void on(Fetch fetch, jzx::Context& context) {
    if (const auto hit = cache.find(fetch.url); hit != cache.end()) {
      fetch.reply_to << CacheHit{hit->second};
      return;
    }
    std::vector<jzx::Pid>& waiters = pending[fetch.url];
    waiters.push_back(fetch.reply_to);
    if (waiters.size() > 1) return;
    std::printf("fetcher: fetching page %d\n", ++fetched);
    (void)context.spawn_async(get(fetch.url, context.self(*this)));
  }
  void on(FetchComplete complete) {
    cache[complete.url] = complete.data;
    for (const jzx::Pid waiter : pending[complete.url]) waiter << FetchResult{complete.data};
    pending.erase(complete.url);
  }

 private:
  static jzx::Task<void> get(std::string url, jzx::ActorRef<DataFetcher> fetcher) {
    auto getting = http::get(url);
    jzx::Result<http::Response> response = co_await getting;
    FetchComplete complete{url, {}};
    complete.data = (co_await response).body;
    fetcher << std::move(complete);
  }
};

struct Client {
  using Messages = jzx::Messages<CacheHit, FetchResult>;
  std::string name;
  int wanted = 0;

  void on(CacheHit hit, jzx::Context& context) { got("hit", hit.data, context); }
  void on(FetchResult result, jzx::Context& context) { got("result", result.data, context); }
  void got(const char* what, const std::string& data, jzx::Context& context) {
    std::printf("%s: %s %s\n", name.c_str(), what, data.c_str());
    if (--wanted == 0) context.stop();
  }
};

// ---- the same, for those who ask ----

struct Get {
  std::string url;
};

struct SimpleFetcher {
  static constexpr bool interleaves = true;
  std::map<std::string, std::string> cache;

  jzx::Task<std::string> on(Get get) {
    if (cache.contains(get.url)) co_return cache[get.url];
    auto getting = http::get(get.url);
    jzx::Result<http::Response> response = co_await getting;
    // Others may have been here meanwhile: what was looked up before the wait is looked up again.
    std::string page = (co_await response).body;
    cache[get.url] = page;
    co_return page;
  }
};

}  // namespace

int main() {
  jzx::Loop loop;
  auto listener = jzx::net::Listener::open(jzx::net::Address::loopback(), {}, loop);
  if (!listener) {
    std::fprintf(stderr, "cannot listen: %s\n", listener.error().message());
    return 1;
  }
  const std::string server = "http://" + listener->address()->to_string();
  auto serving = loop.spawn_async(http::serve(*listener, &handle));

  const auto fetcher = loop.spawn<DataFetcher>();
  const auto ann = loop.spawn<Client>("ann", 2);
  const auto bob = loop.spawn<Client>("bob", 1);
  fetcher << Fetch{server + "/a", ann} << Fetch{server + "/a", bob} << Fetch{server + "/long", ann};
  while (loop.type_name(ann) != "") (void)loop.run_once(1h);

  const auto eve = loop.spawn<Client>("eve", 1);
  fetcher << Fetch{server + "/a", eve};
  while (loop.type_name(eve) != "") (void)loop.run_once(1h);
  (void)loop.stop(fetcher);

  const auto simple = loop.spawn<SimpleFetcher>();
  auto first = loop.run_until(simple.ask(Get{server + "/b"}));
  std::printf("asked: %s\n", first->c_str());
  auto refused = loop.run_until(simple.ask(Get{"ftp://b"}));
  std::printf("asked: %s\n", refused.error().message());
  auto late = loop.run_until(simple.ask_for(1ms, Get{server + "/never"}));
  std::printf("asked: %s\n", late.error().message());
  (void)loop.stop(simple);
  serving.cancel();
  return loop.run() == jzx::Errc::ok ? 0 : 1;
}
