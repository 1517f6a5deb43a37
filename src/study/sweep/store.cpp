#include "study/sweep/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "study/learning/learned_bytes.hpp"
#include "support/fingerprint.hpp"

namespace dadsim::study {
namespace {

constexpr double kMemory = 1e9;                   // bytes
constexpr std::size_t kLargest = 900'000'000;     // bytes: SQLite takes at most 10⁹ in one value
constexpr std::int64_t kMostPending = 4'000'000;  // bytes
constexpr auto kLongestPending = std::chrono::seconds(1);

constexpr std::string_view kLearned = "learned", kEvaluation = "evaluation", kWeights = "weights";

/// Returns the checksum before a value in its record: SQLite detects inconsistent pages, but not a changed number in
/// one of them.
std::string print_of(std::string_view kind, std::string_view key, std::string_view value) {
  return fmt::format("{:016x}", fingerprint(value, fingerprint(key, fingerprint(kind))));
}

/// Returns the value in a record; none if it is damaged.
std::optional<std::string> value_in(std::string_view kind, std::string_view key, std::string_view record) {
  const std::size_t begin = std::min(record.size(), print_of({}, {}, {}).size());
  const std::string_view value = record.substr(begin);
  if (record.substr(0, begin) != print_of(kind, key, value)) return std::nullopt;
  return std::string(value);
}

std::string key_text(std::uint64_t key) { return fmt::format("{:016x}", key); }

std::string key_text(const world::ValueKey& key) { return key_text(key[0]) + key_text(key[1]); }

/// Returns whether a value is small: an evaluation has only scalars.
bool is_small(const world::Datum& datum) { return datum.numbers.empty(); }

world::DatumPtr find_datum(Database& database, const world::ValueKey& key) {
  const std::optional<std::string> value = find_record(database, key_text(key));
  return value ? datum_from_bytes(*value) : nullptr;
}

LearnedRunPtr find_run(Database& database, std::uint64_t key) {
  const std::optional<std::string> value = find_record(database, key_text(key));
  return value ? learned_from_bytes(*value) : nullptr;
}

std::int64_t weight_bytes(Database& database) {
  return database.number("SELECT SUM(LENGTH(value)) FROM records WHERE kind = 'weights'").value_or(0);
}

}  // namespace

std::optional<std::string> find_record(Database& database, const std::string& key) {
  const std::lock_guard lock(database.mutex());
  SqlStatement select(database, "SELECT kind, value FROM records WHERE key = ?");
  select << key;
  if (!select.step()) return std::nullopt;
  return value_in(select.text(0), key, select.bytes(1));
}

RecordWriter::RecordWriter(Database& database) : insert_(database, "INSERT OR REPLACE INTO records VALUES(?,?,?)") {}

void RecordWriter::write(std::string_view kind, const std::string& key, std::string_view value) {
  if (value.size() > kLargest) return;
  insert_ << key << kind;
  insert_.blob(print_of(kind, key, value).append(value)).run();
}

void write_learned(RecordWriter& writer, std::uint64_t key, const LearnedRun& run) {
  writer.write(kLearned, key_text(key), to_bytes(run));
}

void copy_records(Database& from, Database& to, bool weights) {
  std::int64_t bytes = weight_bytes(to);
  // Weights last, and all in the order of keys: the choice of weights that fit must not depend on anything else.
  SqlStatement select(from, "SELECT key, kind, value FROM records ORDER BY kind, key");
  SqlStatement insert(to, "INSERT OR IGNORE INTO records VALUES(?,?,?)");
  while (select.step()) {
    const std::string key = select.text(0);
    const std::string kind = select.text(1);
    const std::string record = select.bytes(2);
    if (!value_in(kind, key, record)) continue;
    if (kind == kWeights) bytes += static_cast<std::int64_t>(record.size());
    if (kind == kWeights && (!weights || bytes > kMostHistoryBytes)) break;
    insert << key << kind;
    insert.blob(record).run();
  }
}

SweepHistoryStore::SweepHistoryStore(Database& file, Database* other, std::int64_t most_bytes,
                                     std::shared_ptr<MemoryHistoryStore> memory)
    : file_(file),
      other_(other),
      most_bytes_(most_bytes),
      shares_memory_(memory != nullptr),
      memory_(memory != nullptr ? std::move(memory) : std::make_shared<MemoryHistoryStore>(kMemory)) {
  const std::lock_guard lock(file_.mutex());
  bytes_ = weight_bytes(file_);
}

SweepHistoryStore::~SweepHistoryStore() {
  try {
    flush();
  } catch (const std::exception&) {
    // A record that could not be written is learned again; the next writer reports the reason.
  }
}

world::DatumPtr SweepHistoryStore::find(const world::ValueKey& key) {
  if (world::DatumPtr datum = memory_->find(key)) {
    if (shares_memory_) keep_in_file(key, datum);
    return datum;
  }
  world::DatumPtr datum = find_datum(file_, key);
  if (!datum && other_ != nullptr) datum = find_datum(*other_, key);
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
  {
    const std::lock_guard lock(mutex_);
    const auto size = static_cast<std::int64_t>(datum->bytes());
    if (!is_small(*datum) && bytes_ + size > most_bytes_) return;
    if (!in_file_.insert(key).second) return;
    if (!is_small(*datum)) bytes_ += size;
    pending_.push_back({key, datum});
    pending_bytes_ += size;
    if (pending_bytes_ < kMostPending && std::chrono::steady_clock::now() - written_ < kLongestPending) return;
  }
  flush();
}

void SweepHistoryStore::flush() {
  std::vector<Kept> due;
  {
    const std::lock_guard lock(mutex_);
    due.swap(pending_);
    pending_bytes_ = 0;
    written_ = std::chrono::steady_clock::now();
  }
  if (due.empty()) return;
  Database::Transaction transaction(file_);
  RecordWriter writer(file_);
  for (const Kept& one : due)
    writer.write(is_small(*one.datum) ? kEvaluation : kWeights, key_text(one.key), to_bytes(*one.datum));
  transaction.commit();
}

SweepLearningStore::SweepLearningStore(Database& file, Database* other, std::int64_t most_weights,
                                       std::shared_ptr<MemoryHistoryStore> memory)
    : LearningStore(kMemory), file_(file), other_(other) {
  share(
      std::make_shared<SharedCache>(std::make_shared<SweepHistoryStore>(file, other, most_weights, std::move(memory))));
}

LearnedRunPtr SweepLearningStore::find(std::uint64_t key) {
  if (LearnedRunPtr known = LearningStore::find(key)) return known;
  LearnedRunPtr run = find_run(file_, key);
  if (!run && other_ != nullptr) run = find_run(*other_, key);
  if (run) LearningStore::keep(key, run);
  return run;
}

void SweepLearningStore::keep(std::uint64_t key, const LearnedRunPtr& run) {
  ++learned_;
  LearningStore::keep(key, run);
  Database::Transaction transaction(file_);
  RecordWriter writer(file_);
  write_learned(writer, key, *run);
  transaction.commit();
}

}  // namespace dadsim::study
