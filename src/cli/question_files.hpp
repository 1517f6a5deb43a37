#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <string>

#include "report/document/document.hpp"

namespace dadsim::cli {

/// Answer of a command that makes its own scenario, and has the options [+question] of commands.txt.
struct Answered {
  report::Document document;
  std::string scenario;  ///< text of the scenario that gives the answer
};

/// Calls `answer`, prints the answer and the next command to type, and writes the files for --write, --json and
/// --report. An existing scenario is never overwritten. `read`: path of a file that the command reads; may be empty.
/// Throws UsageError if the file of --write exists, or if two files are the same; OutputError.
void answer_question(const boost::program_options::variables_map& values, const std::string& read,
                     const std::string& command, const std::function<Answered(bool show_progress)>& answer);

}  // namespace dadsim::cli
