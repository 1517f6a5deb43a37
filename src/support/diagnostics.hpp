// Finds names near a misspelt word.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dadsim {

/// A fault in a part of the user's input, without its location.
struct Fault {
  std::string what;    ///< description of the fault
  std::string remedy;  ///< a valid alternative; may be empty
  /// True if the input is meaningful but not supported yet; false if it is wrong.
  bool not_built = false;
  /// True if the input is correct but infeasible: more than the memory holds, or a number that does not divide another.
  /// A sweep records the fault as the result of the point.
  bool infeasible = false;
  bool operator==(const Fault&) const = default;
};

/// Makes a fault about meaningful input that is not supported yet.
inline Fault not_built(std::string what, std::string remedy) { return {std::move(what), std::move(remedy), true}; }

/// Makes a fault about correct input that is infeasible.
inline Fault infeasible(std::string what, std::string remedy) {
  return {std::move(what), std::move(remedy), false, true};
}

/// One error in the user's input.
struct Diagnostic {
  std::string file;         ///< file, or "--set training.batch=0" for an override; empty: none
  int line = 0;             ///< line from 1; 0: none
  std::string what;         ///< the error
  std::string remedy;       ///< a valid alternative
  bool not_built = false;   ///< see Fault::not_built
  bool infeasible = false;  ///< see Fault::infeasible
};

/// Returns `file:line: what; remedy`, omitting empty parts.
std::string to_string(const Diagnostic& diagnostic);

/// Error for wrong input of any kind, with all its diagnostics. `what()` has one line for each.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  explicit InputError(Diagnostic diagnostic) : InputError(std::vector<Diagnostic>{std::move(diagnostic)}) {}
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  /// Returns whether all diagnostics are infeasible or not built, so that none is a mistake.
  bool is_infeasible() const;

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// Returns the candidate nearest to `word` by edit distance; an empty text if none is near enough.
std::string closest(std::string_view word, std::span<const std::string> candidates);

/// Returns "did you mean 'x'?" with at most three of the candidates that begin with the word or contain it, in any
/// case, if the word is long enough; otherwise with a similar candidate; otherwise "one of a, b, c", or the nearest if
/// there are many.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

/// Largest number of names that a message suggests.
inline constexpr std::size_t kMostSuggested = 3;

/// Returns the edit distance, counting a swap of adjacent characters as one edit (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the text with its ASCII letters in lower case.
std::string lower_case(std::string_view text);

/// Returns at most `most` distinct candidates, sorted by edit distance to `word` between letters in lower case.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t most);

/// Returns "did you mean 'a', 'b' or 'c'?" for at least one name.
std::string did_you_mean(std::span<const std::string> names);

}  // namespace dadsim
