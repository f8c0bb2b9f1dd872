#include "actors/stage/stage.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <utility>

#include "capi/loop_handle.hpp"

namespace jzx::actors {

namespace {

// The command in an envelope, of whichever face; nullptr: it holds none.
const Command* command_in(Envelope& envelope) {
  if (envelope.type->key == &raw_message_type) {
    return static_cast<const Command*>(envelope.as<RawMessage>().data);
  }
  if (envelope.type->key != &detail::message_type<Command>) return nullptr;
  return &detail::message_in<Command>(envelope);
}

}  // namespace

Stage::Stage(const Body& body, const std::string& driver, const SystemOptions& options)
    : journal_([this] { return driver_ == nullptr ? 0 : driver_->now_ns(); }),
      driver_(make_driver(driver, options, allocator_.c_allocator(), *this)),
      face_(std::make_unique<Face>(driver_->loop()->port)),
      world_(body.open_world(*this)) {}

Stage::~Stage() {
  close();
  if (::testing::Test::HasFailure()) std::fputs(journal_.text().c_str(), stderr);
}

void Stage::close() {
  if (is_closed_) return;
  driver_->settle();
  cut();
}

void Stage::cut() {
  is_closed_ = true;
  driver_->halt();
  check_ledger();
  driver_->close();
  EXPECT_EQ(books_.accepted.load(),
            books_.performed.load() + books_.dead.load() + books_.cancelled.load())
      << "performed " << books_.performed.load() << ", dead-lettered " << books_.dead.load()
      << ", cancelled " << books_.cancelled.load();
  check_lives();
  EXPECT_EQ(allocator_.live_blocks(), 0) << "everything goes back to the allocator";
}

void Stage::check_ledger() {
  const core::Ledger ledger = driver_->ledger();
  EXPECT_TRUE(ledger.balanced()) << "accepted " << ledger.accepted << ", handled " << ledger.handled
                                 << ", dead-lettered " << ledger.dead_lettered << ", queued "
                                 << ledger.queued;
}

void Stage::check_lives() const {
  std::map<ActorId, int> stage_of_life;
  for (const Note& note : journal_.all()) {
    if (note.kind == Note::Kind::begun) {
      EXPECT_EQ(stage_of_life[note.who]++, 0) << "began again: " << note.who;
    }
    if (note.kind == Note::Kind::ended) {
      EXPECT_EQ(stage_of_life[note.who]++, 1) << "ended twice, or never began: " << note.who;
    }
  }
}

// ---- what tests do ----

ActorId Stage::spawn(const Wish& wish) {
  ActorId id = 0;
  EXPECT_EQ(world_->spawn(wish, id), Errc::ok);
  return id;
}

ActorId Stage::supervise(const Family& family, ActorId parent) {
  ActorId id = 0;
  EXPECT_EQ(world_->supervise(family, parent, id), Errc::ok);
  return id;
}

void Stage::tell(ActorId whom, Command command) {
  EXPECT_EQ(world_->send(whom, std::move(command)), Errc::ok);
}

Note Stage::ask(ActorId whom, Command command) {
  Command* last = &command;
  while (last->verb == Verb::batch && !last->then.empty()) last = &last->then.back();
  last->token = ++tokens_;
  Query query;
  query.kind = last->verb == Verb::record ? Note::Kind::recorded : Note::Kind::answered;
  query.token = last->token;
  tell(whom, std::move(command));
  return await(query);
}

Note Stage::await(const Query& query, size_t count) {
  // After one that never came the others are not waited for.
  if (has_given_up_ || !driver_->await(journal_, query, count)) {
    has_given_up_ = true;
    ADD_FAILURE() << "it never came; there are " << journal_.count(query) << " of " << count;
    return {};
  }
  return journal_.of(query).at(count - 1);
}

size_t Stage::count(const Query& query) {
  settle();
  return journal_.count(query);
}

std::shared_ptr<testing::Gate> Stage::gate() const {
  auto gate = std::make_shared<testing::Gate>();
  if (!has_threads()) gate->open();
  return gate;
}

Command* Stage::keep(Command command) {
  const std::lock_guard hold(parcels_mutex_);
  return &parcels_.emplace_back(std::move(command));
}

// ---- what the observer is told ----

void Stage::actor_started(ActorId id, const char* label) {
  journal_.add({.kind = Note::Kind::begun, .who = id, .text = label == nullptr ? "" : label});
}
void Stage::actor_stopped(ActorId id, ExitReason reason, const ExitText& text) {
  journal_.add({.kind = Note::Kind::ended, .who = id, .reason = reason, .text = text.c_str()});
}
void Stage::actor_restarted(ActorId supervisor, ActorId child, uint32_t attempt) {
  journal_.add(
      {.kind = Note::Kind::restarted, .who = child, .other = supervisor, .number = attempt});
}
void Stage::supervisor_escalated(ActorId id) {
  journal_.add({.kind = Note::Kind::escalated, .who = id});
}
void Stage::mailbox_full(ActorId id) { journal_.add({.kind = Note::Kind::full, .who = id}); }
void Stage::dead_letter(ActorId target, Envelope& envelope, DeadLetterReason reason) {
  const Command* command = command_in(envelope);
  EXPECT_NE(command, nullptr) << "nobody sends anything else";
  if (command == nullptr) return;
  books_.dead.fetch_add(1);
  journal_.add({.kind = Note::Kind::dead,
                .who = target,
                .other = envelope.sender,
                .number = command->number,
                .verb = command->verb,
                .fate = reason});
}

}  // namespace jzx::actors
