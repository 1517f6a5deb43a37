#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "study/learning/shared_cache.hpp"
#include "study/sweep/database.hpp"

namespace dadsim::study {

/// Bytes of weights and the like that a file of results keeps; evaluations, of some bytes each, are always kept.
inline constexpr std::int64_t kMostHistoryBytes = 200'000'000;

/// What was learned in the order of events, in memory as far as there is room, and in a file of results: a sweep that
/// is killed and goes on, and simulates in nearly the same order, learn only what differs. What is kept is written some
/// at a time, a second of learning later at most, and by flush(). For several threads.
class SweepHistoryStore final : public world::HistoryStore {
 public:
  /// `file` keeps what is learned; `other`, if there is one, is only read. `memory`: a gigabyte of its own where there
  /// is none; of one that others fill too the file keeps what is found there, as if it had been learned: whose file it
  /// came into before may be lost.
  SweepHistoryStore(Database& file, Database* other, std::int64_t most_bytes = kMostHistoryBytes,
                    std::shared_ptr<MemoryHistoryStore> memory = nullptr);

  ~SweepHistoryStore() override;
  SweepHistoryStore(const SweepHistoryStore&) = delete;
  SweepHistoryStore& operator=(const SweepHistoryStore&) = delete;

  world::DatumPtr find(const world::ValueKey& key) override;
  void keep(const world::ValueKey& key, const world::DatumPtr& datum) override;
  world::DatumPtr claim(const world::ValueKey& key) override;
  void release(const world::ValueKey& key) override { memory_->release(key); }
  void flush() override;  ///< throws OutputError

 private:
  struct Kept {
    world::ValueKey key;
    world::DatumPtr datum;
  };
  void keep_in_file(const world::ValueKey& key, const world::DatumPtr& datum);
  void write(const std::vector<Kept>& kept);

  Database& file_;
  Database* other_;
  std::int64_t most_bytes_;
  bool shares_memory_;
  std::shared_ptr<MemoryHistoryStore> memory_;
  std::mutex mutex_;
  std::set<world::ValueKey> in_file_;  ///< or about to be
  std::int64_t bytes_ = 0;             ///< of weights that are there
  std::vector<Kept> pending_;
  std::int64_t pending_bytes_ = 0;
  std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
};

/// Puts what `from` has of it into `to`: evaluations and, with `weights`, these within the bytes that a file keeps.
void copy_history(Database& from, Database& to, bool weights);

}  // namespace dadsim::study
