#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dadsim::cli {

struct Command;

struct Options {
  enum class Command { run, check, print_scenario, listing, own_options, completion, help, version };
  Command command = Command::run;
  std::vector<std::string> words;      ///< words that listed entries must contain
  std::string pages;                   ///< folder for a page on each algorithm and compressor; empty: no pages
  std::string listing;                 ///< name of a catalogue (see listings.hpp)
  const cli::Command* own = nullptr;   ///< own_options: the command
  std::vector<std::string> arguments;  ///< own_options: the words after the command's name; completion: the line to
                                       ///< complete
  std::string scenario;
  std::vector<std::string> overrides;           ///< "path=value"; --seed N is "seed=N"
  std::string json, csv, report;                ///< paths; empty: not requested; "-": standard output
  std::string trace;                            ///< path; empty: not requested; "-": standard output
  std::string plots;                            ///< folder; empty: not requested
  std::vector<std::int64_t> trace_steps{1, 2};  ///< numbers of the traced steps, from 1, ascending
  std::string scheduler;                        ///< address of Dask's scheduler; empty: this process does all work
  std::size_t threads = 0;                      ///< number of threads; 0: as many as the machine has
  bool timing_only = false;
  bool sliders = true;   ///< true: a page may have sliders, which need additional simulations
  bool verbose = false;  ///< true: all assumptions of a result are printed
  bool quiet = false;
};

/// Reads the command line. Throws UsageError.
Options parse_options(int argc, const char* const* argv);

std::string usage();

}  // namespace dadsim::cli
