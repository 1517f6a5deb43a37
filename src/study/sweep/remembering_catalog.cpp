#include "study/sweep/remembering_catalog.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenario/elements/print_parts.hpp"
#include "scenario/scenario.hpp"
#include "study/setting/for_each_link.hpp"
#include "study/store/memory_store.hpp"

namespace dadsim::study {
namespace {

/// Returns a placeholder for a link: only its existence matters to hosts and routes.
spec::LinkSpec some_link(const spec::LinkSpec& link) {
  spec::LinkSpec some;
  if (link.bandwidth > 0) {
    some.name = "link";
    some.bandwidth = 1;
  }
  return some;
}

std::string as_text(const scenario::Catalog::PlatformQuestion& question) {
  spec::PlatformSpec platform = question.platform;
  for_each_link(
      platform, [](spec::LinkSpec& link) { link = some_link(link); },
      [](spec::WanSpec::Pair& pair) {
        pair.bandwidth = 1;
        pair.round_trip = 0;
      });
  platform.description.clear();
  scenario::XmlWriter xml;
  write_platform(xml, platform, [](const std::string& path) { return path; });
  std::string text = xml.finish();
  for (const std::string& host : question.hosts) text += host + '\n';
  for (const auto& [from, to] : question.pairs) text += fmt::format("{}>{}\n", from, to);
  return text;
}

std::string as_text(const spec::PlatformSpec& platform) {
  return as_text(scenario::Catalog::PlatformQuestion{platform, {}, {}});
}

std::string as_text(const spec::DataSource& source) {
  scenario::XmlWriter xml;
  write_data(xml, spec::DataSpec{source, {}, {}, {}}, [](const std::string& path) { return path; });
  return xml.finish();
}

/// Returns the part of a scenario that a check depends on, which points of a sweep may share; nullopt if the check is
/// not remembered.
std::optional<std::string> as_text(scenario::Catalog::Check what, const scenario::Scenario& scenario) {
  if (what == scenario::Catalog::Check::collectives) {
    std::string named;
    for (const spec::RunSpec& run : scenario.runs) {
      const bool asks = run.communicates && !run.event_driven && run.exchange == spec::ExchangeMode::peer &&
                        !(run.all_reduce == "auto" && run.all_gather == "auto" && run.reduce_scatter == "auto");
      named += asks ? fmt::format("{} {} {}\n", run.all_reduce, run.all_gather, run.reduce_scatter) : "\n";
    }
    if (named.find_first_not_of("\n") == std::string::npos) return std::nullopt;
    scenario::Catalog::PlatformQuestion question{scenario.platform, {}, {}};
    for (const spec::Placement& worker : scenario.workers) question.hosts.push_back(worker.host);
    return named + as_text(question);
  }
  if (what != scenario::Catalog::Check::split) return std::nullopt;
  scenario::XmlWriter xml;
  write_data(xml, scenario.data, [](const std::string& path) { return path; });
  return fmt::format("{} {} {}\n{}", scenario.workers.size(), scenario.seed, scenario.training.seeds, xml.finish());
}

/// Makes a question of the catalogue remember its answers.
template <class Answer, class Asked>
void remember(std::function<Answer(const Asked&)>& question) {
  question = [ask = question, memory = std::make_shared<AnswerMemory<Answer>>()](const Asked& asked) {
    return memory->answer(as_text(asked), [&] { return ask(asked); });
  };
}

}  // namespace

scenario::Catalog remembering(scenario::Catalog catalog) {
  remember(catalog.check_platform);
  remember(catalog.hosts_of_platform);
  remember(catalog.links_of_platform);
  remember(catalog.inspect_data);
  using Check = scenario::Catalog::Check;
  const auto faults = std::make_shared<AnswerMemory<std::vector<scenario::Catalog::ScenarioFault>>>();
  catalog.check = [ask = catalog.check, faults](Check what, const scenario::Scenario& scenario,
                                                const spec::SampleShape& sample) {
    const std::optional<std::string> asked = as_text(what, scenario);
    return asked ? faults->answer(*asked, [&] { return ask(what, scenario, sample); }) : ask(what, scenario, sample);
  };
  return catalog;
}

}  // namespace dadsim::study
