#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>

#include "cli/arguments.hpp"
#include "cli/listings.hpp"
#include "cli/usage_error.hpp"
#include "support/diagnostics.hpp"

namespace dadsim {
namespace {

namespace po = boost::program_options;

constexpr std::size_t kMostThreads = 1024;

po::options_description visible_options() {
  po::options_description description("Options");
  description.add_options()  //
      ("json", po::value<std::string>()->value_name("FILE"),
       "write the result as JSON (docs/output-json.md); - is standard output")  //
      ("csv", po::value<std::string>()->value_name("FILE"),
       "write the learning curves as CSV (docs/output-csv.md); - is standard output")  //
      ("set", po::value<std::vector<std::string>>()->value_name("PATH=VALUE")->composing(),
       "change the scenario before it is checked, e.g. --set training.batch=64 or --set 'run[rank-dad].cap=4'; "
       "repeatable")                                                                   //
      ("seed", po::value<std::string>()->value_name("N"), "the same as --set seed=N")  //
      ("threads", po::value<std::string>()->value_name("N"),
       "threads for learning; the result does not depend on it")                              //
      ("check", "say what is wrong with the scenario, and run nothing")                       //
      ("print-scenario", "print the scenario with every default filled in, and run nothing")  //
      ("quiet", "no table and no progress")                                                   //
      ("help", "this text")                                                                   //
      ("version", "versions of dadsim and SimGrid");
  return description;
}

std::size_t parse_threads(const std::string& text) {
  std::size_t threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error != std::errc() || end != text.data() + text.size() || threads < 1 || threads > kMostThreads) {
    throw UsageError(
        fmt::format("--threads '{}' is no number of threads; a whole number from 1 to {}", text, kMostThreads));
  }
  return threads;
}

/// Commands with options of their own.
std::optional<Options::Command> command_with_options(const std::string& word) {
  if (word == "platform") return Options::Command::platform;
  if (word == "collective") return Options::Command::collective;
  return std::nullopt;
}

/// A first word that is neither a command nor a file, but nearly a command.
void check_misspelt_command(const std::string& word) {
  std::error_code error;
  if (word.starts_with('-') || word.find_first_of("./") != std::string::npos || std::filesystem::exists(word, error)) {
    return;
  }
  std::vector<std::string> commands{"platform", "collective"};
  for (const Listing& listing : listings()) commands.push_back(listing.name);
  const std::string meant = closest(word, commands);
  if (!meant.empty()) {
    throw UsageError(fmt::format("there is no file and no command '{}'; did you mean '{}'?", word, meant));
  }
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  Options options;
  if (!arguments.empty()) {
    if (const auto command = command_with_options(arguments[0])) {
      options.command = *command;
      options.arguments.assign(arguments.begin() + 1, arguments.end());
      return options;
    }
    if (find_listing(arguments[0]) == nullptr) check_misspelt_command(arguments[0]);
  }
  const po::variables_map values = read_arguments(arguments, visible_options());
  if (values.contains("help")) options.command = Options::Command::help;
  if (values.contains("version")) options.command = Options::Command::version;
  if (options.command != Options::Command::run) return options;

  const std::vector<std::string> words = words_of(values);
  if (words.empty()) throw UsageError("no scenario is named; dadsim scenario.xml, or see dadsim --help");
  if (command_with_options(words[0])) {
    throw UsageError(fmt::format("'{0}' stands behind options; dadsim {0} comes first, then its options", words[0]));
  }
  if (words.size() > 1) {
    throw UsageError(fmt::format("'{}' is one argument too many; one scenario at a time", words[1]));
  }
  if (find_listing(words[0]) != nullptr) {
    options.command = Options::Command::listing;
    options.listing = words[0];
  }
  options.scenario = words[0];
  if (values.contains("set")) options.overrides = values["set"].as<std::vector<std::string>>();
  if (values.contains("seed")) options.overrides.push_back("seed=" + values["seed"].as<std::string>());
  options.json = text_of(values, "json");
  options.csv = text_of(values, "csv");
  if (values.contains("threads")) options.threads = parse_threads(values["threads"].as<std::string>());
  options.quiet = values.contains("quiet");
  check_files_differ({{"json", options.json}, {"csv", options.csv}});
  if (values.contains("check") && values.contains("print-scenario")) {
    throw UsageError("--check and --print-scenario do not go together; --print-scenario checks as well");
  }
  if (options.command != Options::Command::run) {
    for (const char* name : {"set", "seed", "json", "csv", "check", "print-scenario", "threads"}) {
      if (values.contains(name)) throw UsageError(fmt::format("--{} means nothing to 'dadsim {}'", name, words[0]));
    }
    return options;
  }
  if (values.contains("check")) options.command = Options::Command::check;
  if (values.contains("print-scenario")) options.command = Options::Command::print_scenario;
  if (options.command != Options::Command::run) {
    for (const char* name : {"json", "csv"}) {
      if (values.contains(name)) throw UsageError(fmt::format("--{} has no result to write when nothing is run", name));
    }
  }
  return options;
}

std::string usage() {
  std::ostringstream text;
  text << "dadsim predicts how long distributed training takes to reach an accuracy: it trains a small network for "
          "real\n"
          "with each algorithm of a scenario and times every step on a simulated cluster.\n\n"
          "  dadsim [options] scenario.xml   run a scenario (docs/scenario.md)\n"
          "  dadsim platform FILE            look at a platform: links, routes, bisection; pictures (--help)\n"
          "  dadsim collective --platform FILE --op OP\n"
          "                                  time a collective alone, size by size (--help)\n";
  for (const Listing& listing : listings()) text << fmt::format("  dadsim {:<25}{}\n", listing.name, listing.summary);
  text << '\n'
       << visible_options()
       << "\nExit codes: 0 success, 1 a bug of ours, 2 wrong command line, 3 wrong scenario, platform or data,\n"
          "4 a result could not be written, 5 the simulation failed, 130 interrupted.\n";
  return text.str();
}

}  // namespace dadsim
