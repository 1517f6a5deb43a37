#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace dadsim {

/// One line on the terminal that says how far a phase is and how long it will still take. Prints nothing unless
/// standard error is a terminal. Safe to call from several threads.
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
  void print();

  std::string what_;
  bool enabled_;
  std::mutex mutex_;
  std::vector<double> share_;
  std::chrono::steady_clock::time_point start_, last_;
};

/// Whether progress would be seen.
bool standard_error_is_terminal();

}  // namespace dadsim
