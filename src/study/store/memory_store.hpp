#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/fingerprint.hpp"

namespace dadsim::study {

/// Cache of values by key, limited in memory: the least recently used values are dropped first. Keys without an order
/// are searched linearly. Thread-safe.
template <class Key, class Value>
class MemoryStore {
 public:
  explicit MemoryStore(double most_bytes = std::numeric_limits<double>::infinity()) : most_bytes_(most_bytes) {}

  std::optional<Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    return found(key);
  }
  /// Stores a value, unless the key has one. `bytes`: size of the value.
  void keep(const Key& key, Value value, double bytes = 0) {
    const std::lock_guard lock(mutex_);
    if (std::erase(claimed_, key) > 0) released_.notify_all();
    if (place_of(key) != entries_.end()) return;
    drop_beyond(most_bytes_ - bytes);
    entries_.push_front({key, std::move(value), bytes});
    if constexpr (kOrdered) index_[key] = entries_.begin();
    bytes_ += bytes;
  }
  /// Returns the value, or none. After none, the caller must compute the value and call keep(), or release() on
  /// failure; other callers of this key wait meanwhile. `bytes`: expected size, for which room is made at once.
  std::optional<Value> claim(const Key& key, double bytes = 0) {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [&] { return std::ranges::find(claimed_, key) == claimed_.end(); });
    std::optional<Value> value = found(key);
    if (value) return value;
    claimed_.push_back(key);
    drop_beyond(most_bytes_ - bytes);
    return value;
  }
  void release(const Key& key) {
    const std::lock_guard lock(mutex_);
    if (std::erase(claimed_, key) > 0) released_.notify_all();
  }
  /// Returns the value of a key. If it is missing, `ask` computes it, once for all threads.
  template <class Ask>
  Value answer(const Key& key, const Ask& ask) {
    if (std::optional<Value> known = claim(key, 1)) return *std::move(known);
    try {
      Value value = ask();
      keep(key, value, 1);
      return value;
    } catch (...) {
      release(key);
      throw;
    }
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
  std::optional<Value> found(const Key& key) {
    const auto place = place_of(key);
    if (place == entries_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, place);
    return place->value;
  }
  void drop_beyond(double bytes) {
    while (bytes_ > bytes && !entries_.empty()) {
      bytes_ -= entries_.back().bytes;
      if constexpr (kOrdered) index_.erase(entries_.back().key);
      entries_.pop_back();
    }
  }
  auto place_of(const Key& key) {
    if constexpr (kOrdered) {
      const auto found = index_.find(key);
      return found == index_.end() ? entries_.end() : found->second;
    } else {
      return std::ranges::find(entries_, key, &Entry::key);
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::vector<Key> claimed_;  ///< keys of values being computed
  double most_bytes_, bytes_ = 0;
  std::list<Entry> entries_;                                  ///< most recently used first
  std::map<Key, typename std::list<Entry>::iterator> index_;  ///< entries by key
};

/// Cache of a thousand answers by the texts of their questions. A text must contain everything that its answer depends
/// on.
template <class Answer>
class AnswerMemory {
 public:
  template <class Ask>
  Answer answer(const std::string& text, const Ask& ask) {
    return answers_.answer({fingerprint(text), text.size()}, ask);  // hashed, because a text may list 100,000 hosts
  }

 private:
  MemoryStore<std::pair<std::uint64_t, std::size_t>, Answer> answers_{1000};
};

}  // namespace dadsim::study
