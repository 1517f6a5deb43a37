#include "study/store/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "support/fingerprint.hpp"

namespace dadsim::study {
namespace {

constexpr std::size_t kLargest = 900'000'000;    // bytes; SQLite's limit on one value is 10⁹
constexpr std::size_t kMostPending = 4'000'000;  // bytes
constexpr auto kLongestPending = std::chrono::seconds(1);

/// Returns the checksum stored before a value in its record, because SQLite detects inconsistent pages, but not a
/// changed number in one of them.
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

/// Returns the value of a record; none if it is missing or damaged. Locks the database.
std::optional<std::string> find_record(Database& database, const std::string& key) {
  const std::lock_guard lock(database.mutex());
  SqlStatement select(database, "SELECT kind, value FROM records WHERE key = ?");
  select << key;
  if (!select.step()) return std::nullopt;
  return value_in(select.text(0), key, select.bytes(1));
}

std::int64_t weight_bytes(Database& database) {
  return database.number("SELECT SUM(LENGTH(value)) FROM records WHERE kind = 'weights'").value_or(0);
}

}  // namespace

RecordWriter::RecordWriter(Database& database) : insert_(database, "INSERT OR REPLACE INTO records VALUES(?,?,?)") {}

void RecordWriter::write(std::string_view kind, const std::string& key, std::string_view value) {
  if (value.size() > kLargest) return;
  insert_ << key << kind;
  insert_.blob(print_of(kind, key, value).append(value)).run();
}

void copy_records(Database& from, Database& to, bool weights) {
  std::int64_t bytes = weight_bytes(to);
  // Writes weights last, and all records in the order of keys, so that only keys and sizes decide which weights fit.
  SqlStatement select(from, "SELECT key, kind, value FROM records ORDER BY kind, key");
  SqlStatement insert(to, "INSERT OR IGNORE INTO records VALUES(?,?,?)");
  while (select.step()) {
    const std::string key = select.text(0);
    const std::string kind = select.text(1);
    const std::string record = select.bytes(2);
    if (!value_in(kind, key, record)) continue;
    if (kind == Records::kWeights) bytes += static_cast<std::int64_t>(record.size());
    if (kind == Records::kWeights && (!weights || bytes > kMostHistoryBytes)) break;
    insert << key << kind;
    insert.blob(record).run();
  }
}

Records::Records(Database& file, Database* other, std::int64_t most_weights)
    : file_(file), other_(other), most_weights_(most_weights) {
  const std::lock_guard lock(file_.mutex());
  weights_ = weight_bytes(file_);
}

Records::~Records() {
  try {
    flush();
  } catch (const std::exception&) {
    // A record that could not be written will be computed again; the next write reports the reason.
  }
}

std::optional<std::string> Records::find(const std::string& key) {
  std::optional<std::string> value = find_record(file_, key);
  return value || other_ == nullptr ? value : find_record(*other_, key);
}

void Records::keep(std::string_view kind, const std::string& key, std::size_t size,
                   std::function<std::string()> value) {
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t weights = kind == Records::kWeights ? static_cast<std::int64_t>(size) : 0;
    if (weights > 0 && weights_ + weights > most_weights_) return;
    if (!in_file_.insert(key).second) return;
    weights_ += weights;
    pending_.push_back({kind, key, std::move(value)});
    pending_bytes_ += size;
    if (kind != kLearned && pending_bytes_ < kMostPending &&
        std::chrono::steady_clock::now() - written_ < kLongestPending)
      return;
  }
  flush();
}

void Records::flush() {
  std::vector<Pending> due;
  {
    const std::lock_guard lock(mutex_);
    due.swap(pending_);
    pending_bytes_ = 0;
    written_ = std::chrono::steady_clock::now();
  }
  if (due.empty()) return;
  Database::Transaction transaction(file_);
  RecordWriter writer(file_);
  for (const Pending& one : due) writer.write(one.kind, one.key, one.value());
  transaction.commit();
}

}  // namespace dadsim::study
