#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/document/document.hpp"
#include "report/text/text_blocks.hpp"

namespace dadsim::cli {

/// Prints text to standard output; on a terminal, escapes control characters (see for_terminal()), and breaks lines
/// that are wider than it. Throws OutputError if writing fails.
void print(std::string_view text);

/// Prints a result like text. On a coloured terminal, the answer is bold and the background (assumptions) is faint.
void print(const report::Summary& summary);

/// Sets the width of tables and sentences to that of standard output, if it is a terminal.
void fit_standard_output();

/// Files that a command writes, checked before it runs or writes anything.
class OutputFiles {
 public:
  struct Named {
    std::string role;  ///< option that sets the path: "--json"
    std::string path;  ///< "-" is standard output; empty: not requested
  };

  /// `inputs`: files on the command line that are read; files named in them are added when they are read. Throws
  /// UsageError if two outputs, an output and an input, or an output and standard output are the same file under any
  /// name (see FileIdentity).
  OutputFiles(std::vector<Named> outputs, std::vector<Named> inputs);

  /// Repeats the check with all files read so far (see note_input()). The caller must have read the scenario, and not
  /// run it yet. Throws UsageError.
  void check_against_inputs() const;

  /// Throws OutputError if one of the files cannot be written.
  void check_writable() const;

  /// Checks that files can be written into a folder, which may not exist yet. Throws OutputError.
  static void check_folder(const std::string& folder);

  /// Writes files into a folder, and creates the folder if needed. Checks all files before it writes the first. Throws
  /// UsageError and OutputError.
  void write_into(const std::string& role, const std::string& folder, const std::vector<report::PlotFile>& files) const;

  /// Returns whether a result goes to standard output, where no other text may then be printed.
  bool take_standard_output() const;

 private:
  std::vector<Named> outputs_, inputs_;
};

/// Throws UsageError if the file exists. `remedy`: further advice besides another name. Standard output always counts
/// as new.
void check_is_new(const std::string& path, const std::string& remedy = {});
/// Writes a new file completely or not at all. Fails if the file exists by then, so that another program's file is not
/// overwritten. Throws like check_is_new(), and OutputError.
void write_new(const std::string& path, const std::string& content, const std::string& remedy = {});

}  // namespace dadsim::cli
