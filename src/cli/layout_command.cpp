#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/study_options.hpp"
#include "formats/launch.hpp"
#include "report/layout/layout_report.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "study/layout/launch.hpp"
#include "study/layout/search_layouts.hpp"
#include "study/setting/catalog.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"
#include "support/terminal.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::cli {
namespace {

std::vector<std::pair<std::string, std::string>> fixed_of(const po::variables_map& values) {
  std::vector<std::pair<std::string, std::string>> fixed;
  if (!values.contains("fix")) return fixed;
  scenario::Findings findings("");
  spec::TimedAsSpec read;
  for (const std::string& text : values["fix"].as<std::vector<std::string>>()) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::vector<std::string>& known = scenario::layout_attributes();
    if (equals == std::string::npos || std::ranges::find(known, name) == known.end())
      throw UsageError(fmt::format("--fix '{}'; use NAME=VALUE with NAME one of {}", text, fmt::join(known, ", ")));
    if (std::ranges::any_of(fixed, [&](const auto& one) { return one.first == name; }))
      throw UsageError(fmt::format("--fix {} is given twice; give one value for it", name));
    fixed.emplace_back(name, text.substr(equals + 1));
    scenario::read_timed_as_attribute("--fix " + text, name, fixed.back().second, read, findings);
  }
  refuse(findings);
  return fixed;
}

study::LayoutOptions search_options(const po::variables_map& values) {
  study::LayoutOptions options;
  options.global_batch = value_of<std::int64_t>(values, "global-batch", scenario::integer(1, 1'000'000'000));
  options.simulated =
      static_cast<std::size_t>(value_of<std::int64_t>(values, "simulate", scenario::integer(1, 10'000)).value_or(20));
  options.run = text_of(values, "run");
  options.fixed = fixed_of(values);
  const scenario::Kind share = scenario::real({.minimum = 0, .maximum = 1, .open_maximum = true});
  options.margin = value_of<double>(values, "margin", share).value_or(options.margin);
  return options;
}

/// Writes launch arguments for the fastest layout to `out`, and prints settings for which the framework has no
/// argument.
void write_launch_of(const report::LayoutReport& report, const StudyOptions& options, const std::string& framework,
                     const std::string& out, const scenario::ScenarioSource& source) {
  if (report.trials.empty())
    throw InputError(Diagnostic{options.scenario, 0, "has no layout to write with --write",
                                "use more devices, or devices with more memory", false, true});
  std::vector<std::string> overrides = options.overrides;
  std::erase_if(overrides, scenario::sets_layout);
  for (const std::string& one : report.trials.front().layout.set) overrides.push_back(one);
  const study::WrittenLaunch written =
      study::write_launch(framework, study::launch_of(source.load_point(overrides, study::make_catalog()), report.run));
  write_file_atomically(out, written.text);
  if (written.lacking.empty() || options.quiet) return;
  std::string remedy;
  for (const std::string& one : written.lacking) {
    const std::string name = one.substr(0, one.find('='));
    if (!scenario::sets_layout("timed-as." + name)) continue;
    remedy += fmt::format(" --fix {}={}", name, scenario::timed_as_attribute({}, name));
  }
  say(fmt::format("{} has no argument for {} (docs/launch.md){}{}.\n", framework, fmt::join(written.lacking, ", "),
                  remedy.empty() ? "" : "; to search layouts without them, add", remedy));
}

}  // namespace

void run_layout(const po::variables_map& values) {
  const StudyOptions options = study_options_of(values, "layout");
  const study::LayoutOptions asked = search_options(values);
  const std::string framework =
      value_of<std::string>(values, "write", scenario::one_of(formats::launch_frameworks())).value_or("");
  const std::string to = text_of(values, "out");
  if (framework.empty() && !to.empty())
    throw UsageError("--out needs --write FRAMEWORK; add --write FRAMEWORK, or remove --out");
  const std::string out = framework.empty() ? "" : to.empty() ? "-" : to;
  const StudyFiles files(values, {{"the scenario", options.scenario}}, {{"--out", out}});
  const scenario::ScenarioSource source(options.scenario);
  const ThreadLimit limit(threads_to_use(options.threads));
  const report::LayoutReport report =
      study::search_layouts(source, options.overrides, asked, !options.quiet, [&] { files.check_against_inputs(); });
  if (report.divisible == 0 && !report.fixed.empty())
    throw UsageError(report::in_words(report::answer_of(report).front()) + " Remove --fix to list layouts.");
  files.write(document_of(report), report::About{.scenario = source.text(), .set = options.overrides});
  if (!framework.empty()) write_launch_of(report, options, framework, out, source);
}

}  // namespace dadsim::cli
