#include "study/sweep/store.hpp"

#include <fmt/format.h>

#include <utility>

#include "study/learning/learned_bytes.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/sweep/history_store.hpp"
#include "study/sweep/row_checksum.hpp"

namespace dadsim::study {
namespace {

constexpr double kMemory = 1e9;                // bytes
constexpr std::size_t kLargest = 900'000'000;  // bytes: SQLite takes at most 10⁹ in one value

std::string key_text(std::uint64_t key) { return fmt::format("{:016x}", key); }

double bytes_of(const LearnedRun& run) {
  double bytes = 0;
  for (const step::Step& step : run.trajectory.distinct_steps) {
    bytes += sizeof step + 4.0 * static_cast<double>(step.sizes.samples.size());
    for (const auto& numbers : step.sizes.slots)
      bytes += sizeof(std::vector<std::int32_t>) + 4.0 * static_cast<double>(numbers.size());
  }
  return bytes + 4.0 * static_cast<double>(run.trajectory.steps.size());
}

LearnedRunPtr read(Database& database, std::uint64_t key) {
  const std::lock_guard lock(database.mutex());
  Statement select(database, "SELECT run, checksum FROM learning WHERE key = ?");
  select << key_text(key);
  if (!select.step()) return nullptr;
  const std::string bytes = select.bytes(0);
  return select.integer(1) == checksum_of_learning(key_text(key), bytes) ? learned_from_bytes(bytes) : nullptr;
}

}  // namespace

std::int64_t checksum_of_learning(std::string_view key, std::string_view run) {
  return (RowChecksum() << key << run).value();
}

void copy_learning(Database& from, Database& to) {
  Statement select(from, "SELECT key, run, checksum FROM learning ORDER BY key");
  Statement insert(to, "INSERT OR IGNORE INTO learning VALUES(?,?,?)");
  while (select.step()) {
    const std::string key = select.text(0);
    const std::string run = select.bytes(1);
    if (select.integer(2) != checksum_of_learning(key, run)) continue;
    insert << key;
    insert.blob(run) << select.integer(2);
    insert.run();
  }
}

SweepLearningStore::SweepLearningStore(Database& file, Database* other, std::int64_t most_weights,
                                       std::shared_ptr<MemoryHistoryStore> memory)
    : file_(file), other_(other) {
  set_playground(
      std::make_shared<SharedCache>(std::make_shared<SweepHistoryStore>(file, other, most_weights, std::move(memory))));
}

LearnedRunPtr SweepLearningStore::find(std::uint64_t key) {
  if (const auto found = index_.find(key); found != index_.end()) {
    held_.splice(held_.begin(), held_, found->second);
    return found->second->run;
  }
  LearnedRunPtr run = read(file_, key);
  if (!run && other_ != nullptr) run = read(*other_, key);
  if (run) hold(key, run);
  return run;
}

void SweepLearningStore::keep(std::uint64_t key, const LearnedRunPtr& run) {
  ++learned_;
  hold(key, run);
  const std::string bytes = to_bytes(*run);
  if (bytes.size() > kLargest) return;
  Database::Transaction transaction(file_);
  Statement insert(file_, "INSERT OR REPLACE INTO learning VALUES(?,?,?)");
  insert << key_text(key);
  insert.blob(bytes) << checksum_of_learning(key_text(key), bytes);
  insert.run();
  transaction.commit();
}

void SweepLearningStore::hold(std::uint64_t key, const LearnedRunPtr& run) {
  held_.push_front({key, run, bytes_of(*run)});
  index_[key] = held_.begin();
  bytes_ += held_.front().bytes;
  while (bytes_ > kMemory && held_.size() > 1) {
    bytes_ -= held_.back().bytes;
    index_.erase(held_.back().key);
    held_.pop_back();
  }
}

}  // namespace dadsim::study
