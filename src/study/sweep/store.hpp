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

// The table `records` of a file of results: computed results by their keys. Its kind is "evaluation" or "weights" of
// event-driven runs, or "learned". A damaged record counts as missing: its contents are computed again.

/// Returns the value of a record; none if it is missing or damaged. Locks the database.
std::optional<std::string> find_record(Database& database, const std::string& key);

/// Writes records, within a transaction of the caller.
class RecordWriter {
 public:
  explicit RecordWriter(Database& database);
  void write(std::string_view kind, const std::string& key, std::string_view value);

 private:
  SqlStatement insert_;
};

void write_learned(RecordWriter& writer, std::uint64_t key, const LearnedRun& run);

/// Most bytes of weights in a file of results; evaluations, of a few bytes each, are always kept.
inline constexpr std::int64_t kMostHistoryBytes = 200'000'000;

/// Copies the records of `from` that `to` lacks, in the order of kinds and keys; weights only with `weights`, and
/// within kMostHistoryBytes.
void copy_records(Database& from, Database& to, bool weights);

/// Event-driven learning, in memory as far as it fits, and in a file of results: a sweep that continues after being
/// killed, or simulates in nearly the same order, learns only the differences. Records are written in groups, after a
/// second of learning at the latest, and by flush(). For several threads.
class SweepHistoryStore final : public world::HistoryStore {
 public:
  /// `file` keeps the learning; `other`, if any, is only read. `memory`: shared memory; none: a gigabyte of its own.
  /// Values that others put into shared memory are written to the file too, since the other file may be lost.
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
  std::set<world::ValueKey> in_file_;  ///< in the file, or about to be
  std::int64_t bytes_ = 0;             ///< bytes of weights in the file
  std::vector<Kept> pending_;
  std::int64_t pending_bytes_ = 0;
  std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
};

/// Learned runs in a gigabyte of memory, and in a file of results, which others may use at the same time.
class SweepLearningStore : public LearningStore {
 public:
  /// Arguments as in SweepHistoryStore.
  SweepLearningStore(Database& file, Database* other, std::int64_t most_weights,
                     std::shared_ptr<MemoryHistoryStore> memory = nullptr);

  LearnedRunPtr find(std::uint64_t key) override;
  void keep(std::uint64_t key, const LearnedRunPtr& run) override;

  std::int64_t learned() const { return learned_; }  ///< runs learned and kept since construction

 private:
  Database& file_;
  Database* other_;
  std::int64_t learned_ = 0;
};

}  // namespace dadsim::study
