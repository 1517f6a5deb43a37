#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/document/document.hpp"
#include "report/text/text_blocks.hpp"

namespace dadsim::cli {

/// Prints text to standard output, and escapes control characters on a terminal (see for_terminal). Throws OutputError
/// if writing fails.
void print(std::string_view text);

/// Prints a result. On a coloured terminal, the answer is bold and its assumptions are faint. Lines wider than the
/// terminal are broken at spaces.
void print(const report::Summary& summary);

/// Makes tables and sentences as wide as standard output is, if it is a terminal.
void fit_standard_output();

/// The files that a command writes, checked before anything is run or written.
class OutputFiles {
 public:
  struct Named {
    std::string role;  ///< option that names it: "--json"
    std::string path;  ///< "-" is standard output; empty: not requested
  };

  /// `inputs`: files that the command line reads; files named in them are added when they are read. Throws UsageError
  /// if two outputs, an output and an input, or an output and standard output are the same file under any names (see
  /// FileIdentity).
  OutputFiles(std::vector<Named> outputs, std::vector<Named> inputs);

  /// Repeats the check with all files read so far (see note_input). Call it after the scenario is read and before it
  /// runs. Throws UsageError.
  void check_against_inputs() const;

  /// Throws OutputError if one of the files cannot be written.
  void check_writable() const;

  /// Checks that files can be written into a folder, which may not exist yet. Throws OutputError.
  static void check_folder(const std::string& folder);

  /// Writes files into a folder, and makes the folder if needed. All files are checked before the first is written.
  /// Throws UsageError and OutputError.
  void write_into(const std::string& role, const std::string& folder, const std::vector<report::PlotFile>& files) const;

  /// Returns whether a result goes to standard output, where no other text may be printed.
  bool take_standard_output() const;

 private:
  std::vector<Named> outputs_, inputs_;
};

/// Throws UsageError if the file exists. `remedy` is added to the advice to choose another name. Standard output is
/// always new.
void check_is_new(const std::string& path, const std::string& remedy = {});
/// Writes a new file completely or not at all. The file is created first, so that no file of another program is
/// overwritten. Throws like check_is_new(), and OutputError.
void write_new(const std::string& path, const std::string& content, const std::string& remedy = {});

}  // namespace dadsim::cli
