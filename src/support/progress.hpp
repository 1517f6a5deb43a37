#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace dadsim {

/// Progress of a phase on standard error. On a terminal one line is rewritten; otherwise a line is printed after 20
/// seconds, and then each time the elapsed time has doubled.
class ProgressLine {
 public:
  explicit ProgressLine(double first = 20) : start_(std::chrono::steady_clock::now()), next_(first) {}
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  void show(const std::string& text);
  /// Clears the line of a terminal.
  void clear();

 private:
  std::chrono::steady_clock::time_point start_;
  double next_;  ///< seconds after the beginning from which the next line may be printed
};

/// Reports the progress of a phase and its remaining time. Safe to call from several threads.
class Progress {
 public:
  /// `parts`: number of parts that run in parallel (the runs of a scenario).
  Progress(std::string what, std::size_t parts, bool enabled);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::size_t part, std::int64_t done, std::int64_t total);
  /// Prints the result of `text` in place of a share, if an output is due.
  void say(const std::function<std::string()>& text);

 private:
  bool is_due();
  void print();

  std::string what_;
  bool enabled_;
  std::mutex mutex_;
  std::vector<double> share_;
  ProgressLine line_;
  double last_ = 0;  ///< date of the last output by `line_`, seconds; −1: none yet
};

}  // namespace dadsim
