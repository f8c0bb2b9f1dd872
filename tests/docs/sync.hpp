// What docs/sync.md takes for granted.
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <utility>

#include <jzx/jzx.hpp>

using namespace std::chrono_literals;

struct Account {
  jzx::Mutex mutex;
  int balance = 0;
};
struct Inbox {
  jzx::Mutex mutex;
  jzx::Condition not_empty{mutex};
  std::deque<std::string> mails;
};
