#include "study/sweep/remembering_catalog.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/print_platform.hpp"
#include "study/setting/for_each_link.hpp"
#include "study/store/memory_store.hpp"

namespace dadsim::study {
namespace {

/// Whether there is a link matters to hosts and routes; which one it is does not.
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

std::string as_text(const spec::DataSource& source) {
  scenario::XmlWriter xml;
  write_data(xml, spec::DataSpec{source, {}, {}, {}}, [](const std::string& path) { return path; });
  return xml.finish();
}

}  // namespace

scenario::Catalog remembering(scenario::Catalog catalog) {
  const auto platforms = std::make_shared<AnswerMemory<scenario::Catalog::PlatformAnswer>>();
  catalog.check_platform = [ask = catalog.check_platform,
                            platforms](const scenario::Catalog::PlatformQuestion& question) {
    return platforms->answer(as_text(question), [&] { return ask(question); });
  };
  const auto hosts = std::make_shared<AnswerMemory<std::vector<std::string>>>();
  catalog.hosts_of_platform = [ask = catalog.hosts_of_platform, hosts](const spec::PlatformSpec& platform) {
    return hosts->answer(as_text(scenario::Catalog::PlatformQuestion{platform, {}, {}}), [&] { return ask(platform); });
  };
  const auto links = std::make_shared<AnswerMemory<std::vector<scenario::Catalog::NamedLink>>>();
  catalog.links_of_platform = [ask = catalog.links_of_platform, links](const spec::PlatformSpec& platform) {
    return links->answer(as_text(scenario::Catalog::PlatformQuestion{platform, {}, {}}), [&] { return ask(platform); });
  };
  const auto faults = std::make_shared<AnswerMemory<std::optional<Fault>>>();
  catalog.check_collective = [ask = catalog.check_collective, faults](
                                 const scenario::Catalog::PlatformQuestion& question, const std::string& collective,
                                 const std::string& algorithm) {
    return faults->answer(fmt::format("{} {}\n{}", collective, algorithm, as_text(question)),
                          [&] { return ask(question, collective, algorithm); });
  };
  catalog.check_split = [ask = catalog.check_split, faults](const spec::DataSpec& split, std::size_t workers,
                                                            std::uint64_t seed) {
    scenario::XmlWriter xml;
    write_data(xml, split, [](const std::string& path) { return path; });
    return faults->answer(fmt::format("{} {}\n{}", workers, seed, xml.finish()),
                          [&] { return ask(split, workers, seed); });
  };
  const auto data = std::make_shared<AnswerMemory<scenario::Catalog::DataAnswer>>();
  catalog.inspect_data = [ask = catalog.inspect_data, data](const spec::DataSource& source) {
    return data->answer(as_text(source), [&] { return ask(source); });
  };
  return catalog;
}

}  // namespace dadsim::study
