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
#include <string>
#include <tuple>

#include "actors/stage/stage.hpp"

namespace jzx::actors {

using Cast = std::tuple<const Body*, std::string>;

// As in "handlers_on_workers_2".
[[nodiscard]] inline std::string cast_name(const ::testing::TestParamInfo<Cast>& info) {
  return std::string(std::get<0>(info.param)->name()) + "_on_" + std::get<1>(info.param);
}

class OnStage : public ::testing::TestWithParam<Cast> {
 protected:
  explicit OnStage(const SystemOptions& options = {}) {
    stage_.emplace(body(), std::get<1>(GetParam()), options);
  }

  [[nodiscard]] static const Body& body() { return *std::get<0>(GetParam()); }
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

#define JZX_FOR_ALL_BODIES(suite)                                                                \
  INSTANTIATE_TEST_SUITE_P(                                                                      \
      All, suite,                                                                                \
      ::testing::Combine(::testing::ValuesIn(all_bodies()), ::testing::ValuesIn(all_drivers())), \
      cast_name)

#define NEEDS(trait)                                                \
  do {                                                              \
    if (const char* why = body().lacks(trait)) GTEST_SKIP() << why; \
  } while (false)
