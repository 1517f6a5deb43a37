#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace dadsim::study {

/// A connection to an SQLite file. Throws OutputError for errors in writing (a full disk, a folder that is not
/// writable, a file locked by another program); InputError for a file to read that is no database, or is damaged;
/// EnvironmentError for a lack of descriptors or memory.
class Database {
 public:
  enum class Access {
    read,     ///< existing file; read-only, except that an interrupted change is undone
    look,     ///< existing file of another owner; no log or lock is created or examined
    write,    ///< existing or new file; locked for others until it is closed
    scratch,  ///< file written once by this process alone: no journal; deleted on failure
    memory,   ///< no file: its contents are bytes(), and `path` is its name in messages
  };
  Database(std::string path, Access access);
  /// Opens the bytes() of another database for reading. `name`: its name in messages.
  Database(std::string name, std::string_view bytes);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Closes the database: checkpoints and removes the WAL, and syncs the folder. The object cannot be used afterwards.
  /// The destructor closes it too, but does not sync, and reports no errors. Throws OutputError.
  void close();
  /// Returns the whole contents, in the form of a file.
  std::string bytes();

  const std::string& path() const { return path_; }
  /// Marks the database as verified: from then on, read errors are errors of the disk (OutputError).
  void trust() { trusted_ = true; }
  /// Executes statements without parameters and results, separated by semicolons.
  void execute(const std::string& statements);
  /// Returns the first column of the first row; none without a row.
  std::optional<std::int64_t> number(const std::string& statement);

  /// Returns the mutex that threads sharing the database must lock around statements.
  std::mutex& mutex() { return mutex_; }

  /// Transaction: makes all changes or none, even if the process ends. Rolled back unless committed. Locks the mutex
  /// while open.
  class Transaction {
   public:
    explicit Transaction(Database& database);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

   private:
    Database& database_;
    std::unique_lock<std::mutex> lock_;
    bool open_ = true;
  };

 private:
  friend class SqlStatement;
  [[noreturn]] void fail(int code) const;

  std::string path_;
  Access access_;
  bool trusted_ = false;
  bool leaves_index_ = false;  ///< true: a reader found no index next to the database, so closing removes the one that
                               ///< it created
  sqlite3* connection_ = nullptr;
  std::mutex mutex_;
};

/// A prepared statement, for repeated use: bind all parameters, then step. Columns of a row are numbered from 0.
class SqlStatement {
 public:
  SqlStatement(Database& database, const std::string& text);
  ~SqlStatement();
  SqlStatement(const SqlStatement&) = delete;
  SqlStatement& operator=(const SqlStatement&) = delete;

  // Bind the next parameter. NaN is stored as NULL.
  SqlStatement& operator<<(std::int64_t value);
  SqlStatement& operator<<(double value);
  SqlStatement& operator<<(std::string_view text);
  SqlStatement& operator<<(const char* text) { return *this << std::string_view(text); }
  SqlStatement& operator<<(const std::optional<double>& value);
  SqlStatement& blob(std::string_view bytes);

  /// Advances to the next row. Returns false after the last one; parameters can then be bound again.
  bool step();
  /// Runs a statement without rows.
  void run() { static_cast<void>(step()); }

  std::int64_t integer(int column) const;
  double real(int column) const;  ///< Returns a number; NaN for NULL.
  std::string text(int column) const;
  std::string bytes(int column) const;
  bool is_null(int column) const;

 private:
  SqlStatement& bound(int code);
  void check_memory(const void* bytes) const;

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

}  // namespace dadsim::study
