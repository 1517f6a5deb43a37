#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// The manual page dadsim(1), as groff reads it: made of what --help says of the program and of each command.
std::string manual_page();

/// What may stand for the last word of a line.
struct Completion {
  struct Candidate {
    std::string text;  ///< the whole word
    std::string help;  ///< may be empty
  };
  std::vector<Candidate> candidates;
  /// Files that may stand there too: what their names end in ("*": any), or "/" for folders alone; empty: none.
  std::string files;
};

/// Of a command line as it stands in front of the cursor. Words are parted by blanks that are not quoted.
Completion complete(const std::string& line);

/// `dadsim --complete LINE`, which the scripts of `dadsim support bash` and the others ask: a candidate a line, with
/// its help behind a tab, and at the end ":files ENDING" where files may stand there. Throws UsageError.
std::string candidates_in_lines(const std::vector<std::string>& arguments);

}  // namespace dadsim::cli
