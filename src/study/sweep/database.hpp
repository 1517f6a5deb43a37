#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace dadsim::study {

/// A connection to an SQLite file. Errors in writing (a full disk, a folder that is not writable, a file locked by
/// another program) throw OutputError; a file to read that is no database, or is damaged, InputError; a lack of
/// descriptors or memory, EnvironmentError.
class Database {
 public:
  enum class Access {
    read,     ///< an existing file; an interrupted change is undone, nothing else is written
    look,     ///< an existing file of another owner: no log or lock is made next to it, or examined
    write,    ///< an existing or new file; locked for others until it is closed
    scratch,  ///< written once by this process alone: no journal; the file is deleted on failure
    memory,   ///< no file: its contents are bytes(), and `path` is its name in messages
  };
  Database(std::string path, Access access);
  /// Opens the result of bytes() of another database, for reading; `name` is its name in messages.
  Database(std::string name, std::string_view bytes);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Closes it with everything on the disk: the log is folded in, and the folder's entry is written too. It cannot be
  /// used afterwards. Without this call errors at the end are not reported, and the log stays. Throws OutputError.
  void close();
  /// Returns the whole contents, as they would be in a file.
  std::string bytes();

  const std::string& path() const { return path_; }
  /// Marks the database as verified: the disk is then blamed for later read errors, which throw OutputError too.
  void trust() { trusted_ = true; }
  /// Executes statements without parameters and results, separated by semicolons.
  void execute(const std::string& statements);
  /// Returns the first column of the first row; none without a row.
  std::optional<std::int64_t> number(const std::string& statement);

  /// Returns the mutex to lock around statements if several threads use the database.
  std::mutex& mutex() { return mutex_; }

  /// Transaction: makes all changes or none, whatever happens to the process. Rolled back unless committed. Locks the
  /// mutex while open.
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
  bool leaves_index_ = false;  ///< files next to the database are its own, to be removed at the end
  sqlite3* connection_ = nullptr;
  std::mutex mutex_;
};

/// A prepared statement, used as often as needed: bind all, then step; rows are read by column from 0.
class SqlStatement {
 public:
  SqlStatement(Database& database, const std::string& text);
  ~SqlStatement();
  SqlStatement(const SqlStatement&) = delete;
  SqlStatement& operator=(const SqlStatement&) = delete;

  // Bind one parameter after the other. NaN is stored as NULL.
  SqlStatement& operator<<(std::int64_t value);
  SqlStatement& operator<<(double value);
  SqlStatement& operator<<(std::string_view text);
  SqlStatement& operator<<(const char* text) { return *this << std::string_view(text); }
  SqlStatement& operator<<(const std::optional<double>& value);
  SqlStatement& blob(std::string_view bytes);

  /// Returns whether there is a (further) row. After the last one the statement can be bound again.
  bool step();
  /// Runs a statement without rows.
  void run() { static_cast<void>(step()); }

  std::int64_t integer(int column) const;
  double real(int column) const;  ///< NULL becomes NaN
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
