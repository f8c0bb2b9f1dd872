// One run of a model test at a time, and all of them one after the other. The threads of a run are
// fibers of one thread: before every atomic operation the checker may let another one go on, and a
// load may return any store that memory.hpp allows. Each of these is a choice; see choices.hpp.
//
// Preemptions are bounded: taking the turn from a thread that could go on costs one, letting
// another go on where a thread waits, yields or ends is free. Plain accesses are no place to
// switch: whether they race shows in the clocks, whoever goes first.
//
// A run that fails is left where it stands, since the library's functions may not be unwound: its
// stacks and objects are forgotten. No run follows it.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/choices.hpp"
#include "model/memory.hpp"
#include "model/trace.hpp"

namespace jzx::base::model {

class Execution {
 public:
  Execution(uint32_t preemption_bound, uint32_t max_steps);
  ~Execution();

  // The next run. False if it failed.
  [[nodiscard]] bool run(const std::function<void()>& body);
  [[nodiscard]] bool advance() noexcept { return choices_.advance(); }

  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] std::string trace() const { return describe(steps_); }

  // ---- for the body of the test ----

  void start_thread(std::function<void()> body);
  // Lets the started threads run to their ends.
  void join_threads();

  // ---- for all threads of the run ----

  [[noreturn]] void fail(std::string message);
  void say(const char* words);
  [[nodiscard]] uint32_t choose(uint32_t count) { return choices_.pick(count); }
  [[nodiscard]] uint32_t current_thread() const noexcept { return current_->number; }

  void create(const void* at, bool is_atomic, uint64_t value) noexcept;
  void destroy(const void* at) noexcept;
  [[nodiscard]] uint64_t load(const Access& access, uint64_t initial);
  void store(const Access& access, uint64_t initial, uint64_t value);
  [[nodiscard]] uint64_t begin_modify(const Access& access, uint64_t initial);
  void end_modify(const Access& access, uint64_t value);
  [[nodiscard]] bool compare_exchange(const Access& access, uint64_t initial, uint64_t& expected,
                                      uint64_t desired, std::memory_order failure);
  void plain(const void* at, bool is_write);
  void yield();
  void light_barrier();
  [[nodiscard]] bool heavy_barrier();
  // From now on, in this run.
  void refuse_barriers() noexcept { refuses_barriers_ = true; }

  struct Token {
    bool is_set = false;
    bool orders = true;  // who waits for it knows what was done before it was set
    Clock clock;
  };
  void set_token(Token& token);
  // False: it was not set, and nobody is left who could.
  [[nodiscard]] bool wait_for_token(Token& token);

 private:
  using Context = boost::context::detail::fcontext_t;
  using Transfer = boost::context::detail::transfer_t;
  enum class State : uint8_t { ready, spinning, waiting, joining, finished };

  struct Thread {
    uint32_t number = 0;
    State state = State::finished;
    bool just_resumed = false;  // to do its next operation: no choice before it
    bool is_stuck = false;      // what it waited for never came
    uint64_t own_stores = 0;
    uint64_t others_stores = 0;  // as of its start or its last yield()
    Token* token = nullptr;
    Context context = nullptr;
    std::function<void()> body;
    std::vector<Cell*> looked_at;  // since its last yield()
    std::unique_ptr<char[]> stack;
  };

  static constexpr size_t kStackSize = 256 * 1024;

  static void entry(Transfer transfer);
  void prepare(Thread& thread, std::function<void()> body);
  void switch_to(Thread& next);
  [[nodiscard]] bool can_run(const Thread& thread) const noexcept;
  [[nodiscard]] uint64_t stores_of_others(const Thread& thread) const noexcept {
    return stores_ - thread.own_stores;
  }
  void collect_ready(const Thread* except);
  // Lets another thread go on; the current one has a state in which it cannot.
  void give_up_turn();
  void release_the_stuck();
  [[nodiscard]] std::string who_waits_for_what() const;

  // Before an atomic operation: a place to switch, then a new moment of this thread's time.
  void begin_operation();
  Cell& atomic_cell(const Access& access, uint64_t initial);
  Step& note(const Access& access, Step::Kind kind, const Cell& cell);
  [[nodiscard]] uint64_t read(Cell& cell, uint32_t index, std::memory_order order);
  void note_store();

  Choices choices_;
  Memory memory_;
  Thread threads_[kMaxThreads];
  Thread outside_;
  Thread* current_ = nullptr;
  uint32_t thread_count_ = 0;
  uint32_t preemption_bound_;
  uint32_t preemptions_ = 0;
  uint32_t max_steps_;
  uint32_t operations_ = 0;
  uint64_t stores_ = 0;
  bool has_failed_ = false;
  bool refuses_barriers_ = false;
  std::string message_;
  std::vector<Step> steps_;
  std::vector<Thread*> ready_;        // scratch
  std::vector<uint32_t> candidates_;  // scratch
};

// The one that is running, or nullptr.
[[nodiscard]] Execution* current_execution() noexcept;

}  // namespace jzx::base::model
