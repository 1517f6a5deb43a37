#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "study/learning/learned.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/sweep/database.hpp"

namespace dadsim::study {

// The table `records` of a file of results: what was worked out, by its key. Its kind is "evaluation" or "weights" of
// event-driven runs, or "learned". A record that is not as it was written is as good as none: what it held is worked
// out again.

/// The value of a record; nothing where there is none, or it is damaged. Locks the database.
std::optional<std::string> find_record(Database& database, const std::string& key);

/// Writes records within a transaction of the caller's.
class RecordWriter {
 public:
  explicit RecordWriter(Database& database);
  void write(std::string_view kind, const std::string& key, std::string_view value);

 private:
  Statement insert_;
};

void write_learned(RecordWriter& writer, std::uint64_t key, const LearnedRun& run);

/// Bytes of weights that a file of results keeps; evaluations, of some bytes each, are always kept.
inline constexpr std::int64_t kMostHistoryBytes = 200'000'000;

/// Puts the records of `from` that `to` lacks into it, in the order of kinds and keys; weights only with `weights`, and
/// within kMostHistoryBytes.
void copy_records(Database& from, Database& to, bool weights);

/// What was learned in the order of events, in memory as far as there is room, and in a file of results: a sweep that
/// is killed and goes on, and simulates in nearly the same order, learn only what differs. Records are written some
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

/// Learned runs in a gigabyte of memory, and in a file of results, which others may use meanwhile.
class SweepLearningStore : public LearningStore {
 public:
  /// See SweepHistoryStore.
  SweepLearningStore(Database& file, Database* other, std::int64_t most_weights,
                     std::shared_ptr<MemoryHistoryStore> memory = nullptr);

  LearnedRunPtr find(std::uint64_t key) override;
  void keep(std::uint64_t key, const LearnedRunPtr& run) override;

  std::int64_t learned() const { return learned_; }  ///< kept, and so learned, since it was made

 private:
  Database& file_;
  Database* other_;
  std::int64_t learned_ = 0;
};

}  // namespace dadsim::study
