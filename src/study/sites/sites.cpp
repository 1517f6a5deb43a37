#include "study/sites/sites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "models/data/dataset.hpp"
#include "report/run/answer.hpp"
#include "report/run/figures.hpp"
#include "report/run/result_document.hpp"
#include "report/text/amounts.hpp"
#include "report/text/escape.hpp"
#include "report/text/text_blocks.hpp"
#include "scenario/document/load.hpp"
#include "scenario/language/quantity.hpp"
#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "spec/near_names.hpp"
#include "spec/workload.hpp"
#include "study/learning/learned.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/sites/hospitals_text.hpp"
#include "study/trials/outcome.hpp"
#include "support/diagnostics.hpp"
#include "support/human.hpp"
#include "support/split.hpp"

namespace dadsim::study {
namespace {

constexpr std::string_view kDigits = "<digits train=\"8000\" test=\"2000\"/>";
constexpr const char* kUnknownName = "unknown";
constexpr const char* kScenarioFile = "sites.xml";
constexpr const char* kUsualNetwork = "resnet-50";
constexpr std::int64_t kSitesBatch = 32;  // samples of a site per step: the default of the scenario language

/// Returns the value for a site: its own, or the one given for all sites.
const std::string& line_of_site(const std::vector<std::string>& values, std::int64_t site) {
  return values[values.size() == 1 ? 0 : static_cast<std::size_t>(site)];
}

void check_line_count(const SitesRequest& request, const char* option, const std::vector<std::string>& values) {
  if (values.size() == 1 || values.size() == static_cast<std::size_t>(request.sites)) return;
  throw InputError(Diagnostic{option, 0, fmt::format("{} values for {} sites", values.size(), request.sites),
                              fmt::format("give one value for all sites, or {} separated by commas", request.sites)});
}

/// Returns half of a round trip, as text in the scenario language.
std::string one_way(const std::string& round_trip) {
  const std::optional<double> seconds = scenario::parse_quantity(scenario::Unit::seconds, round_trip);
  if (!seconds)
    throw InputError(
        Diagnostic{"--round-trip", 0, fmt::format("'{}' is no time", round_trip), scenario::kLatencyForm.remedy});
  return fmt::format("{}s", *seconds / 2);
}

/// Converts lines to the scenario language: keeps bandwidths, replaces names of links by the catalogue's.
std::vector<std::string> lines_in(const char* option, std::vector<std::string> lines,
                                  std::vector<report::Statement>& taken) {
  const std::vector<std::string> links = names_of_links();
  for (std::string& line : lines) {
    const auto rate = scenario::parse_quantity(scenario::Unit::bytes_per_second, line);
    if (rate && scenario::kBandwidthForm.range.contains(*rate)) continue;
    if (rate)
      throw InputError(
          Diagnostic{option, 0, fmt::format("'{}' carries nothing", line), scenario::kBandwidthForm.remedy});
    if (const std::string meant = scenario::meant_quantity(scenario::Unit::bytes_per_second, line); !meant.empty())
      throw InputError(Diagnostic{option, 0, fmt::format("'{}' is no rate", line), did_you_mean(std::vector{meant})});
    const bool is_rate = !line.empty() && line.front() >= '0' && line.front() <= '9';
    if (is_rate && spec::name_meant(spec::NameKind::link, line, links).name.empty())
      throw InputError(Diagnostic{option, 0, fmt::format("'{}' is no rate", line), scenario::kBandwidthForm.remedy});
    line = meant_name(spec::NameKind::link, option, line, links, kUnknownName, taken);
  }
  return lines;
}

std::string lines_element(const SitesRequest& request) {
  const auto row = [&](const std::string& name, const std::string& count, std::int64_t site) {
    return fmt::format("      <sites name=\"{}\"{} up=\"{}\" down=\"{}\" latency=\"{}\"/>\n", name, count,
                       report::escaped(line_of_site(request.up, site)),
                       report::escaped(line_of_site(request.down, site)),
                       one_way(line_of_site(request.round_trip, site)));
  };
  if (std::max({request.up.size(), request.down.size(), request.round_trip.size()}) == 1)
    return row("site", fmt::format(" count=\"{}\"", request.sites), 0);
  std::string text;
  for (std::int64_t site = 0; site < request.sites; ++site) text += row(fmt::format("site-{}", site + 1), "", site);
  return text;
}

/// Replaces one passage of scenarios/hospitals.xml.
void put_in(std::string& text, std::string_view place, const std::string& put) {
  const std::size_t at = text.find(place);
  if (at == std::string::npos) throw std::logic_error("scenarios/hospitals.xml has no " + std::string(place));
  text.replace(at, place.size(), put);
}

/// Returns scenarios/hospitals.xml with the given sites, device, data and timed workload. Runs end at the target.
std::string sites_text(const SitesRequest& request, const std::string& device, const std::string& workload) {
  std::string asked(kHospitals.substr(kHospitals.find("  <data>")));
  put_in(asked, "<training", "<training stop=\"target\"");
  if (!workload.empty())
    put_in(asked, "  <run", fmt::format("  <timed-as workload=\"{}\" batch=\"{}\"/>\n  <run", workload, kSitesBatch));
  if (request.data != "digits") {
    spec::CsvSource source;
    source.file = request.data;
    source.target = request.target;
    put_in(asked, kDigits,
           fmt::format("<csv file=\"{}\" target=\"{}\"/>",
                       report::escaped(std::filesystem::absolute(request.data).lexically_normal().string()),
                       report::escaped(request.target)));
    put_in(asked, "<dense units=\"10\"/>", fmt::format("<dense units=\"{}\"/>", models::inspect_data(source).classes));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<!-- Sites that learn together over their lines: the question of `dadsim sites` (docs/sites.md). -->\n"
      "<scenario name=\"{0} sites\" seed=\"1\">\n"
      "  <platform>\n    <federation>\n{1}      <hub up=\"1Gbps\" down=\"1Gbps\" latency=\"0s\"/>\n"
      "    </federation>\n  </platform>\n"
      "  <workers>\n    <worker hosts=\"site-[1-{0}]\" device=\"{2}\"/>\n"
      "    <aggregator host=\"hub\" device=\"xeon-8380\"/>\n  </workers>\n{3}",
      request.sites, lines_element(request), device, asked);
}

/// Converts faults of the generated scenario to faults of options, the first for each option: the user has no such
/// file.
InputError in_options(const InputError& wrong, const std::string& scenario, const std::string& workload) {
  const auto lines = split_at(scenario, '\n');
  std::vector<Diagnostic> said;
  for (Diagnostic one : wrong.diagnostics()) {
    if (one.file == kScenarioFile) {
      const std::string_view line = one.line > 0 ? lines[static_cast<std::size_t>(one.line) - 1] : std::string_view();
      const bool of_step = line.find("<timed-as") != line.npos || line.find("<run") != line.npos;
      if (of_step && !workload.empty()) {
        one.file = "--model";
        one.what = fmt::format("{}, {}", workload, one.what);
        one.remedy = workload == kUsualNetwork
                         ? "use a --device with more memory, or remove --model"
                         : fmt::format("use --model {}, or a --device with more memory", kUsualNetwork);
      } else if (line.find("<csv") != line.npos || line.find("<data") != line.npos) {
        one.file = "--data";
      } else {
        one.file = line.find("<worker") != line.npos ? "--device" : "N";
        if (of_step) one.remedy = "use fewer sites, or a machine with more memory";
      }
      one.line = 0;
    }
    if (std::ranges::find(said, one.file, &Diagnostic::file) == said.end()) said.push_back(std::move(one));
  }
  return InputError(std::move(said));
}

/// Returns the share of the data that the strongest adversary reads in messages.
std::string revealed_by(const report::RunResult& run) {
  const double samples = report::most_leaked(run, &step::LeakFigures::samples_handed_over);
  if (samples > 0) return fmt::format("{} of the samples, as they are", human_percent(samples));
  const double batch = report::most_leaked(run, &step::LeakFigures::span_excess);
  return std::isfinite(batch) ? fmt::format("{} of a batch", human_percent(batch)) : "–";
}

/// Returns the table of runs that communicate, starting with those that reach the target.
report::DocumentTable sites_table(const report::Result& result) {
  const report::Answer answer = answer_to(result);
  // Without a known number of steps, runs are ranked by the time of a step.
  const bool reaches =
      answer.metric == report::Metric::time_to_target || answer.metric == report::Metric::time_at_scale;
  report::DocumentTable table;
  const auto add = [&](const report::RunResult& run, const report::Answer::Place* place) {
    if (!reaches) place = nullptr;
    const double steps = place != nullptr ? place->seconds / run.step_seconds : 0;
    const double bytes = run.steps > 0 ? run.total_bytes / static_cast<double>(run.steps) : 0;
    std::string time = reaches ? "never" : "–";
    if (place != nullptr) {
      time = place->low && place->high ? report::seconds_with_interval(place->seconds, *place->low, *place->high)
                                       : human_seconds(place->seconds);
    }
    table.add_row()
        .say("algorithm", run.spec.label)
        .say("to the target", time)
        .say("a step", human_seconds(run.step_seconds))
        .say("sent until then", place != nullptr ? human_bytes(steps * bytes) : "–")
        .say("messages reveal", revealed_by(run));
  };
  for (const report::Answer::Place& place : answer.ranking) add(result.runs[place.run], &place);
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const bool ranked = std::ranges::find(answer.ranking, i, &report::Answer::Place::run) != answer.ranking.end();
    if (!ranked && result.runs[i].spec.communicates) add(result.runs[i], nullptr);
  }
  return table;
}

report::Result result_of(const std::string& text, bool show_progress) {
  const scenario::ScenarioSource source(kScenarioFile, text);
  const scenario::Scenario scenario = source.load({}, make_catalog());
  const Learned learned = learn_scenario(scenario, nullptr, show_progress);
  report::Result result = time_scenario(scenario, learned, cluster_of(scenario), show_progress);
  result.rate_as_tcp = rate_as_tcp(scenario);
  add_step_with_rdma(source, {}, scenario, learned, result);
  return result;
}

}  // namespace

SitesAnswer ask_sites(const SitesRequest& asked, bool show_progress) {
  check_line_count(asked, "--up", asked.up);
  check_line_count(asked, "--down", asked.down);
  check_line_count(asked, "--round-trip", asked.round_trip);
  std::vector<report::Statement> taken;
  SitesRequest request = asked;
  request.up = lines_in("--up", asked.up, taken);
  request.down = lines_in("--down", asked.down, taken);
  const std::string device = meant_name(spec::NameKind::device, "--device", request.device,
                                        sim::device_catalog().names(), kUnknownName, taken);
  const std::string workload = request.model.empty()
                                   ? std::string()
                                   : meant_name(spec::NameKind::workload, "--model", request.model,
                                                spec::workload_registry().names(), kUnknownName, taken);
  SitesAnswer answer{{}, sites_text(request, device, workload)};
  report::Result result;
  try {
    result = result_of(answer.scenario, show_progress);
  } catch (const InputError& wrong) {
    throw in_options(wrong, answer.scenario, workload);
  }
  taken.push_back(report::Statement{"sites-taken", {device}}
                      .with("digits", request.data == "digits")
                      .with("batch", static_cast<double>(kSitesBatch)));
  result.assumptions.insert(result.assumptions.begin(), taken.begin(), taken.end());
  answer.document = document_of(result);
  report::Document& document = answer.document;
  document.page = report::PageKind::document;
  for (report::DocumentPart& part : document.parts) {
    if (part.shown != report::Shown::never && part.shown != report::Shown::page) part.shown = report::Shown::verbose;
  }
  document.parts.insert(document.parts.begin(),
                        {.shown = report::Shown::brief, .what = sites_table(result), .text = "\n"});
  document.rests_on(report::paragraph("Assumed: " + report::as_paragraph(taken)), report::Shown::brief);
  return answer;
}

}  // namespace dadsim::study
