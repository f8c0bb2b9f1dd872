// The fixture of the suite: every test runs for every body on every driver.
//
//   class Links : public OnStage {};
//   JZX_FOR_ALL_BODIES(Links);
//   TEST_P(Links, …) { const ActorId a = spawn(); … }
//
// A test that needs what a face does not offer says so: NEEDS(Trait::priority).
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "actors/stage/stage.hpp"

namespace jzx::actors {

// Who plays, and where.
struct Cast {
  const Body* body;
  std::string driver;

  // As in "handlers_on_workers_2".
  [[nodiscard]] std::string name() const { return std::string(body->name()) + "_on_" + driver; }
  friend void PrintTo(const Cast& cast, std::ostream* out) { *out << cast.name(); }
};

[[nodiscard]] inline std::vector<Cast> casts_on(const std::vector<std::string>& drivers) {
  std::vector<Cast> all;
  for (const Body* body : all_bodies()) {
    for (const std::string& driver : drivers) all.push_back({body, driver});
  }
  return all;
}

class OnStage : public ::testing::TestWithParam<Cast> {
 protected:
  explicit OnStage(const SystemOptions& options = {}) {
    stage_.emplace(body(), GetParam().driver, options);
  }

  [[nodiscard]] static const Body& body() { return *GetParam().body; }
  [[nodiscard]] Stage& stage() { return *stage_; }
  [[nodiscard]] World& world() { return stage_->world(); }
  [[nodiscard]] Journal& journal() { return stage_->journal(); }

  ActorId spawn(const Wish& wish = {}) { return stage_->spawn(wish); }
  void tell(ActorId whom, Command command) { stage_->tell(whom, std::move(command)); }
  Note ask(ActorId whom, Command command) { return stage_->ask(whom, std::move(command)); }
  Note await(const Query& query, size_t count = 1) { return stage_->await(query, count); }
  [[nodiscard]] size_t count(const Query& query) { return stage_->count(query); }
  [[nodiscard]] std::vector<Note> all(const Query& query) { return journal().of(query); }

 private:
  std::optional<Stage> stage_;
};

}  // namespace jzx::actors

#define JZX_FOR_ALL_BODIES_ON(suite, drivers)                                  \
  INSTANTIATE_TEST_SUITE_P(All, suite, ::testing::ValuesIn(casts_on(drivers)), \
                           [](const auto& cast) { return cast.param.name(); })
#define JZX_FOR_ALL_BODIES(suite) JZX_FOR_ALL_BODIES_ON(suite, all_drivers())

#define NEEDS(trait)                                                \
  do {                                                              \
    if (const char* why = body().lacks(trait)) GTEST_SKIP() << why; \
  } while (false)
