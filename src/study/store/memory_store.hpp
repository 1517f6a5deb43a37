#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "support/fingerprint.hpp"

namespace dadsim::study {

/// Values by their keys, in memory as far as they fit: the least recently used are dropped first. If keys cannot be
/// ordered, they are searched linearly. For several threads.
template <class Key, class Value>
class MemoryStore {
 public:
  explicit MemoryStore(double most_bytes = std::numeric_limits<double>::infinity()) : most_bytes_(most_bytes) {}

  std::optional<Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = place_of(key);
    if (found == entries_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, found);
    return found->value;
  }
  /// Keeps a value, unless the key has one already. `bytes`: size of the value.
  void keep(const Key& key, Value value, double bytes = 0) {
    const std::lock_guard lock(mutex_);
    if (place_of(key) != entries_.end()) return;
    entries_.push_front({key, std::move(value), bytes});
    if constexpr (kOrdered) index_[key] = entries_.begin();
    bytes_ += bytes;
    while (bytes_ > most_bytes_ && entries_.size() > 1) {
      bytes_ -= entries_.back().bytes;
      if constexpr (kOrdered) index_.erase(entries_.back().key);
      entries_.pop_back();
    }
  }
  /// Returns the value of a key, computed by `ask` if missing. Two threads that ask at once may both compute it.
  template <class Ask>
  Value answer(const Key& key, const Ask& ask) {
    if (std::optional<Value> known = find(key)) return *std::move(known);
    Value value = ask();
    keep(key, value, 1);
    return value;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }
  /// Calls `take` with each key and value, in the order of the keys.
  template <class Take>
  void each(const Take& take) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : index_) take(key, entry->value);
  }

 private:
  struct Entry {
    Key key;
    Value value;
    double bytes = 0;
  };
  static constexpr bool kOrdered = requires(const Key& key) { key < key; };
  auto place_of(const Key& key) {
    if constexpr (kOrdered) {
      const auto found = index_.find(key);
      return found == index_.end() ? entries_.end() : found->second;
    } else {
      return std::ranges::find(entries_, key, &Entry::key);
    }
  }

  mutable std::mutex mutex_;
  double most_bytes_, bytes_ = 0;
  std::list<Entry> entries_;                                  ///< most recently used first
  std::map<Key, typename std::list<Entry>::iterator> index_;  ///< entries by key
};

/// Keeps a thousand answers by the texts of their questions. A text must contain everything that its answer depends on.
template <class Answer>
class AnswerMemory {
 public:
  template <class Ask>
  Answer answer(const std::string& text, const Ask& ask) {
    return answers_.answer({fingerprint(text), text.size()}, ask);  // hashed: a text may list 100,000 hosts
  }

 private:
  MemoryStore<std::pair<std::uint64_t, std::size_t>, Answer> answers_{1000};
};

}  // namespace dadsim::study
