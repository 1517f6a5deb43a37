#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace dadsim::study {

/// A connection to an SQLite file. What fails while writing (a full disk, a folder that is not writable, a file that
/// another program has locked) throws OutputError; a file to read that is no database, or is damaged, InputError; one
/// that there is no descriptor or memory for, EnvironmentError.
class Database {
 public:
  enum class Access {
    read,     ///< a file that is there; a change of it that was cut short is undone, and nothing else written
    look,     ///< the same of somebody else's file: no log or lock is made beside it, and none is looked at
    write,    ///< a file that is there or is made; locked for others until it is closed
    scratch,  ///< written once by nobody else: no journal, the file is thrown away if that fails
    memory,   ///< no file: it is had as bytes(), and `path` is what messages call it
  };
  Database(std::string path, Access access);
  /// What bytes() of another database gave, to be read; `name` is what messages call it.
  Database(std::string name, std::string_view bytes);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Ends with all of it on the disk: the log is folded in, and its place in the folder is written too. Nothing may be
  /// asked of it afterwards. Without this call what fails at the end is not said, and the log stays. Throws
  /// OutputError.
  void close();
  /// All of it, as it would stand in a file.
  std::string bytes();

  const std::string& path() const { return path_; }
  /// From now on it has been found whole: where it cannot be read any more, the disk is at fault and not who named it,
  /// and that is an OutputError too.
  void trust() { trusted_ = true; }
  /// Statements without parameters and results, with semicolons between them.
  void execute(const std::string& statements);
  /// The first column of the first row, nothing where there is no row.
  std::optional<std::int64_t> number(const std::string& statement);

  /// To be locked around statements where several threads use the database.
  std::mutex& mutex() { return mutex_; }

  /// All or nothing, whatever happens to the process: rolled back unless committed. Locks the mutex while it is open.
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
  friend class Statement;
  [[noreturn]] void fail(int code) const;

  std::string path_;
  Access access_;
  bool trusted_ = false;
  bool leaves_index_ = false;  ///< what it finds beside the file when it ends is its own
  sqlite3* connection_ = nullptr;
  std::mutex mutex_;
};

/// A prepared statement, used as often as needed: bind all, then step; rows are read by column from 0.
class Statement {
 public:
  Statement(Database& database, const std::string& text);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // One parameter after the other. Not a number is stored as NULL.
  Statement& operator<<(std::int64_t value);
  Statement& operator<<(double value);
  Statement& operator<<(std::string_view text);
  Statement& operator<<(const char* text) { return *this << std::string_view(text); }
  Statement& operator<<(const std::optional<double>& value);
  Statement& blob(std::string_view bytes);

  /// Whether there is a (further) row. After the last one the statement is ready to be bound again.
  bool step();
  /// For a statement without rows.
  void run() { static_cast<void>(step()); }

  std::int64_t integer(int column) const;
  double real(int column) const;  ///< NULL is not a number
  std::string text(int column) const;
  std::string bytes(int column) const;
  bool is_null(int column) const;

 private:
  Statement& bound(int code);
  void check_memory(const void* bytes) const;

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

}  // namespace dadsim::study
