// crashing_pool: workers that some jobs kill, and a boss that loses no job.
//
//   boss ──supervises──▶ worker, worker, worker
//   worker ──Ready──▶ boss ──Job──▶ worker ──Done──▶ boss
//
// A worker dies of its job as it likes; its supervisor starts another, which says that it is ready.
// The boss monitors whom it gave a job. It hears of each death exactly once, and gives the job to
// another worker; a job that has killed two is reported instead.
#include <jzx/jzx.hpp>

#include <cstdio>
#include <deque>
#include <map>
#include <vector>

namespace {

constexpr int kJobs = 12;

struct Job {
  int number;
  int deaths = 0;  // of workers, so far
};
struct Ready {};
struct Done {
  int square;
};

// ---- a worker ----

// Sevens are deadly, and fives are to the first who tries.
bool is_deadly(const Job& job) {
  return job.number % 7 == 0 || (job.number % 5 == 0 && job.deaths == 0);
}

void work_for(jzx::Pid boss) {
  for (;;) {
    boss << Ready{};
    Job job{};
    if (jzx::receive([&](Job next) { job = next; }) == jzx::Wait::killed) return;
    if (is_deadly(job)) return jzx::exit(jzx::ExitReason::fail, "it was the job");
    boss << Done{job.number * job.number};
  }
}

// ---- the boss ----

class Boss {
 public:
  Boss() {
    for (int i = 1; i <= kJobs; ++i) open_.push_back({i});
  }

  void run() {
    const jzx::Pid self = jzx::self();
    const auto worker = [self] { work_for(self); };
    jzx::FiberSystem system;
    const jzx::SupervisorRef workers = system.supervise(
        {.intensity = 100},
        {jzx::child_fn("a", worker), jzx::child_fn("b", worker), jzx::child_fn("c", worker)});

    while (done_.size() + hopeless_.size() < kJobs) {
      jzx::receive([&](Ready) { give_job(jzx::sender()); },
                   [&](Done done) { note_done(jzx::sender(), done); },
                   [&](const jzx::Down& down) { note_death(down); });
    }
    (void)system.stop(workers);
    report();
  }

 private:
  struct Given {
    Job job;
    jzx::MonitorRef monitor;
  };

  void give_job(jzx::Pid worker) {
    if (open_.empty()) return idle_.push_back(worker);
    Given given{open_.front(), {}};
    open_.pop_front();
    (void)jzx::monitor(worker, &given.monitor);  // if it is dead already, we are told at once
    worker << given.job;
    given_[worker.id()] = given;
  }

  void note_done(jzx::Pid worker, Done done) {
    const Given given = given_[worker.id()];
    (void)jzx::demonitor(given.monitor);
    given_.erase(worker.id());
    done_[given.job.number] = done.square;
  }

  void note_death(const jzx::Down& down) {
    Job job = given_[down.actor].job;
    given_.erase(down.actor);
    ++job.deaths;
    std::printf("job %d has killed a worker (%s)%s\n", job.number, down.text.c_str(),
                job.deaths < 2 ? "; once more" : "; that is enough");
    if (job.deaths == 2) return hopeless_.push_back(job.number);
    open_.push_back(job);
    if (idle_.empty()) return;
    const jzx::Pid next = idle_.back();
    idle_.pop_back();
    give_job(next);
  }

  void report() const {
    std::printf("done:");
    for (const auto& [number, square] : done_) std::printf(" %d^2=%d", number, square);
    std::printf("\nnot done:");
    for (const int number : hopeless_) std::printf(" %d", number);
    std::printf("\n%zu of %d jobs are accounted for\n", done_.size() + hopeless_.size(), kJobs);
  }

  std::deque<Job> open_;
  std::vector<jzx::Pid> idle_;
  std::map<jzx::ActorId, Given> given_;
  std::map<int, int> done_;
  std::vector<int> hopeless_;
};

}  // namespace

int main() {
  jzx::Loop loop;
  if (!loop || !loop.spawn([] { Boss().run(); })) return 1;
  return jzx::ok(loop.run()) ? 0 : 2;
}
