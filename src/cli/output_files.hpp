#pragma once

#include <string>
#include <vector>

#include "report/document/document.hpp"

namespace dadsim::cli {

/// The files that a command writes, checked before anything is run or written.
class OutputFiles {
 public:
  struct Named {
    std::string role;  ///< option that names it: "--json"
    std::string path;  ///< "-" is standard output; empty: this one is not asked for
  };

  /// `inputs` are the files that the command line reads; files that those name are noted as they are read. Throws
  /// UsageError if two outputs, an output and an input, or an output and standard output are one file, whatever their
  /// names (see FileIdentity).
  OutputFiles(std::vector<Named> outputs, std::vector<Named> inputs);

  /// Again, with all that has been read by now (see note_input). To be called once the scenario is read and before it
  /// is run. Throws UsageError.
  void check_against_inputs() const;

  /// Throws OutputError if one of the files cannot be written.
  void check_writable() const;

  /// Checks a folder that is to get files: one that exists, or the place of a new one. Throws OutputError.
  static void check_folder(const std::string& folder);

  /// Writes files into a folder, which is made if there is none: first all are checked like the others. Throws
  /// UsageError and OutputError.
  void write_into(const std::string& role, const std::string& folder, const std::vector<report::PlotFile>& files) const;

  /// Returns whether a file takes standard output, so that no text belongs there.
  bool take_standard_output() const;

 private:
  std::vector<Named> outputs_, inputs_;
};

/// Throws UsageError if there is a file of that name; `remedy` beside another name. Standard output is always new.
void check_is_new(const std::string& path, const std::string& remedy = {});
/// Writes a new file, or nothing: its name is taken first, so that no file that comes meanwhile is lost. Throws as
/// check_is_new(), and OutputError.
void write_new(const std::string& path, const std::string& content, const std::string& remedy = {});

}  // namespace dadsim::cli
