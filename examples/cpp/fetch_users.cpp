// fetch_users: futures and tasks at work, over real connections to a server in the same program.
//
//   one after the other    fetch_user, then its posts
//   in parallel            five users at once: all()
//   the quicker one        a slow address and, 50 ms later, its fallback: race()
//   callbacks              an old interface that calls back, as a future
//   errors                 catch_error and finally
#include <jzx/jzx.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "http.hpp"

namespace {

using namespace std::chrono_literals;

// ---- the server ----

// /users/<id>, /users/<id>/posts, and /slow, which takes an hour.
jzx::Task<http::Response> handle(std::string path) {
  if (path == "/slow") {
    auto nap = jzx::sleep(1h);
    jzx::Result<void> slept = co_await nap;
    co_await slept;
  }
  if (path == "/quick") co_return http::Response{200, "the fallback"};
  const int id = path.starts_with("/users/") ? std::atoi(path.c_str() + 7) : 0;
  if (id < 1 || id > 9) co_return http::Response{404, ""};
  if (path.ends_with("/posts")) co_return http::Response{200, "hello,goodbye"};
  co_return http::Response{200, "user" + std::to_string(id)};
}

// ---- the client ----

struct User {
  std::string name;
};
struct UserWithPosts {
  User user;
  std::vector<std::string> posts;
};

std::string base_url;  // of the server

jzx::Task<User> fetch_user(int id) {
  auto getting = http::get(base_url + "/users/" + std::to_string(id));
  jzx::Result<http::Response> result = co_await getting;
  const http::Response response = co_await result;  // or this task ends with the error
  co_return User{response.body};
}

jzx::Task<std::vector<std::string>> fetch_posts(int id) {
  auto getting = http::get(base_url + "/users/" + std::to_string(id) + "/posts");
  jzx::Result<http::Response> result = co_await getting;
  const http::Response response = co_await result;
  const size_t comma = response.body.find(',');
  co_return std::vector<std::string>{response.body.substr(0, comma),
                                     response.body.substr(comma + 1)};
}

jzx::Task<UserWithPosts> fetch_user_with_posts(int id) {
  auto first = fetch_user(id);
  jzx::Result<User> user = co_await first;
  if (!user) co_return user.error();
  auto second = fetch_posts(id);
  jzx::Result<std::vector<std::string>> posts = co_await second;
  if (!posts) co_return posts.error();
  co_return UserWithPosts{std::move(*user), std::move(*posts)};
}

jzx::Task<std::vector<User>> fetch_multiple_users(std::vector<int> ids) {
  std::vector<jzx::Task<User>> tasks;
  for (const int id : ids) tasks.push_back(fetch_user(id));
  return jzx::all(std::move(tasks));
}

jzx::Task<http::Response> delayed_get(std::chrono::milliseconds delay, std::string url) {
  auto nap = jzx::sleep(delay);
  jzx::Result<void> slept = co_await nap;
  co_await slept;
  auto getting = http::get(std::move(url));
  jzx::Result<http::Response> response = co_await getting;
  co_return response;
}

// Whoever answers first; the other one is cancelled, and its connection closed.
jzx::Task<http::Response> fetch_with_fallback(std::string primary, std::string fallback) {
  std::vector<jzx::Task<http::Response>> tasks;
  tasks.push_back(http::get(std::move(primary)));
  tasks.push_back(delayed_get(50ms, std::move(fallback)));
  return jzx::race(std::move(tasks));
}

// An interface of the old sort, and a future of it.
void read_file_async(const std::string& path, std::function<void(bool, std::string)> callback) {
  if (path == "motd") return callback(true, "be kind");
  callback(false, "no such file");
}
jzx::Future<std::string> read_file(const std::string& path) {
  auto [future, promise] = jzx::promise<std::string>();
  // std::function wants to copy what it holds.
  auto shared = std::make_shared<jzx::Promise<std::string>>(std::move(promise));
  read_file_async(path, [shared](bool is_ok, std::string text) {
    if (is_ok) {
      shared->resolve(std::move(text));
    } else {
      shared->reject(jzx::Error(jzx::Errc::unknown, text));
    }
  });
  return std::move(future);
}

jzx::Task<void> tour(jzx::Runtime& runtime) {
  auto first = fetch_user_with_posts(1);
  jzx::Result<UserWithPosts> one = co_await first;
  std::printf("one after the other: %s wrote \"%s\" and \"%s\"\n", one->user.name.c_str(),
              one->posts[0].c_str(), one->posts[1].c_str());

  auto many = fetch_multiple_users({1, 2, 3, 4, 5});
  jzx::Result<std::vector<User>> users = co_await many;
  std::printf("in parallel: %zu users, the last is %s\n", users->size(),
              users->back().name.c_str());

  auto quicker = fetch_with_fallback(base_url + "/slow", base_url + "/quick");
  jzx::Result<http::Response> answer = co_await quicker;
  std::printf("the quicker one: %s\n", answer->body.c_str());

  auto file = read_file("motd");
  jzx::Result<std::string> motd = co_await file;
  std::printf("a callback: %s\n", motd->c_str());

  auto unknown = runtime.spawn_async(fetch_user(999))
                     .catch_error([](const jzx::Error& error) {
                       std::printf("an error: %s\n", error.message());
                       return User{"nobody"};
                     })
                     .finally([] { std::printf("in any case\n"); });
  jzx::Result<User> user = co_await unknown;
  std::printf("instead: %s\n", user->name.c_str());
}

}  // namespace

int main() {
  jzx::Runtime runtime;
  auto listener = jzx::net::Listener::open(jzx::net::Address::loopback(), {}, runtime);
  if (!listener) {
    std::fprintf(stderr, "cannot listen: %s\n", listener.error().message());
    return 1;
  }
  base_url = "http://" + listener->address()->to_string();
  auto serving = runtime.spawn_async(http::serve(*listener, &handle));
  const bool is_ok = runtime.block_on(runtime.spawn_async(tour(runtime))).ok();
  serving.cancel();  // and with it what is still being answered
  (void)serving.get();
  return is_ok ? 0 : 1;
}
