#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/dask_client.hpp"
#include "cli/output.hpp"
#include "cli/study_options.hpp"
#include "report/html/page.hpp"
#include "sim/simulator.hpp"
#include "study/setting/catalog.hpp"
#include "study/sweep/merge.hpp"
#include "study/sweep/read_results.hpp"
#include "study/sweep/remote_trials.hpp"
#include "study/sweep/run.hpp"
#include "study/sweep/sweep_document.hpp"
#include "support/atomic_file.hpp"
#include "support/human.hpp"
#include "support/interrupt.hpp"
#include "support/shell_word.hpp"
#include "support/split.hpp"
#include "support/terminal.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::cli {
namespace {

/// A sweep for other processes to run.
struct SweepElsewhere {
  std::string scenario, out;
  std::string learned;  ///< file of learned runs that these processes share; may be empty
  std::vector<std::string> overrides;
};

namespace fs = std::filesystem;

/// Quotes a word for a shell. Refuses line feeds, because programs read one command per line.
std::string word_of_line(const std::string& text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; };
  if (std::ranges::any_of(text, is_control))
    throw UsageError(
        fmt::format("--tasks writes one command per line, and '{}' has control characters; use another name",
                    with_hidden_characters_shown(text)));
  return shell_word(text);
}

/// Returns a command for each of `count` shards of the sweep, and after "# then:" the command that merges their files.
/// Commands are quoted for a shell, GNU parallel, HyperQueue or HTCondor. Throws UsageError for names with control
/// characters.
std::string commands_of_shards(const SweepElsewhere& sweep, std::int64_t count) {
  const fs::path out = sweep.out;
  const std::string stem = (out.parent_path() / out.stem()).string();
  std::string changes;
  for (const std::string& change : sweep.overrides) changes += " --set " + word_of_line(change);
  if (!sweep.learned.empty()) changes += " --learned " + word_of_line(sweep.learned);
  std::string commands, files;
  for (std::int64_t shard = 1; shard <= count; ++shard) {
    const std::string file = word_of_line(fmt::format("{}-{}-of-{}.sqlite", stem, shard, count));
    commands += fmt::format("dadsim sweep {}{} --shard {}/{} --threads 1 --quiet --out {}\n",
                            word_of_line(sweep.scenario), changes, shard, count, file);
    files += " " + file;
  }
  return commands + fmt::format("# then: dadsim merge {}{}\n", word_of_line(sweep.out), files);
}

constexpr std::int64_t kMostShards = 100'000;

study::Shard parse_shard(const std::string& text) {
  if (text.empty()) return {};
  const std::vector<std::string_view> parts = split_at(text, '/');
  if (parts.size() != 2)
    throw UsageError(fmt::format("--shard '{}' is wrong; use I/N with I from 1 to N, e.g. 3/20", text));
  const auto count = read_option<std::int64_t>("shard", parts[1], scenario::integer(1, kMostShards));
  return {.number = read_option<std::int64_t>("shard", parts[0], scenario::integer(1, count)), .count = count};
}

std::string default_file(const std::string& scenario, const study::Shard& shard) {
  const std::string stem = std::filesystem::path(scenario).stem().string();
  if (shard.count == 1) return stem + ".sweep.sqlite";
  return fmt::format("{}.sweep-{}-of-{}.sqlite", stem, shard.number, shard.count);
}

std::string points_in_words(std::int64_t count) {
  return fmt::format("{} point{}", human_count(count), count == 1 ? "" : "s");
}

/// Returns a number of trials in words; with a single seed, the word is "points".
std::string trials_in_words(std::int64_t count, const study::SweepPoints& sweep) {
  if (sweep.seeds() == 1) return points_in_words(count);
  return fmt::format("{} pairs of a point and a seed", human_count(count));
}

struct SweepArguments {
  std::string scenario, out, csv, report, plots;
  std::string scheduler;   ///< address of Dask; empty: this process runs the sweep
  std::int64_t tasks = 0;  ///< number of commands to print; 0: none
  std::vector<std::string> overrides;
  study::Shard shard;
  study::SweepOptions options;
  bool check = false, quiet = false;
};

/// Refuses SQLite's name for an in-memory database, in which all results would be lost.
void refuse_memory(const std::string& role, const std::string& path) {
  if (path == ":memory:")
    throw UsageError(fmt::format("{} ':memory:' is no file; use './:memory:' for a file of that name", role));
}

OutputFiles outputs_of(const SweepArguments& asked) {
  return {{{"--out", asked.out},
           {"--out's journal", asked.out + "-wal"},
           {"--out's index", asked.out + "-shm"},
           {"--out's journal", asked.out + "-journal"},
           {"--csv", asked.csv},
           {"--report", asked.report}},
          {{"the scenario", asked.scenario}, {"--learned", asked.options.learned}}};
}

SweepArguments understand(const po::variables_map& values) {
  const StudyOptions study = study_options_of(values, "sweep");
  SweepArguments arguments;
  arguments.scenario = study.scenario;
  arguments.overrides = study.overrides;
  arguments.quiet = study.quiet;
  arguments.shard = parse_shard(text_of(values, "shard"));
  arguments.out = text_of(values, "out");
  if (arguments.out == "-") throw UsageError("--out cannot be standard output; --csv - writes results there");
  if (arguments.out.empty()) arguments.out = default_file(study.scenario, arguments.shard);
  arguments.csv = text_of(values, "csv");
  arguments.report = text_of(values, "report");
  arguments.plots = text_of(values, "plots");
  arguments.options.learned = text_of(values, "learned");
  arguments.options.learn_only = values.contains("learn-only");
  arguments.options.retry_failed = values.contains("retry-failed");
  arguments.options.any_build = values.contains("any-build");
  arguments.options.threads = threads_to_use(study.threads);
  arguments.check = values.contains("check");
  arguments.options.show_progress = !arguments.quiet;
  refuse_memory("--out", arguments.out);
  refuse_memory("--learned", arguments.options.learned);
  if (arguments.options.learn_only)
    refuse_given(values, {"csv", "report", "plots"}, "needs a result, and --learn-only has none");
  arguments.scheduler = text_of(values, "on");
  arguments.tasks = value_of<std::int64_t>(values, "tasks", scenario::integer(1, kMostShards)).value_or(0);
  if (!arguments.scheduler.empty())
    refuse_given(values, {"tasks", "shard", "learned", "learn-only", "retry-failed", "any-build", "threads"},
                 "has no effect with --on");
  if (arguments.tasks > 0)
    refuse_given(values, {"shard", "learn-only", "csv", "report", "plots", "check", "threads"},
                 "has no effect with --tasks");
  return arguments;
}

SweepElsewhere elsewhere(const SweepArguments& asked) {
  return {.scenario = asked.scenario, .out = asked.out, .learned = asked.options.learned, .overrides = asked.overrides};
}

/// Writes the requested CSV and page, calls `plot` if there is one, and prints the text with `below` at its end; prints
/// nothing without `below`.
void write_results(study::Database& database, const std::string& csv, const std::string& page,
                   const std::function<void(const report::Document&)>& plot, const std::optional<std::string>& below) {
  if (!csv.empty()) write_file_atomically(csv, [&](const PutContent& put) { write_sweep_csv(database, put); });
  if (page.empty() && !plot && !below) return;
  report::Document document = study::document_of_file(database, !page.empty() || plot);
  if (!page.empty()) write_file_atomically(page, to_html(document));
  if (plot) plot(document);
  if (!below) return;
  document.rests_on(*below);
  print(summary_of(document, false));
}

void report(const SweepArguments& arguments, study::Database& database, const study::SweepPoints& sweep,
            const study::SweepProgressNumbers& numbers) {
  std::string text = fmt::format("{}: {} new, {} there before", arguments.out, trials_in_words(numbers.finished, sweep),
                                 human_count(numbers.before));
  // Does not count runs learned by workers of Dask, because several workers may learn the same run.
  text += !arguments.scheduler.empty() ? ".\n"
          : numbers.learned == 1       ? "; 1 run learned.\n"
                                       : fmt::format("; {} runs learned.\n", human_count(numbers.learned));
  if (numbers.plays > 0) {
    text += fmt::format("Event-driven runs simulated: {}; {} operations were learned for them, and {} reused.\n",
                        human_count(numbers.plays), human_count(numbers.operations_learned),
                        human_count(numbers.operations_found));
  }
  const OutputFiles outputs = outputs_of(arguments);
  const bool shown = !arguments.quiet && !outputs.take_standard_output();
  std::function<void(const report::Document&)> plot;
  if (!arguments.plots.empty())
    plot = [&](const report::Document& document) {
      outputs.write_into("--plots", arguments.plots, plots_of(document));
    };
  write_results(database, arguments.csv, arguments.report, plot, shown ? std::optional(text) : std::nullopt);
  study::FailedTrial first;
  if (numbers.failed > 0) {
    study::SqlStatement select(database,
                               "SELECT point, words FROM trial WHERE status = 'failed' ORDER BY point, seed LIMIT 1");
    if (select.step()) first = {{select.integer(0), 0}, select.text(1)};
  }
  database.close();
  if (numbers.failed > 0) {
    throw sim::SimulationError(fmt::format("the simulation of {} failed; the first failure is at point {}: {}",
                                           trials_in_words(numbers.failed, sweep), first.trial.point, first.message));
  }
}

[[noreturn]] void interrupted_with(std::int64_t done, const SweepArguments& asked, const study::SweepPoints& sweep) {
  throw Cancelled(fmt::format("{} {} in '{}'; run the same command to continue", trials_in_words(done, sweep),
                              done == 1 ? "is" : "are", asked.out));
}

void run_on_dask(const SweepArguments& asked, const study::SweepPoints& points) {
  TasksElsewhere tasks(asked.scheduler, asked.scenario);
  const auto start = [&] { tasks.start(); };
  study::SweepProgressNumbers numbers;
  try {
    numbers = run_sweep(points, asked.out, *tasks.queue(), asked.options.show_progress, start);
  } catch (const Cancelled&) {
    study::Database database(asked.out, study::Database::Access::read);
    interrupted_with(database.number("SELECT COUNT(*) FROM trial").value_or(0), asked, points);
  }
  study::Database database(asked.out, study::Database::Access::read);
  report(asked, database, points, numbers);
}

}  // namespace

void run_sweep(const po::variables_map& values) {
  const SweepArguments asked = understand(values);
  const OutputFiles outputs = asked.check ? OutputFiles({}, {}) : outputs_of(asked);
  outputs.check_writable();
  OutputFiles::check_folder(asked.plots);
  const ThreadLimit limit(asked.options.threads);
  study::SweepPoints sweep(asked.scenario, asked.overrides, study::make_catalog(), asked.options.show_progress);
  if (asked.check) {
    if (!asked.quiet) {
      print(fmt::format("{}: no errors in its {}; {} runs to learn\n", asked.scenario,
                        points_in_words(static_cast<std::int64_t>(sweep.points().size())),
                        human_count(static_cast<std::int64_t>(sweep.distinct_runs()))));
    }
    return;
  }
  outputs.check_against_inputs();
  if (asked.tasks > 0) return print(commands_of_shards(elsewhere(asked), asked.tasks));
  if (!asked.scheduler.empty()) return run_on_dask(asked, sweep);
  const std::unique_ptr<study::Database> database = open_sweep(asked.out, sweep, asked.shard, asked.options.any_build);
  try {
    const study::SweepProgressNumbers numbers = run_sweep(sweep, *database, asked.shard, asked.options);
    if (!asked.options.learn_only) return report(asked, *database, sweep, numbers);
    database->close();
    if (!asked.quiet) {
      print(fmt::format("{}: {} runs learned; continue with dadsim sweep, or reuse them with --learned\n", asked.out,
                        human_count(numbers.learned)));
      if (std::ranges::any_of(sweep.base().runs, &spec::RunSpec::event_driven)) {
        print(std::string("Event-driven runs are learned during their simulation, so none is learned yet.\n"));
      }
    }
  } catch (const Cancelled&) {
    interrupted_with(database->number("SELECT COUNT(*) FROM trial").value_or(0), asked, sweep);
  }
}

void run_merge(const po::variables_map& values) {
  const std::vector<std::string> operands = operands_of(values);
  if (operands.size() < 2)
    throw UsageError("a merge needs a new file and the files to merge; dadsim merge OUT.sqlite A.sqlite B.sqlite");
  const std::string csv = text_of(values, "csv");
  const std::string report = text_of(values, "report");
  std::vector<OutputFiles::Named> shards;
  for (const std::string& operand : operands) {
    refuse_memory("a file", operand);
    if (&operand != &operands.front()) shards.push_back({"a file to merge", operand});
  }
  const OutputFiles outputs({{"the new file", operands[0]}, {"--csv", csv}, {"--report", report}}, shards);
  outputs.check_writable();
  const study::MergedSweep merged =
      study::merge_sweeps(operands[0], {operands.begin() + 1, operands.end()},
                          {.any_build = values.contains("any-build"), .salvage = values.contains("salvage")});
  for (const Diagnostic& lost : merged.lost) say(fmt::format("dadsim: {}\n", to_string(lost)));
  if (!csv.empty() || !report.empty() || !values.contains("quiet")) {
    study::Database database(operands[0], study::Database::Access::read);
    std::string text = fmt::format("{}: {} of {} complete", operands[0], human_count(merged.points),
                                   points_in_words(merged.identity.points));
    text += merged.missing.empty() ? ".\n" : fmt::format("; missing: {}.\n", study::ranges_in_words(merged.missing));
    if (!merged.missing.empty())
      text += fmt::format("dadsim sweep --out {} {} continues with them.\n", shell_word(operands[0]),
                          shell_word(merged.identity.scenario_file));
    const bool shown = !values.contains("quiet") && !outputs.take_standard_output();
    write_results(database, csv, report, {}, shown ? std::optional(text) : std::nullopt);
  }
  if (merged.failed > 0)
    throw sim::SimulationError(
        fmt::format("the simulation of {} of the merged trials failed", human_count(merged.failed)));
}

}  // namespace dadsim::cli
