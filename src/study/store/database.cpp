#include "study/store/database.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/last_resort.hpp"
#include "support/output_error.hpp"
#include "support/shell_word.hpp"
#include "support/whole_file.hpp"

namespace dadsim::study {

namespace {

/// Returns the SQLite URI of a file that is opened without creating files next to it (https://www.sqlite.org/uri.html).
std::string immutable_address(const std::string& path) {
  std::string address = "file:";
  for (const char c : path) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '.';
    address += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return address + "?immutable=1";
}

bool is_there(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

/// Returns the largest possible length of a value: the size of the file and its WAL, and 1 MB. A longer length is
/// damage, for which no memory is allocated.
int longest_value(const std::string& path) {
  constexpr std::uintmax_t kLeast = 1'000'000;  // bytes
  std::uintmax_t bytes = kLeast;
  for (const char* part : {"", "-wal"}) {
    std::error_code none;
    const std::uintmax_t size = std::filesystem::file_size(path + part, none);
    if (!none) bytes += size;
  }
  return static_cast<int>(std::min<std::uintmax_t>(bytes, 1'000'000'000));
}

// SQLite also returns SQLITE_NOMEM for sizes so large that it never calls its allocator; these occur only in damaged
// files. Only the allocator knows whether memory was denied.
sqlite3_mem_methods allocator;
thread_local bool was_denied = false;

void* noted(void* memory) {
  if (memory == nullptr) was_denied = true;
  return memory;
}

/// Makes SQLite note in `was_denied` that memory was denied. Returns false if SQLite is already in use in this process.
bool watch_allocator() {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &allocator) != SQLITE_OK) return false;
  sqlite3_mem_methods watched = allocator;
  watched.xMalloc = [](int bytes) { return noted(allocator.xMalloc(bytes)); };
  watched.xRealloc = [](void* old, int bytes) { return noted(allocator.xRealloc(old, bytes)); };
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &watched) == SQLITE_OK;
}

/// Returns whether watch_allocator() succeeded; calls it once. Must be called before the first use of SQLite.
bool allocator_is_watched() {
  static const bool watched = watch_allocator();
  return watched;
}

/// Waits until a file or a folder is on the disk. `whose`: name of the written file, for messages.
void sync(const std::string& path, const std::string& whose) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  // Some file systems do not support fsync() of a folder.
  if (!done && reason != EINVAL) throw OutputError(fmt::format("cannot write '{}': {}", whose, std::strerror(reason)));
}

}  // namespace

Database::Database(std::string path, Access access) : path_(std::move(path)), access_(access) {
  allocator_is_watched();
  const bool reads = access == Access::read || access == Access::look;
  leaves_index_ = access == Access::read && !is_there(path_ + "-shm");
  // If a journal is next to the file, SQLite undoes the interrupted change on opening, which requires write access.
  const bool undoes = access == Access::read && is_there(path_ + "-journal");
  const int flags = (reads && !undoes ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |  // NOLINT
                    (reads ? 0 : SQLITE_OPEN_CREATE) | (access == Access::look ? SQLITE_OPEN_URI : 0);
  const std::string name = access == Access::look     ? immutable_address(path_)
                           : access == Access::memory ? ":memory:"
                                                      : path_;
  const int code = sqlite3_open_v2(name.c_str(), &connection_, flags, nullptr);
  try {
    if (code != SQLITE_OK) fail(code);
    if (reads) sqlite3_limit(connection_, SQLITE_LIMIT_LENGTH, longest_value(path_));
    sqlite3_extended_result_codes(connection_, 1);
    sqlite3_busy_timeout(connection_, 2000);  // milliseconds
    if (access == Access::write) {
      // A write-ahead log costs one write per transaction and no wait for the disk. With exclusive locking it needs no
      // memory shared between processes, and so also works on network file systems.
      execute(
          "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; BEGIN IMMEDIATE; COMMIT");
    } else if (access == Access::memory) {
      execute("PRAGMA page_size=1024");  // fewer pages: results fill whole pages of each table
    } else if (access == Access::scratch) {
      execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
    } else {
      number("SELECT COUNT(*) FROM sqlite_schema");  // fails if the file is no database
    }
  } catch (...) {
    sqlite3_close(connection_);
    throw;
  }
}

Database::Database(std::string name, std::string_view bytes) : path_(std::move(name)), access_(Access::read) {
  allocator_is_watched();
  const int opened = sqlite3_open_v2(":memory:", &connection_, SQLITE_OPEN_READWRITE, nullptr);
  try {
    if (opened != SQLITE_OK) fail(opened);
    sqlite3_extended_result_codes(connection_, 1);
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    auto* image = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size() + 1));
    if (image == nullptr) throw std::bad_alloc();
    std::copy(bytes.begin(), bytes.end(), image);
    // The connection owns the image from here on, even if the call fails.
    const int code = sqlite3_deserialize(connection_, "main", image, size, size,
                                         SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
    if (code != SQLITE_OK) fail(code);
    number("SELECT COUNT(*) FROM sqlite_schema");  // fails if the file is no database
  } catch (...) {
    sqlite3_close(connection_);
    throw;
  }
}

std::string Database::bytes() {
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> image(sqlite3_serialize(connection_, "main", &size, 0),
                                                                      &sqlite3_free);
  if (image == nullptr) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(image.get()), static_cast<std::size_t>(size)};
}

void Database::close() {
  if (access_ == Access::write) execute("PRAGMA journal_mode=DELETE");
  sqlite3_close(std::exchange(connection_, nullptr));
  // SQLite does not report failures of closing.
  if (access_ == Access::write && is_there(path_ + "-journal"))
    throw OutputError(fmt::format("cannot write '{}': its journal remains; run the same command again", path_));
  if (access_ == Access::scratch) sync(path_, path_);
  if (access_ == Access::write || access_ == Access::scratch) {
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    sync(folder.empty() ? "." : folder, path_);
  }
}

Database::~Database() {
  if (connection_ == nullptr) return;
  if (interrupted().load()) ends_by_itself();  // checkpoints the log into the file
  // Removes the log, so that the file alone can also be read in a folder without write access. On failure the log
  // stays, and is read with the file.
  if (access_ == Access::write) sqlite3_exec(connection_, "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
  sqlite3_close(connection_);
  // A reader leaves the index of a killed process's log behind, and so does a killed process. Without a log the index
  // is useless.
  const bool without_log = access_ == Access::write && !is_there(path_ + "-wal");
  if ((leaves_index_ || without_log) && is_there(path_ + "-shm")) std::remove((path_ + "-shm").c_str());
}

void Database::fail(int code) const {
  std::string message = connection_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection_);
  const bool named_to_be_read = !trusted_ && (access_ == Access::read || access_ == Access::look);
  const auto refuse = [&](const char* what, const char* remedy) {
    throw InputError(Diagnostic{path_, 0, fmt::format("{}: {}", what, message), remedy});
  };
  switch (code & 0xFF) {  // NOLINT: the primary code
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw OutputError(fmt::format("cannot use '{}': another program is using it", path_));
    case SQLITE_FULL:
      throw OutputError(fmt::format("cannot write '{}': the disk is full", path_));
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
      break;
    case SQLITE_NOMEM:
      if (std::exchange(was_denied, false) || !allocator_is_watched()) throw std::bad_alloc();
      message = "a value has an impossible length";
      [[fallthrough]];
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      if (named_to_be_read) refuse("is not a file of a sweep, or is damaged", "name another file");
      throw OutputError(
          fmt::format("cannot use '{}': it is damaged: {}; dadsim merge NEW.sqlite {} --salvage "
                      "keeps undamaged results",
                      path_, message, shell_word(path_)));
    case SQLITE_CANTOPEN:
      if (named_to_be_read && connection_ != nullptr) throw_if_denied(path_, sqlite3_system_errno(connection_));
      [[fallthrough]];
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_TOOBIG:
      if (named_to_be_read) refuse("cannot be read", "name the file of a sweep");
      throw OutputError(fmt::format("cannot {} '{}': {}", access_ == Access::read ? "read" : "write", path_, message));
    default:
      // The program's own queries do not fail for other reasons.
      if (named_to_be_read) refuse("is not a file of a sweep, or is damaged", "name another file");
      break;
  }
  throw std::logic_error(fmt::format("SQLite, '{}': {}", path_, message));
}

void Database::execute(const std::string& statements) {
  const int code = sqlite3_exec(connection_, statements.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::optional<std::int64_t> Database::number(const std::string& statement) {
  SqlStatement one(*this, statement);
  if (!one.step()) return std::nullopt;
  return one.integer(0);
}

Database::Transaction::Transaction(Database& database) : database_(database), lock_(database.mutex_) {
  database_.execute("BEGIN IMMEDIATE");
}

Database::Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.connection_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void Database::Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
  lock_.unlock();  // the caller's block may begin another transaction
}

SqlStatement::SqlStatement(Database& database, const std::string& text) : database_(database) {
  const int code =
      sqlite3_prepare_v2(database.connection_, text.c_str(), static_cast<int>(text.size()), &statement_, nullptr);
  if (code != SQLITE_OK) database.fail(code);
}

SqlStatement::~SqlStatement() { sqlite3_finalize(statement_); }

SqlStatement& SqlStatement::bound(int code) {
  if (code != SQLITE_OK) database_.fail(code);  // a failed call leaves the parameter's previous value
  return *this;
}

/// Throws if memory was denied; otherwise a null pointer means NULL or an empty value.
void SqlStatement::check_memory(const void* bytes) const {
  if (bytes == nullptr && sqlite3_errcode(database_.connection_) == SQLITE_NOMEM) database_.fail(SQLITE_NOMEM);
}

SqlStatement& SqlStatement::operator<<(std::int64_t value) {
  return bound(sqlite3_bind_int64(statement_, ++bound_, value));
}

SqlStatement& SqlStatement::operator<<(double value) {
  return bound(sqlite3_bind_double(statement_, ++bound_, value));  // NaN becomes NULL
}

SqlStatement& SqlStatement::operator<<(std::string_view text) {
  return bound(sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT,  // NOLINT
                                   SQLITE_UTF8));
}

SqlStatement& SqlStatement::operator<<(const std::optional<double>& value) {
  return *this << value.value_or(std::numeric_limits<double>::quiet_NaN());
}

SqlStatement& SqlStatement::blob(std::string_view bytes) {
  return bound(sqlite3_bind_blob64(statement_, ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT));  // NOLINT
}

bool SqlStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  bound_ = 0;
  if (code != SQLITE_DONE) database_.fail(code);
  return false;
}

std::int64_t SqlStatement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double SqlStatement::real(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN() : sqlite3_column_double(statement_, column);
}

std::string SqlStatement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  check_memory(text);
  return text == nullptr ? "" : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

std::string SqlStatement::bytes(int column) const {
  const auto* blob = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  check_memory(blob);
  return blob == nullptr ? "" : std::string(blob, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

bool SqlStatement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

}  // namespace dadsim::study
