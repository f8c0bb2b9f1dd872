// jzx::replay(): a record, followed in one run of a simulation.
#include <jzx/sim/recorder.hpp>

#include "core/guard.hpp"
#include "runtime/record/follower.hpp"

namespace jzx {

namespace {

constexpr size_t kMostTraceLines = 200;

const char* name_of(ReplayEnd end) noexcept {
  switch (end) {
    case ReplayEnd::whole:
      return "replayed the whole record";
    case ReplayEnd::failed:
      return "replay FAILED";
    case ReplayEnd::diverged:
      return "replay diverged from the record";
    case ReplayEnd::opaque:
      return "replay stopped at an opaque message";
    case ReplayEnd::not_recorded:
      return "replay stopped at what is not recorded";
  }
  return "replay";
}

// What the user's function throws is a failure of the run.
void call(detail::SimRun& run, const char* what, const std::function<void(Sim&)>& function) {
  const bool is_done = core::guard([&] { return function(run.sim()), true; },
                                   [&](const char* text) {
                                     run.fail(std::string(what) + " threw: " + text);
                                     return false;
                                   });
  (void)is_done;
}

}  // namespace

std::string ReplayReport::text() const {
  std::string text = name_of(end);
  text += ", " + std::to_string(turns) + " of " + std::to_string(of) + " turns";
  if (end != ReplayEnd::whole) text += ": " + failure;
  return text + "\nwhat happened:\n" + trace;
}

ReplayReport replay(const Recording& recording, const ReplayOptions& options,
                    const std::function<void(Sim&)>& setup,
                    const std::function<void(Sim&)>& at_end) {
  ReplayReport report;
  if (recording.data() == nullptr) {
    report.end = ReplayEnd::not_recorded;
    report.failure = "there is no record";
    return report;
  }
  const detail::RecordData& data = *recording.data();
  runtime::Follower follower(data, options.codecs);
  follower.next_observer = options.observer;
  SimOptions wanted;
  wanted.name = "replay";
  wanted.default_mailbox_cap = data.mailbox_cap;
  wanted.deadlock_fails = false;
  wanted.observer = &follower;
  runtime::ReplayWorld* world = nullptr;
  detail::SimFittings fittings;
  fittings.max_watches = UINT32_MAX;
  fittings.detects_deadlocks = data.detects_deadlocks;
  fittings.make_world = [&](const base::Allocator& allocator) {
    world = allocator.create<runtime::ReplayWorld>();
    return io::ReactorPtr(world, {allocator.free_fn, allocator.ctx});
  };
  detail::SimRun run(wanted, follower, 0, true, std::move(fittings));
  follower.begin(run, *world);
  // Before anybody asks for what is not there.
  if (data.lost != 0) {
    follower.stop(ReplayEnd::not_recorded, "the first " + std::to_string(data.lost) +
                                               " events are missing: the ring was too small");
  }
  if (!run.has_failed()) call(run, "the setup", setup);
  follower.follow();
  if (options.goes_on) follower.go_on();
  follower.end();
  const size_t looked_at = options.goes_on ? run.eventually.size() : 0;
  if (at_end && !run.has_failed()) call(run, "what is done at the end", at_end);
  // Nobody has looked whether it is so: that must not pass for true.
  if (run.eventually.size() > looked_at && !run.has_finished()) {
    run.fail(
        options.goes_on
            ? "what must be so eventually was said only at the end, when it had been looked at"
            : "it is said what must be so eventually, but nobody looks: the replay does not go "
              "on after the record (ReplayOptions::goes_on)");
  }

  report.turns = follower.turns();
  report.of = data.turns;
  report.failure = run.failure();
  report.end =
      follower.how() == ReplayEnd::whole && run.has_failed() ? ReplayEnd::failed : follower.how();
  report.trace = run.trace().text(kMostTraceLines);
  if (run.has_failed()) {
    report.trace += "because:\n" + run.trace().causes_of(run.trace().last_step());
  }
  return report;
}

}  // namespace jzx
