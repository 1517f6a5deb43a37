#pragma once

#include <boost/program_options.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace dadsim::cli {

/// What every command that studies a scenario takes.
struct StudyOptions {
  std::string scenario;
  std::vector<std::string> overrides;  ///< "path=value"; --seed N is "seed=N"
  std::size_t threads = 0;             ///< 0: as many as the machine has
  bool quiet = false;
};

/// --set, --seed, --threads, --quiet and --help, each with its text.
void add_study_options(boost::program_options::options_description& description);

/// `command` is named in messages; the scenario is the first of at most so many operands. Throws UsageError.
StudyOptions study_options_of(const boost::program_options::variables_map& values, const std::string& command,
                              std::size_t most_operands = 1);

/// The value of --threads, from 1 to 1024; 0 where it is not given. Throws UsageError.
std::size_t threads_of(const boost::program_options::variables_map& values);
/// `asked`, or as many as the machine has where that is 0.
std::size_t threads_to_use(std::size_t asked);

}  // namespace dadsim::cli
