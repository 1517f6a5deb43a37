#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/near_names.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::scenario {

/// Origin of a part of a scenario: a line of the file, or an override.
struct Origin {
  std::string override_text;  ///< "--set training.batch=64"; empty: the origin is in the file
  int line = 0;               ///< 1-based; 0 for an override
  bool operator==(const Origin&) const = default;
};

/// Collects all errors of one scenario.
class Findings {
 public:
  explicit Findings(std::string file) : file_(std::move(file)) {}

  void add(const Origin& origin, std::string what, std::string remedy);
  void add(const Origin& origin, Fault fault);
  /// Adds a fault in another file, unchanged.
  void add(Diagnostic diagnostic);
  /// Adds all errors of another file, by line.
  void take(const Findings& other);

  /// Returns suggestion(), or an empty text once no more findings are kept: near names take time to find.
  std::string suggest(std::string_view word, std::span<const std::string> candidates) const;
  /// Suggests a name of a catalogue, by common meanings too.
  std::string suggest(spec::NameKind kind, std::string_view word, std::span<const std::string> names) const;

  bool full() const;
  bool empty() const { return diagnostics_.empty(); }
  /// Returns the number of added findings, kept or not. It has grown if an error was found in between.
  std::size_t added() const { return added_; }
  /// Returns whether a finding belongs to that line, or to that override.
  bool any_at(const Origin& origin) const;

  /// Throws InputError if there are findings: those of the file by line, then those of overrides, then those of other
  /// files; at most 100, and the number of others.
  void throw_if_any() const;

 private:
  std::string file_;
  std::vector<Diagnostic> diagnostics_;
  std::size_t beyond_ = 0;  ///< number of findings after the limit
  std::size_t added_ = 0;
};

/// Returns `text` in a form for one-line messages: cut to 60 characters, control characters replaced.
std::string printable(std::string_view text);

}  // namespace dadsim::scenario
