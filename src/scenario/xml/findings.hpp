#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/near_names.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::scenario {

/// Origin of a part of a scenario: a line of the file, or an override of the command line.
struct Origin {
  std::string override_text;  ///< "--set training.batch=64"; empty: a line of the file
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

  /// Returns suggestion(). Returns an empty text once the limit of findings is reached, because suggestions take time.
  std::string suggest(std::string_view word, std::span<const std::string> candidates) const;
  /// Suggests a name of a catalogue, also by frequent other names.
  std::string suggest(spec::NameKind kind, std::string_view word, std::span<const std::string> names) const;

  bool full() const;
  bool empty() const { return diagnostics_.empty(); }
  /// Returns the number of findings added so far, including those not kept. Callers compare two counts to detect errors
  /// in between.
  std::size_t added() const { return added_; }
  /// Returns whether a finding belongs to this line or override.
  bool any_at(const Origin& origin) const;

  /// Throws InputError if there are findings: those of the file by line, then those of overrides, then those of other
  /// files; at most 100, and the number of others.
  void throw_if_any() const;

 private:
  std::string file_;
  std::vector<Diagnostic> diagnostics_;
  std::size_t beyond_ = 0;  ///< number of findings not kept
  std::size_t added_ = 0;
};

/// Returns `text` for one-line messages: at most 60 characters, control characters replaced.
std::string printable(std::string_view text);

}  // namespace dadsim::scenario
