#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/lessons.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/run_page.hpp"
#include "cli/study_options.hpp"
#include "report/html/lesson.hpp"
#include "report/run/result_document.hpp"
#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/atomic_file.hpp"
#include "support/terminal.hpp"
#include "support/thread_limit.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

std::string list_of_lessons() {
  std::string text =
      "dadsim lesson N writes lesson N as a page, lesson-N.html, with its scenarios next to the page.\n\n";
  for (const LessonFile& lesson : lessons()) text += fmt::format("  {}\n", report::title_of(lesson.text));
  return text;
}

const LessonFile& find_lesson(const std::string& number) {
  for (const LessonFile& lesson : lessons()) {
    if (lesson.name.starts_with(number + "-")) return lesson;
  }
  throw UsageError(fmt::format("there is no lesson '{}'; use a number from 1 to {}", number, lessons().size()));
}

/// Returns the options of a command that runs a scenario; none for other commands, whose results are not shown.
std::optional<Options> run_of(const report::LessonBlock& block) {
  std::vector<std::string> arguments = arguments_of(block.command);
  if (arguments.empty() || !(arguments.front().ends_with(".xml") || arguments.front().starts_with("--")))
    return std::nullopt;
  arguments.insert(arguments.begin(), "dadsim");
  std::vector<const char*> words;
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  return parse_options(static_cast<int>(words.size()), words.data());
}

/// Returns the scenarios that a lesson names.
std::vector<LessonFile> scenarios_of(const LessonFile& lesson) {
  std::vector<LessonFile> files;
  for (const LessonFile& scenario : lesson_scenarios()) {
    if (lesson.text.find(scenario.name) != std::string_view::npos) files.push_back(scenario);
  }
  return files;
}

/// Writes scenarios that are missing. Existing files are kept, because the reader may have changed them.
void write_scenarios(const LessonFile& lesson, const std::filesystem::path& folder, bool quiet) {
  for (const LessonFile& scenario : scenarios_of(lesson)) {
    const std::string path = (folder / scenario.name).string();
    const std::optional<std::string> there = whole_file(path);
    if (!there) {
      write_file_atomically(path, scenario.text);
    } else if (*there != scenario.text && !quiet) {
      say(fmt::format("dadsim: {} exists and differs from the lesson's file; dadsim keeps it and shows its results\n",
                      path));
    }
  }
}

report::LessonRun shown(const report::LessonBlock& block, const Options& run, const std::filesystem::path& folder,
                        bool quiet) {
  const scenario::ScenarioSource source((folder / std::filesystem::path(run.scenario)).string());
  const scenario::Scenario scenario = source.load(run.overrides, study::make_catalog());
  const bool show_progress = !quiet;
  study::TraceRequest trace;
  trace.steps = run.trace_steps;
  const study::Learned learned = study::learn_scenario(scenario, nullptr, show_progress);
  const report::Result result =
      study::time_scenario(scenario, learned, study::cluster_of(scenario), show_progress, trace);
  const RunPage page{source, run.overrides, scenario, learned, true, quiet};
  return {block.name, fmt::format("Result of {}", block.command), page.html(document_of(result), result)};
}

}  // namespace

void run_lesson(const po::variables_map& values) {
  const std::vector<std::string> operands = operands_of(values, 1, "name one lesson at a time");
  if (operands.empty()) return print(list_of_lessons());

  const LessonFile& lesson = find_lesson(operands[0]);
  const bool quiet = values.contains("quiet");
  std::string out = text_of(values, "out");
  if (out.empty()) out = fmt::format("lesson-{}.html", operands[0]);
  const OutputFiles outputs({{"--out", out}}, {});
  outputs.check_writable();
  const std::filesystem::path folder = out == "-" ? std::filesystem::path() : std::filesystem::path(out).parent_path();
  const std::size_t threads = threads_to_use(threads_of(values));
  const ThreadLimit limit(threads);

  write_scenarios(lesson, folder, quiet);
  std::vector<report::LessonRun> runs;
  for (const report::LessonBlock& block : report::blocks_of(lesson.text)) {
    if (const std::optional<Options> run = run_of(block)) runs.push_back(shown(block, *run, folder, quiet));
  }
  outputs.check_against_inputs();
  write_file_atomically(out, report::lesson_page(lesson.text, runs));
  if (!quiet && !outputs.take_standard_output()) print(fmt::format("{}: {}\n", out, report::title_of(lesson.text)));
}

}  // namespace dadsim::cli
