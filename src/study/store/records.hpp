#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "study/store/database.hpp"

namespace dadsim::study {

/// Writes records to the table of a file of results, within a transaction of the caller.
class RecordWriter {
 public:
  explicit RecordWriter(Database& database);
  void write(std::string_view kind, const std::string& key, std::string_view value);

 private:
  SqlStatement insert_;
};

/// Largest number of bytes of weights in a file of results; evaluations take a few bytes each, and are always kept.
inline constexpr std::int64_t kMostHistoryBytes = 200'000'000;

/// Copies the records of `from` that `to` lacks, by kind and key. Copies weights only with `weights`, up to
/// kMostHistoryBytes.
void copy_records(Database& from, Database& to, bool weights);

/// The table `records` of a file of results: what was worked out, as bytes by key and kind. Thread-safe. A sweep that
/// continues after being killed, or simulates in nearly the same order, learns only the differences. Records of
/// event-driven runs are written in groups, after a second of learning at the latest. A damaged record counts as
/// missing: its contents are computed again.
class Records {
 public:
  /// Kinds of records: a learned run; of event-driven runs, weights and values of a few scalars.
  static constexpr std::string_view kLearned = "learned", kWeights = "weights", kEvaluation = "evaluation";

  /// `file`: keeps the records. `other`: a second file to read from; may be null.
  explicit Records(Database& file, Database* other = nullptr, std::int64_t most_weights = kMostHistoryBytes);
  ~Records();
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  /// Returns the value of a record; none if it is missing or damaged.
  std::optional<std::string> find(const std::string& key);
  /// Stores a record, unless the key has one, or there are too many weights. `size`: bytes of the value in memory.
  /// `value` is called when the record is written: a learned run at once, others by flush() at the latest.
  void keep(std::string_view kind, const std::string& key, std::size_t size, std::function<std::string()> value);
  void flush();  ///< throws OutputError

 private:
  struct Pending {
    std::string_view kind;
    std::string key;
    std::function<std::string()> value;
  };

  Database& file_;
  Database* other_;
  std::int64_t most_weights_;
  std::mutex mutex_;
  std::set<std::string> in_file_;  ///< keys of records in the file, or soon to be written
  std::int64_t weights_ = 0;       ///< bytes of weights in the file
  std::vector<Pending> pending_;
  std::size_t pending_bytes_ = 0;
  std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
};

}  // namespace dadsim::study
