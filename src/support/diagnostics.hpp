#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dadsim {

/// What is wrong with a part of the user's input, said by who does not know where it stands.
struct Fault {
  std::string what;    ///< what is wrong
  std::string remedy;  ///< what would be right; may be empty
  /// It would mean something, and dadsim cannot do it yet. Otherwise it means nothing, or is wrong.
  bool not_built = false;
  /// It is said right, and does not go: more than a memory holds, or a number that does not divide another. Of many
  /// points such a one is a result.
  bool infeasible = false;
  bool operator==(const Fault&) const = default;
};

/// Something that could be had, and is not built.
inline Fault not_built(std::string what, std::string remedy) { return {std::move(what), std::move(remedy), true}; }

/// Something that is said right, and does not go.
inline Fault infeasible(std::string what, std::string remedy) {
  return {std::move(what), std::move(remedy), false, true};
}

/// One thing that is wrong with the user's input.
struct Diagnostic {
  std::string file;         ///< the file, or "--set training.batch=0" for an override; empty if there is none
  int line = 0;             ///< 1-based; 0 if there is none
  std::string what;         ///< what is wrong
  std::string remedy;       ///< what would be right
  bool not_built = false;   ///< as Fault::not_built
  bool infeasible = false;  ///< as Fault::infeasible
};

/// `file:line: what; remedy`, leaving out what is empty.
std::string to_string(const Diagnostic& diagnostic);

/// Wrong input of any kind, carrying everything that is wrong with it. `what()` has one line per diagnostic.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  explicit InputError(Diagnostic diagnostic) : InputError(std::vector<Diagnostic>{std::move(diagnostic)}) {}
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  /// Whether all that is wrong is infeasible, or not built: nothing is a mistake.
  bool is_infeasible() const;

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// The candidate nearest to `word` by edit distance, or an empty string where none is near enough to be meant.
std::string closest(std::string_view word, std::span<const std::string> candidates);

/// "did you mean 'x'?" of the candidates that begin with the word or hold it, whatever its case, where those are few;
/// else of the one that is near; else "one of a, b, c".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace dadsim
