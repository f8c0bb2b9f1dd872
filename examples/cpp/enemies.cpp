// enemies: a game loop. The controller of the enemies is an actor that runs by hand, once per
// frame; the enemies themselves are values in a handle pool, and handles to the dead find nobody.
//
//   frame: main ──Tick──▶ controller      spawns enemies, moves them, buries the dead
//          main ──DamageAll──▶ controller  now and then
//          main: controller.drain(), then "render"
#include <jzx/jzx.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr uint32_t kCapacity = 10'000;

struct Position {
  float x = 0;
  float y = 0;
  void move_toward(Position goal, float distance) {
    const float dx = goal.x - x;
    const float dy = goal.y - y;
    const float length = std::sqrt(dx * dx + dy * dy);
    if (length <= distance || length == 0) {
      *this = goal;
      return;
    }
    x += dx / length * distance;
    y += dy / length * distance;
  }
};

struct Enemy {
  int hp = 100;
  Position position;
  float speed = 1;
};

struct Tick {
  float dt;
};
struct DamageAll {
  int amount;
};
struct Report {};
struct Count {
  size_t alive = 0;
  size_t spawned = 0;
  size_t died = 0;
  size_t refused = 0;  // there was no room in the pool
};

class EnemyController {
 public:
  explicit EnemyController(jzx::HandlePool<Enemy>* pool) : pool_(*pool) {}

  void on(Tick tick) {
    accumulated_ += tick.dt;
    for (; accumulated_ >= kSpawnEvery; accumulated_ -= kSpawnEvery) spawn();
    for (const jzx::Handle<Enemy> handle : enemies_) {
      Enemy* enemy = pool_.get_mut(handle);
      if (enemy == nullptr) continue;
      enemy->position.move_toward(player_, tick.dt * enemy->speed);
      if (enemy->hp <= 0 && pool_.free(handle)) ++count_.died;
    }
    std::erase_if(enemies_, [&](jzx::Handle<Enemy> handle) { return !pool_.valid(handle); });
  }

  void on(DamageAll damage) {
    for (const jzx::Handle<Enemy> handle : enemies_) {
      if (Enemy* enemy = pool_.get_mut(handle)) enemy->hp -= damage.amount;
    }
  }

  Count on(Report) {
    count_.alive = pool_.size();
    return count_;
  }

 private:
  static constexpr float kSpawnEvery = 0.00025f;  // seconds

  void spawn() {
    const auto angle = static_cast<float>(count_.spawned);
    const auto made = pool_.make(Enemy{100, {100 * std::cos(angle), 100 * std::sin(angle)}, 5});
    if (!made) {
      ++count_.refused;
      return;
    }
    enemies_.push_back(*made);
    ++count_.spawned;
  }

  jzx::HandlePool<Enemy>& pool_;
  std::vector<jzx::Handle<Enemy>> enemies_;
  float accumulated_ = 0;
  Position player_;
  Count count_;
};

void show(const char* when, const Count& count) {
  std::printf("%s: %zu enemies alive, %zu spawned, %zu died, %zu had no room\n", when, count.alive,
              count.spawned, count.died, count.refused);
}

}  // namespace

int main() {
  jzx::Runtime runtime;
  if (!runtime) return 1;
  const auto pool = runtime.handle_pools().create<Enemy>(kCapacity);
  if (!pool) return 2;
  const auto controller = jzx::spawn_manual<EnemyController>(runtime, *pool);
  if (!controller) return 3;

  // What a frame asks of the controller is answered by the same drain.
  const auto report = [&] {
    auto answer = controller.ask(Report{});
    controller.drain();
    return *answer.get();
  };

  constexpr int kFrames = 400;
  const auto start = std::chrono::steady_clock::now();
  for (int frame = 1; frame <= kFrames; ++frame) {
    (void)controller.send(Tick{1.0f / 64});
    if (frame % 160 == 0) (void)controller.send(DamageAll{60});
    controller.drain();
    // ... render() ...
    if (frame == 159) show("before the first blow", report());
    if (frame == 321) show("after the second blow", report());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  show("at the end", report());
  std::printf("%d frames, %.0f frames per second\n", kFrames, kFrames / took.count());
  return 0;
}
