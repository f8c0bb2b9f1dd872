#include "model/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace jzx::base::model {

namespace {

bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst || order == std::memory_order_consume;
}
bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

}  // namespace

Memory::Memory() : cells_(kTableSize / 2), table_(kTableSize) {}

void Memory::clear() noexcept {
  for (Clock& clock : clocks_) clock = Clock{};
  used_ = 0;
  heavy_barriers_ = 0;
  for (uint32_t& known : barriers_known_) known = 0;
  ++run_;
}

void Memory::heavy_barrier(uint32_t thread) noexcept {
  for (uint32_t i = 0; i < used_; ++i) {
    Cell& cell = cells_[i];
    if (cell.is_alive && cell.is_atomic) cell.barrier_floor = cell.newest();
  }
  ++heavy_barriers_;
  light_barrier(thread);
}

void Memory::light_barrier(uint32_t thread) noexcept {
  if (std::exchange(barriers_known_[thread], heavy_barriers_) == heavy_barriers_) return;
  for (uint32_t i = 0; i < used_; ++i) {
    uint32_t& floor = cells_[i].fair_floor[thread];
    floor = std::max(floor, cells_[i].barrier_floor);
  }
}

Cell& Memory::create(uint32_t thread, const void* address, bool is_atomic,
                     uint64_t value) noexcept {
  Cell* cell = find(address);
  if (cell == nullptr) {
    if (used_ == cells_.size()) {
      std::fprintf(stderr, "model: more than %zu shared words in one run\n", cells_.size());
      std::abort();
    }
    auto at = reinterpret_cast<uintptr_t>(address) * 0x9e3779b97f4a7c15u >> (64 - kTableBits);
    while (table_[at].run == run_) at = (at + 1) % kTableSize;
    table_[at] = Entry{run_, used_};
    cell = &cells_[used_];
    cell->number = used_++;
    cell->address = address;
  }
  cell->is_atomic = is_atomic;
  cell->is_alive = true;
  cell->born = Stamp{thread, clocks_[thread].time[thread]};
  for (uint32_t& time : cell->last_access) time = 0;
  cell->last_access[thread] = cell->born.time;
  cell->stores.clear();
  for (auto& seen : cell->seen) seen.clear();
  cell->seq_cst_floor = 0;
  for (uint32_t& floor : cell->fair_floor) floor = 0;
  cell->barrier_floor = 0;
  cell->last_write = cell->born;
  if (is_atomic) cell->stores.push_back(Store{value, Clock{}});
  return *cell;
}

Cell* Memory::find(const void* address) noexcept {
  auto at = reinterpret_cast<uintptr_t>(address) * 0x9e3779b97f4a7c15u >> (64 - kTableBits);
  for (; table_[at].run == run_; at = (at + 1) % kTableSize) {
    Cell& cell = cells_[table_[at].cell];
    if (cell.address == address) return &cell;
  }
  return nullptr;
}

uint32_t Memory::conflicting(uint32_t thread, const Cell& cell, bool writes_only) const noexcept {
  const Clock& clock = clocks_[thread];
  if (!clock.covers(cell.last_write)) return cell.last_write.thread;
  if (writes_only) return kNobody;
  for (uint32_t other = 0; other < kMaxThreads; ++other) {
    if (!clock.covers(Stamp{other, cell.last_access[other]})) return other;
  }
  return kNobody;
}

void Memory::note_plain(uint32_t thread, Cell& cell, bool is_write) noexcept {
  const uint32_t now = clocks_[thread].time[thread];
  cell.last_access[thread] = now;
  if (is_write) cell.last_write = Stamp{thread, now};
}

uint32_t Memory::floor(uint32_t thread, const Cell& cell, std::memory_order order) const noexcept {
  uint32_t floor = cell.fair_floor[thread];
  if (order == std::memory_order_seq_cst) floor = std::max(floor, cell.seq_cst_floor);
  for (uint32_t other = 0; other < kMaxThreads; ++other) {
    // What a thread has seen only grows, so the last entry that happens before now says most.
    const auto& seen = cell.seen[other];
    for (size_t i = seen.size(); i-- > 0;) {
      if (seen[i].time > clocks_[thread].time[other]) continue;
      floor = std::max(floor, seen[i].index);
      break;
    }
  }
  return floor;
}

void Memory::candidates(uint32_t thread, const Cell& cell, std::memory_order order,
                        std::vector<uint32_t>& result) const {
  result.clear();
  const uint32_t oldest = floor(thread, cell, order);
  const Clock& clock = clocks_[thread];
  // Choosing `other` instead of a newer store with the same value leaves more possible: it makes
  // the thread know no more, and later loads may return more.
  const auto says_all = [&](const Store& other, const Store& newer) {
    if (other.value != newer.value) return false;
    if (!acquires(order)) return true;
    Clock known = clock;
    known.join(newer.release);
    return known.covers(other.release);
  };
  for (uint32_t index = cell.newest() + 1; index-- > oldest;) {
    bool is_needed = true;
    for (uint32_t other = oldest; other < index && is_needed; ++other) {
      is_needed = !says_all(cell.stores[other], cell.stores[index]);
    }
    if (is_needed) result.push_back(index);
  }
}

void Memory::note_seen(uint32_t thread, Cell& cell, uint32_t index) noexcept {
  const uint32_t now = clocks_[thread].time[thread];
  cell.last_access[thread] = now;
  auto& seen = cell.seen[thread];
  if (seen.empty() || seen.back().index != index) seen.push_back({now, index});
}

uint64_t Memory::read(uint32_t thread, Cell& cell, uint32_t index,
                      std::memory_order order) noexcept {
  const Store& store = cell.stores[index];
  note_seen(thread, cell, index);
  if (acquires(order)) clocks_[thread].join(store.release);
  if (order == std::memory_order_seq_cst) cell.seq_cst_floor = std::max(cell.seq_cst_floor, index);
  return store.value;
}

void Memory::write(uint32_t thread, Cell& cell, uint64_t value, std::memory_order order,
                   bool after_read) noexcept {
  Store store{value, Clock{}};
  if (after_read) store.release = cell.stores.back().release;
  if (releases(order)) store.release.join(clocks_[thread]);
  cell.stores.push_back(store);
  note_seen(thread, cell, cell.newest());
  if (order == std::memory_order_seq_cst) cell.seq_cst_floor = cell.newest();
}

bool Memory::refresh(uint32_t thread, Cell& cell) const noexcept {
  if (floor(thread, cell, std::memory_order_relaxed) == cell.newest()) return false;
  cell.fair_floor[thread] = cell.newest();
  return true;
}

}  // namespace jzx::base::model
