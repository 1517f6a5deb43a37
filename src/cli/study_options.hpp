#pragma once

#include <boost/program_options.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/output_files.hpp"
#include "report/html/page.hpp"
#include "scenario/document/load.hpp"
#include "study/remote/task_queue.hpp"

namespace dadsim::cli {

/// Options of every command that studies a scenario.
struct StudyOptions {
  std::string scenario;
  std::vector<std::string> overrides;  ///< "path=value"; --seed N is "seed=N"
  std::size_t threads = 0;             ///< 0: as many as the machine has
  bool quiet = false;
};

/// Returns the changes of --set and --seed, as "path=value". Throws UsageError.
std::vector<std::string> overrides_of(const boost::program_options::variables_map& values);

/// `command` is named in messages; the scenario is the first of at most so many operands. Throws UsageError.
StudyOptions study_options_of(const boost::program_options::variables_map& values, const std::string& command,
                              std::size_t most_operands = 1);

/// The value of --threads, from 1 to 1024; 0 where it is not given. Throws UsageError.
std::size_t threads_of(const boost::program_options::variables_map& values);
/// `asked`, or as many as the machine has where that is 0.
std::size_t threads_to_use(std::size_t asked);

/// Outputs of a study of a scenario, by [+files] of commands.txt: JSON, a page, and text on standard output.
class StudyFiles {
 public:
  /// Throws UsageError where two files are one, OutputError where one cannot be written.
  /// `read`: options that name files which are read, beside the scenario; `written`: more that the command writes.
  StudyFiles(const boost::program_options::variables_map& values, const StudyOptions& options,
             const std::vector<std::pair<std::string, std::string>>& read = {},
             const std::vector<std::pair<std::string, std::string>>& written = {});

  /// Again, with all that has been read by now; see OutputFiles.
  void check_against_inputs() const { outputs_.check_against_inputs(); }

  void write(const report::Document& document, const report::About& about) const;

 private:
  std::string json_, page_, plots_;
  bool verbose_, quiet_;
  OutputFiles outputs_;
};

/// Result of such a study; it calls `on_read` once all is read, and has `queue`, which may be null, learn.
using LearningStudy =
    std::function<report::Document(const scenario::ScenarioSource& source, const StudyOptions& options,
                                   const std::function<void()>& on_read, study::TaskQueue* queue)>;
/// Carries it out for `command`, and leaves what it has found where the options say.
void run_learning_study(const boost::program_options::variables_map& values, const std::string& command,
                        const LearningStudy& study);

}  // namespace dadsim::cli
