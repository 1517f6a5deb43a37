#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dadsim {

/// A map with 64-bit keys in contiguous memory (open addressing with linear probing), for millions of small values.
/// Entries can only be removed all at once.
template <class Value>
class FlatMap {
 public:
  /// Returns the key's value, and whether it was inserted now; a missing value is a copy of `value`. The pointer is
  /// valid until the next insertion.
  std::pair<Value*, bool> try_emplace(std::uint64_t key, const Value& value) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    if (slot.used) return {&slot.value, false};
    slot = {key, value, true};
    ++size_;
    return {&slot.value, true};
  }

  /// Returns the key's value; nullptr if it is missing.
  const Value* find(std::uint64_t key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.used ? &slot.value : nullptr;
  }

  std::size_t size() const { return size_; }
  void clear() {
    slots_.clear();
    size_ = 0;
  }
  /// Reserves memory for `count` entries.
  void reserve(std::size_t count) {
    while (slots_.size() < 2 * count + 2) grow();
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Value value{};
    bool used = false;
  };

  /// Returns the index of the slot that has the key, or that it would take. Keys are multiplied (D. E. Knuth, The Art
  /// of Computer Programming, volume 3, section 6.4), because addresses and consecutive numbers would otherwise
  /// cluster.
  std::size_t place_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t spread = key * 0x9e3779b97f4a7c15ULL;
    std::size_t place = static_cast<std::size_t>(spread ^ (spread >> 32U)) & mask;
    while (slots_[place].used && slots_[place].key != key) place = (place + 1) & mask;
    return place;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.used) slots_[place_of(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace dadsim
