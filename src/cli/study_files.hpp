#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/output_files.hpp"
#include "cli/study_options.hpp"
#include "report/html/page.hpp"

namespace dadsim::cli {

/// Where a command leaves what a study of a scenario has found: as JSON, as a page, and as text on standard output.
class StudyFiles {
 public:
  /// --json, --report and --verbose. `page`: of docs/, which describes what is written; `json`, `verbose`: what they
  /// give, in words.
  static void add_options(boost::program_options::options_description& options, const std::string& page,
                          const std::string& json = "write the same as JSON",
                          const std::string& verbose = "all assumptions, too");

  /// Throws UsageError where two files are one, OutputError where one cannot be written.
  /// `read`: options that name files which are read, beside the scenario.
  StudyFiles(const boost::program_options::variables_map& values, const StudyOptions& options,
             const std::vector<std::pair<std::string, std::string>>& read = {});

  /// Again, with all that has been read by now; see OutputFiles.
  void check_against_inputs() const { outputs_.check_against_inputs(); }

  void write(const report::Document& document, const report::About& about) const;

 private:
  std::string json_, page_;
  bool verbose_, quiet_;
  OutputFiles outputs_;
};

}  // namespace dadsim::cli
