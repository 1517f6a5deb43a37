#pragma once

#include <boost/program_options.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "report/html/page.hpp"
#include "scenario/document/load.hpp"
#include "study/remote/task_queue.hpp"

namespace dadsim::cli {

/// Options of all commands that study a scenario.
struct StudyOptions {
  std::string scenario;
  std::vector<std::string> overrides;  ///< "path=value"; --seed N is "seed=N"
  std::size_t threads = 0;             ///< number of threads; 0: all processors of the machine
  bool quiet = false;
};

/// Returns the changes of --set and --seed, as "path=value". Throws UsageError.
std::vector<std::string> overrides_of(const boost::program_options::variables_map& values);

/// Reads the options. `command`: name in messages. The scenario is the first operand; there may be at most
/// `most_operands`. Throws UsageError.
StudyOptions study_options_of(const boost::program_options::variables_map& values, const std::string& command,
                              std::size_t most_operands = 1);

/// Returns the value of --threads, from 1 to 1024; 0 if it is not given. Throws UsageError.
std::size_t threads_of(const boost::program_options::variables_map& values);
/// Returns `asked`; if it is 0, the number of processors.
std::size_t threads_to_use(std::size_t asked);

/// Outputs of a document: text on standard output, and files. Reads --json, --csv, --report, --plots, --verbose and
/// --quiet, as far as the command has these options.
class StudyFiles {
 public:
  /// Throws UsageError if two files are the same, OutputError if one cannot be written. `read`: files that the command
  /// reads; `written`: further files that it writes.
  StudyFiles(const boost::program_options::variables_map& values, std::vector<OutputFiles::Named> read,
             const std::vector<OutputFiles::Named>& written = {});

  /// Repeats the check with all files read so far; see OutputFiles.
  void check_against_inputs() const { outputs_.check_against_inputs(); }

  void write(const report::Document& document, const report::About& about = {}) const;

 private:
  std::string json_, csv_, page_, plots_;
  bool verbose_, quiet_;
  OutputFiles outputs_;
};

/// A study. It must call `on_read` once all files are read. `queue`: runs its learning elsewhere; may be null.
using LearningStudy =
    std::function<report::Document(const scenario::ScenarioSource& source, const StudyOptions& options,
                                   const std::function<void()>& on_read, study::TaskQueue* queue)>;
/// Runs a study for `command`, and writes its results to the files of the options.
void run_learning_study(const boost::program_options::variables_map& values, const std::string& command,
                        const LearningStudy& study);

}  // namespace dadsim::cli
