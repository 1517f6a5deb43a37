#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostics.hpp"

namespace dadsim::scenario {

/// Where a piece of a scenario comes from: a line of the file, or an override.
struct Origin {
  std::string override_text;  ///< "--set training.batch=64"; empty if it stands in the file
  int line = 0;               ///< 1-based; 0 for an override
  bool operator==(const Origin&) const = default;
};

/// Collects everything that is wrong with one scenario.
class Findings {
 public:
  explicit Findings(std::string file) : file_(std::move(file)) {}

  void add(const Origin& origin, std::string what, std::string remedy);
  void add(const Origin& origin, Fault fault);
  /// A fault in another file, reported unchanged.
  void add(Diagnostic diagnostic);
  /// Everything that is wrong with another file, by line.
  void take(const Findings& other);

  /// As suggestion(), but empty once no more findings are kept: near names take time to find.
  std::string suggest(std::string_view word, std::span<const std::string> candidates) const;

  bool full() const;
  bool empty() const { return diagnostics_.empty(); }
  /// How often something was added, kept or not: it has grown if something was wrong in between.
  std::size_t added() const { return added_; }
  /// Whether something was found on that line, or with that override.
  bool any_at(const Origin& origin) const;

  /// Throws InputError if there are findings: those of the file by line, then those of overrides, then those of other
  /// files; at most 100, and how many more there are.
  void throw_if_any() const;

 private:
  std::string file_;
  std::vector<Diagnostic> diagnostics_;
  std::size_t beyond_ = 0;  ///< found after so many that no more were kept
  std::size_t added_ = 0;
};

/// `text` as it can stand in a one-line message: cut to 60 characters, control characters replaced.
std::string printable(std::string_view text);

}  // namespace dadsim::scenario
