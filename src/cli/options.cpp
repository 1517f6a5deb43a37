#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/listings.hpp"
#include "cli/study_options.hpp"
#include "support/diagnostics.hpp"
#include "support/shell_word.hpp"
#include "support/split.hpp"

namespace dadsim::cli {
namespace {

/// Reads a list of steps like "1,10-12". The number of steps is limited, because every step adds many spans to a trace.
std::vector<std::int64_t> parse_steps(const std::string& text) {
  constexpr std::size_t kMost = 100;
  constexpr std::int64_t kMostNumber = 1'000'000'000'000;
  const auto refuse = [&](const std::string& why) {
    return UsageError(fmt::format(
        "--trace-steps '{}' {}; write numbers of steps from 1 on and ranges of them, as 1,10-12", text, why));
  };
  const auto number = [](std::string_view word) {
    return read_option<std::int64_t>("trace-steps", word, scenario::integer(1, kMostNumber));
  };
  std::set<std::int64_t> steps;
  for (const std::string_view word : split_at(text, ',')) {
    const std::size_t dash = word.find('-');
    const std::int64_t first = number(word.substr(0, dash));
    const std::int64_t last = dash == std::string_view::npos ? first : number(word.substr(dash + 1));
    if (last < first) throw refuse("has a range that ends before it begins");
    for (std::int64_t step = first; step <= last; ++step) {
      steps.insert(step);
      if (steps.size() > kMost) throw refuse(fmt::format("are more than {} steps", kMost));
    }
  }
  return {steps.begin(), steps.end()};
}

bool is_there(const std::string& file) {
  std::error_code error;
  return std::filesystem::exists(file, error);
}

/// Refuses a first word that is neither a command nor a file, if it resembles a command, or if a file follows.
void check_misspelt_command(const std::string& word, const std::string& next) {
  if (word.starts_with('-') || word.find_first_of("./") != std::string::npos || is_there(word)) return;
  std::vector<std::string> known;
  for (const Command& command : commands()) known.push_back(command.name);
  for (const Listing& listing : listings()) known.push_back(listing.name);
  const std::string meant = closest(word, known);
  if (!meant.empty()) {
    throw UsageError(fmt::format("there is no file and no command '{}'; did you mean '{}'?", word, meant));
  }
  if (is_there(next)) {
    throw UsageError(fmt::format("there is no command '{0}'; dadsim {1} runs {1}, dadsim --help names all commands",
                                 word, shell_word(next)));
  }
}

/// Message for a command line without arguments: the most frequent commands.
constexpr const char* kBeginnings =
    "no scenario is named; dadsim scenario.xml, or one of these to begin with (dadsim --help has all):\n"
    "  dadsim train llama-3.1-8b --gpus 64 --device h100   how long does a model train on a cluster?\n"
    "  dadsim sites 5 --up 20Mbps --down 100Mbps           which algorithm is fastest over slow lines?\n"
    "  dadsim lesson 1                                     what does data-parallel training send? 45 minutes\n"
    "  dadsim new                                          scenarios to begin with";

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  Options options;
  // Handles "help COMMAND" and "run scenario.xml", which people often try first.
  if (!arguments.empty() && arguments[0] == "help") arguments[0] = "--help";
  if (arguments.size() > 1 && arguments[0] == "--help") {
    if (find_command(arguments[1]) != nullptr)
      std::swap(arguments[0], arguments[1]);
    else if (find_listing(arguments[1]) == nullptr) {
      check_misspelt_command(arguments[1], {});
      throw UsageError(fmt::format("there is no command '{}'; dadsim --help names all", arguments[1]));
    }
  }
  if (!arguments.empty() && arguments[0] == "run") arguments.erase(arguments.begin());
  if (!arguments.empty()) {
    if (const Command* command = find_command(arguments[0])) {
      options.command = Options::Command::own_options;
      options.own = command;
      options.arguments.assign(arguments.begin() + 1, arguments.end());
      return options;
    }
    if (arguments[0] == "--complete") {
      options.command = Options::Command::completion;
      options.arguments.assign(arguments.begin() + 1, arguments.end());
      return options;
    }
    if (find_listing(arguments[0]) == nullptr)
      check_misspelt_command(arguments[0], arguments.size() > 1 ? arguments[1] : std::string());
  }
  const po::variables_map values = read_arguments(arguments, options_of("dadsim"));
  if (values.contains("help")) options.command = Options::Command::help;
  if (values.contains("version")) options.command = Options::Command::version;
  if (options.command != Options::Command::run) return options;

  const std::vector<std::string> operands = operands_of(values);
  if (operands.empty()) throw UsageError(kBeginnings);
  if (find_command(operands[0]) != nullptr) {
    throw UsageError(fmt::format("'{0}' comes after options; write dadsim {0} first, then its options", operands[0]));
  }
  if (find_listing(operands[0]) != nullptr) options.words.assign(operands.begin() + 1, operands.end());
  if (operands.size() > 1 && options.words.empty()) {
    throw UsageError(fmt::format("'{}' is one argument too many; name one scenario at a time", operands[1]));
  }
  if (find_listing(operands[0]) != nullptr) {
    options.command = Options::Command::listing;
    options.listing = operands[0];
  }
  options.scenario = operands[0];
  options.pages = text_of(values, "pages");
  if (!options.pages.empty() && options.listing != "algorithms") {
    throw UsageError("--pages DIR needs dadsim algorithms; run dadsim algorithms --pages DIR");
  }
  options.overrides = overrides_of(values);
  options.json = text_of(values, "json");
  options.csv = text_of(values, "csv");
  options.report = text_of(values, "report");
  options.sliders = !values.contains("no-sliders");
  options.trace = text_of(values, "trace");
  options.plots = text_of(values, "plots");
  if (!options.sliders && options.report.empty())
    throw UsageError("--no-sliders needs --report FILE; add --report FILE, or remove --no-sliders");
  if (values.contains("trace-steps")) {
    if (options.trace.empty())
      throw UsageError("--trace-steps needs --trace FILE; add --trace FILE, or remove --trace-steps");
    options.trace_steps = parse_steps(values["trace-steps"].as<std::string>());
  }
  options.threads = threads_of(values);
  options.quiet = values.contains("quiet");
  options.verbose = values.contains("verbose");
  options.timing_only = values.contains("timing-only");
  options.scheduler = text_of(values, "on");
  if (options.timing_only && !options.scheduler.empty())
    throw UsageError("--on has no effect with --timing-only, which learns nothing; remove it");
  if (values.contains("check") && values.contains("print-scenario")) {
    throw UsageError("--check and --print-scenario cannot be combined; --print-scenario checks too");
  }
  if (options.command != Options::Command::run) {
    refuse_given(values,
                 {"set", "seed", "json", "csv", "report", "plots", "trace", "check", "print-scenario", "threads", "on",
                  "verbose"},
                 fmt::format("has no effect with 'dadsim {}'", operands[0]));
    return options;
  }
  if (values.contains("check")) options.command = Options::Command::check;
  if (values.contains("print-scenario")) options.command = Options::Command::print_scenario;
  if (options.command != Options::Command::run)
    refuse_given(values, {"json", "csv", "report", "plots", "trace", "on"},
                 "needs a result, but --check and --print-scenario run nothing");
  return options;
}

std::string usage() {
  std::string text =
      "dadsim predicts how long distributed training takes to reach an accuracy: it trains a small network for "
      "real\n"
      "with each algorithm of a scenario and times every step on a simulated cluster.\n\n"
      "  dadsim [run] [options] scenario.xml\n                                  run a scenario (docs/scenario.md)\n";
  for (const Command& command : commands()) {
    const std::string words = fmt::format("{} {}", command.name, command.synopsis);
    text += fmt::format("  dadsim {:<25}{}{}\n", words, words.size() < 25 ? "" : "\n" + std::string(34, ' '),
                        command.summary);
  }
  for (const Listing& listing : listings()) text += fmt::format("  dadsim {:<25}{}\n", listing.name, listing.summary);
  text += "\n" + words_of_options(options_of("dadsim")) +
          "\nExit codes: 0 success, 1 a bug of ours, 2 wrong command line, 3 wrong scenario, platform or data,\n4 a "
          "result could not be written, 5 the simulation failed, 130 interrupted.\n\ndadsim help COMMAND prints the "
          "options of a command; docs/glossary.md defines the words in tables.\n";
  return text;
}

}  // namespace dadsim::cli
