#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// Returns the manual page dadsim(1) for groff, made from --help of the program and of each command.
std::string manual_page();

/// Completions of the last word of a line.
struct Completion {
  struct Candidate {
    std::string text;  ///< the completed word
    std::string help;  ///< description of the word; may be empty
  };
  std::vector<Candidate> candidates;
  /// Ending of the names of possible files ("*": any), or "/" for folders only; empty: no files.
  std::string files;
};

/// Completes the command line in front of the cursor. Unquoted blanks separate words.
Completion complete(const std::string& line);

/// Answers `dadsim --complete LINE`, which the scripts of `dadsim support bash` and others call. Prints one candidate
/// per line, with its help after a tab, and at the end ":files ENDING" if files are possible. Throws UsageError.
std::string candidates_in_lines(const std::vector<std::string>& arguments);

}  // namespace dadsim::cli
