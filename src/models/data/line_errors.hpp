#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/diagnostics.hpp"

namespace dadsim::models {

/// Collects the errors of one data file, line by line; the first kKept are kept.
class LineErrors {
 public:
  explicit LineErrors(std::string file) : file_(std::move(file)) {}

  void add(std::int64_t line, std::string what, std::string remedy) {
    if (errors_.size() < kKept) {
      constexpr std::int64_t kLast = std::numeric_limits<int>::max();
      errors_.push_back({file_, static_cast<int>(line < kLast ? line : kLast), std::move(what), std::move(remedy)});
    }
  }
  /// Appends the errors of another file.
  void add_all(const LineErrors& others) {
    for (const Diagnostic& error : others.errors_) {
      if (errors_.size() < kKept) errors_.push_back(error);
    }
  }
  bool full() const { return errors_.size() == kKept; }
  bool empty() const { return errors_.empty(); }
  std::size_t count() const { return errors_.size(); }

  /// Throws InputError if there are any.
  void throw_if_any() const {
    if (errors_.empty()) return;
    std::vector<Diagnostic> all = errors_;
    if (full()) all.push_back({file_, 0, "reading stopped after this many errors", "mend these first"});
    throw InputError(std::move(all));
  }

 private:
  static constexpr std::size_t kKept = 20;
  std::string file_;
  std::vector<Diagnostic> errors_;
};

}  // namespace dadsim::models
