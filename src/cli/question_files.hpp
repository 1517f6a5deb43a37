#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <string>

#include "report/document/document.hpp"

namespace dadsim::cli {

/// Answer of a command that makes its own scenario, and has the options [+question] of commands.txt.
struct Answered {
  report::Document document;
  std::string scenario;  ///< text of the scenario behind the answer
};

/// Has `answer` answer, prints that with what to type next, and leaves it where --write, --json and --report say. A
/// scenario that is there already is never overwritten. `read`: the path of a file that is read; may be empty. Throws
/// UsageError where an option has a value that means nothing.
void answer_question(const boost::program_options::variables_map& values, const std::string& read,
                     const std::string& command, const std::function<Answered(bool show_progress)>& answer);

}  // namespace dadsim::cli
