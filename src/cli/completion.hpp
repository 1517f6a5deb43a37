#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// Returns the manual page dadsim(1) for groff, made from --help of the program and of each command.
std::string manual_page();

/// Completions of the last word of a line.
struct Completion {
  struct Candidate {
    std::string text;  ///< completed word
    std::string help;  ///< description of the word; may be empty
  };
  std::vector<Candidate> candidates;
  /// Ending of file names that also complete the word ("*": any), or "/" for folders only; empty: no files.
  std::string files;
};

/// Returns completions for the command line up to the cursor. Unquoted blanks separate words.
Completion complete(const std::string& line);

/// Returns the output of `dadsim --complete LINE`, which the scripts of `dadsim support bash` and of other shells call:
/// one candidate per line, with its help after a tab, and a last line ":files ENDING" if files are possible.
/// `arguments`: LINE alone; throws UsageError for any other number of arguments.
std::string candidates_in_lines(const std::vector<std::string>& arguments);

}  // namespace dadsim::cli
