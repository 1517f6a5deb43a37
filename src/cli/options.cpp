#include "cli/options.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <sstream>

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

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  const po::options_description description = visible_options();
  for (const auto& option : description.options()) names.push_back("--" + option->long_name());
  return names;
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

Options::Command subcommand(const std::string& word) {
  if (word == "algorithms") return Options::Command::algorithms;
  if (word == "devices") return Options::Command::devices;
  if (word == "workloads") return Options::Command::workloads;
  return Options::Command::run;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  po::options_description all = visible_options();
  all.add_options()("positional", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("positional", -1);

  po::variables_map values;
  try {
    po::store(po::command_line_parser(argc, argv)
                  .options(all)
                  .positional(positional)
                  .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                  .run(),
              values);
    po::notify(values);
  } catch (const po::unknown_option& error) {
    const std::vector<std::string> names = option_names();
    throw UsageError(
        fmt::format("unknown option '{}'; {}", error.get_option_name(), suggestion(error.get_option_name(), names)));
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{}; see dadsim --help", error.what()));
  }

  Options options;
  if (values.contains("help")) options.command = Options::Command::help;
  if (values.contains("version")) options.command = Options::Command::version;
  if (options.command != Options::Command::run) return options;

  std::vector<std::string> words;
  if (values.contains("positional")) words = values["positional"].as<std::vector<std::string>>();
  if (words.empty()) throw UsageError("no scenario is named; dadsim scenario.xml, or see dadsim --help");
  if (words.size() > 1) {
    throw UsageError(fmt::format("'{}' is one argument too many; one scenario at a time", words[1]));
  }
  options.command = subcommand(words[0]);
  options.scenario = words[0];
  if (values.contains("set")) options.overrides = values["set"].as<std::vector<std::string>>();
  if (values.contains("seed")) options.overrides.push_back("seed=" + values["seed"].as<std::string>());
  if (values.contains("json")) options.json = values["json"].as<std::string>();
  if (values.contains("csv")) options.csv = values["csv"].as<std::string>();
  if (values.contains("threads")) options.threads = parse_threads(values["threads"].as<std::string>());
  options.quiet = values.contains("quiet");
  for (const auto& [name, path] : {std::pair{"json", options.json}, std::pair{"csv", options.csv}}) {
    if (values.contains(name) && path.empty()) throw UsageError(fmt::format("--{} names no file", name));
  }
  if (!options.json.empty() && options.json == options.csv) {
    throw UsageError(fmt::format("--json and --csv both name '{}'; one file each", options.json));
  }
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
          "  dadsim algorithms               list the algorithms with their parameters\n"
          "  dadsim devices                  list the devices with their sources\n"
          "  dadsim workloads                list what a scenario can be timed as\n\n"
       << visible_options()
       << "\nExit codes: 0 success, 1 a bug of ours, 2 wrong command line, 3 wrong scenario, platform or data,\n"
          "4 a result could not be written, 5 the simulation failed, 130 interrupted.\n";
  return text.str();
}

}  // namespace dadsim
