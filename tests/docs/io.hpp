// What docs/io.md takes for granted.
#pragma once

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include <jzx/jzx.hpp>

using namespace std::chrono_literals;

void show(const jzx::Result<std::string>& answer);
jzx::Task<std::string> ask(jzx::net::Address where, std::string question, jzx::net::Home home);
