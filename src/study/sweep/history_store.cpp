#include "study/sweep/history_store.hpp"

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "study/learning/datum_bytes.hpp"
#include "study/sweep/row_checksum.hpp"

namespace dadsim::study {
namespace {

constexpr std::int64_t kMostPending = 4'000'000;  // bytes
constexpr auto kLongestPending = std::chrono::seconds(1);

std::string bytes_of(const world::ValueKey& key) {
  return {reinterpret_cast<const char*>(key.data()), sizeof(world::ValueKey)};
}

/// An evaluation has scalars alone.
bool is_small(const world::Datum& datum) { return datum.numbers.empty(); }

/// Of a row. One with another is as good as none: what it held is learned again.
std::int64_t history_checksum(std::string_view key, std::int64_t small, std::string_view datum) {
  return (RowChecksum() << key << small << datum).value();
}

world::DatumPtr read(Database& database, const world::ValueKey& key) {
  const std::lock_guard lock(database.mutex());
  Statement select(database, "SELECT small, datum, checksum FROM history WHERE key = ?");
  select.blob(bytes_of(key));
  if (!select.step()) return nullptr;
  const std::string datum = select.bytes(1);
  return select.integer(2) == history_checksum(bytes_of(key), select.integer(0), datum) ? datum_from_bytes(datum)
                                                                                        : nullptr;
}

std::int64_t weight_bytes(Database& database) {
  return database.number("SELECT SUM(LENGTH(datum)) FROM history WHERE small = 0").value_or(0);
}

constexpr const char* kInsert = "INSERT OR REPLACE INTO history VALUES(?,?,?,?)";

}  // namespace

SweepHistoryStore::SweepHistoryStore(Database& file, Database* other, std::int64_t most_bytes,
                                     std::shared_ptr<MemoryHistoryStore> memory)
    : file_(file),
      other_(other),
      most_bytes_(most_bytes),
      shares_memory_(memory != nullptr),
      memory_(memory != nullptr ? std::move(memory) : std::make_shared<MemoryHistoryStore>(1e9)) {
  const std::lock_guard lock(file_.mutex());
  bytes_ = weight_bytes(file_);
}

SweepHistoryStore::~SweepHistoryStore() {
  try {
    flush();
  } catch (const std::exception&) {
    // What could not be written is learned again; why it could not is said by whoever writes next.
  }
}

world::DatumPtr SweepHistoryStore::find(const world::ValueKey& key) {
  if (world::DatumPtr datum = memory_->find(key)) {
    if (shares_memory_) keep_in_file(key, datum);
    return datum;
  }
  world::DatumPtr datum = read(file_, key);
  if (!datum && other_ != nullptr) datum = read(*other_, key);
  if (datum) memory_->keep(key, datum);
  return datum;
}

world::DatumPtr SweepHistoryStore::claim(const world::ValueKey& key) {
  world::DatumPtr datum = memory_->claim(key);
  if (datum && shares_memory_) keep_in_file(key, datum);
  return datum;
}

void SweepHistoryStore::keep(const world::ValueKey& key, const world::DatumPtr& datum) {
  memory_->keep(key, datum);
  keep_in_file(key, datum);
}

void SweepHistoryStore::keep_in_file(const world::ValueKey& key, const world::DatumPtr& datum) {
  std::vector<Kept> due;
  {
    const std::lock_guard lock(mutex_);
    const auto size = static_cast<std::int64_t>(datum->bytes());
    if (!is_small(*datum) && bytes_ + size > most_bytes_) return;
    if (!in_file_.insert(key).second) return;
    if (!is_small(*datum)) bytes_ += size;
    pending_.push_back({key, datum});
    pending_bytes_ += size;
    if (pending_bytes_ < kMostPending && std::chrono::steady_clock::now() - written_ < kLongestPending) return;
    due.swap(pending_);
    pending_bytes_ = 0;
    written_ = std::chrono::steady_clock::now();
  }
  write(due);
}

void SweepHistoryStore::flush() {
  std::vector<Kept> due;
  {
    const std::lock_guard lock(mutex_);
    due.swap(pending_);
    pending_bytes_ = 0;
    written_ = std::chrono::steady_clock::now();
  }
  write(due);
}

void SweepHistoryStore::write(const std::vector<Kept>& kept) {
  if (kept.empty()) return;
  Database::Transaction transaction(file_);
  Statement insert(file_, kInsert);
  for (const Kept& one : kept) {
    const std::int64_t small = is_small(*one.datum) ? 1 : 0;
    const std::string datum = to_bytes(*one.datum);
    insert.blob(bytes_of(one.key)) << small;
    insert.blob(datum) << history_checksum(bytes_of(one.key), small, datum);
    insert.run();
  }
  transaction.commit();
}

void copy_history(Database& from, Database& to, bool weights) {
  std::int64_t bytes = weight_bytes(to);
  // Evaluations first, and then in the order of the keys: which of the weights fit must not depend on anything else.
  Statement select(from, "SELECT key, small, datum, checksum FROM history ORDER BY small DESC, key");
  Statement insert(to, kInsert);
  while (select.step()) {
    const std::string datum = select.bytes(2);
    if (select.integer(3) != history_checksum(select.bytes(0), select.integer(1), datum)) continue;
    const bool small = select.integer(1) != 0;
    if (!small && !weights) break;
    if (!small && bytes + static_cast<std::int64_t>(datum.size()) > kMostHistoryBytes) break;
    if (!small) bytes += static_cast<std::int64_t>(datum.size());
    insert.blob(select.bytes(0));
    insert << select.integer(1);
    insert.blob(datum) << select.integer(3);
    insert.run();
  }
}

}  // namespace dadsim::study
