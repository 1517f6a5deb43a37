#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace dadsim {

/// What a phase shows on standard error: on a terminal one line that is written anew, elsewhere a line after 20 seconds
/// and then whenever it has gone on for twice as long.
class ProgressLine {
 public:
  explicit ProgressLine(double first = 20) : start_(std::chrono::steady_clock::now()), next_(first) {}
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  void show(const std::string& text);
  /// Leaves the line of a terminal empty.
  void clear();

 private:
  std::chrono::steady_clock::time_point start_;
  double next_;  ///< seconds: of the next line
};

/// Says how far a phase is and how long it will still take. Safe to call from several threads.
class Progress {
 public:
  /// `parts` work side by side (the runs of a scenario).
  Progress(std::string what, std::size_t parts, bool enabled);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::size_t part, std::int64_t done, std::int64_t total);
  /// Shows what `text` gives in place of a share, where the line is due to be written anew.
  void say(const std::function<std::string()>& text);

 private:
  bool is_due();
  void print();

  std::string what_;
  bool enabled_;
  std::mutex mutex_;
  std::vector<double> share_;
  ProgressLine line_;
  double last_ = 0;  ///< seconds: when something was shown
};

}  // namespace dadsim
