#include "study/sweep/remembering_catalog.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/print_platform.hpp"
#include "support/fingerprint.hpp"

namespace dadsim::study {
namespace {

template <class Answer>
class Memory {
 public:
  template <class Ask>
  Answer answer(const std::string& text, const Ask& ask) {
    const Question question{fingerprint(text), text.size()};  // the text itself may list 100,000 hosts
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = known_.find(question); found != known_.end()) return found->second;
    }
    Answer answer = ask();
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMost) known_.clear();
    known_.emplace(question, answer);
    return answer;
  }

 private:
  using Question = std::pair<std::uint64_t, std::size_t>;
  static constexpr std::size_t kMost = 1000;
  std::mutex mutex_;
  std::map<Question, Answer> known_;
};

/// Whether there is a link matters to hosts and routes; which one it is does not.
spec::LinkSpec some_link(const spec::LinkSpec& link) {
  spec::LinkSpec some;
  if (link.bandwidth > 0) {
    some.name = "link";
    some.bandwidth = 1;
  }
  return some;
}

void unify(spec::GpuClusterSpec& cluster) {
  for (spec::LinkSpec* link : {&cluster.port, &cluster.bridge, &cluster.nic, &cluster.fabric.link})
    *link = some_link(*link);
  for (spec::NodeGroup& group : cluster.more) {
    group.port = some_link(group.port);
    group.nic = some_link(group.nic);
  }
}

void unify(spec::FederationSpec& federation) {
  for (spec::FederationSpec::Sites& sites : federation.sites) {
    sites.up = some_link(sites.up);
    sites.down = some_link(sites.down);
  }
  federation.hub_up = some_link(federation.hub_up);
  federation.hub_down = some_link(federation.hub_down);
}

void unify(std::vector<spec::WanSpec::Pair>& pairs) {
  for (spec::WanSpec::Pair& pair : pairs) {
    pair.bandwidth = 1;
    pair.round_trip = 0;
  }
}

void unify(spec::WanSpec& wan) {
  wan.host = some_link(wan.host);
  unify(wan.pairs);
}

void unify(spec::CompositionSpec& composition) {
  for (auto& cluster : composition.clusters) std::visit([](auto& one) { unify(one); }, cluster);
  unify(composition.pairs);
}

void unify(spec::PlatformFileSpec&) {}

std::string as_text(const scenario::Catalog::PlatformQuestion& question) {
  spec::PlatformSpec platform = question.platform;
  std::visit([](auto& what) { unify(what); }, platform.what);
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
  const auto platforms = std::make_shared<Memory<scenario::Catalog::PlatformAnswer>>();
  catalog.check_platform = [ask = catalog.check_platform,
                            platforms](const scenario::Catalog::PlatformQuestion& question) {
    return platforms->answer(as_text(question), [&] { return ask(question); });
  };
  const auto hosts = std::make_shared<Memory<std::vector<std::string>>>();
  catalog.hosts_of_platform = [ask = catalog.hosts_of_platform, hosts](const spec::PlatformSpec& platform) {
    return hosts->answer(as_text(scenario::Catalog::PlatformQuestion{platform, {}, {}}), [&] { return ask(platform); });
  };
  const auto links = std::make_shared<Memory<std::vector<scenario::Catalog::NamedLink>>>();
  catalog.links_of_platform = [ask = catalog.links_of_platform, links](const spec::PlatformSpec& platform) {
    return links->answer(as_text(scenario::Catalog::PlatformQuestion{platform, {}, {}}), [&] { return ask(platform); });
  };
  const auto faults = std::make_shared<Memory<std::optional<Fault>>>();
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
  const auto data = std::make_shared<Memory<scenario::Catalog::DataAnswer>>();
  catalog.inspect_data = [ask = catalog.inspect_data, data](const spec::DataSource& source) {
    return data->answer(as_text(source), [&] { return ask(source); });
  };
  return catalog;
}

}  // namespace dadsim::study
