#include "study/import/import_federation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "protocols/methods.hpp"
#include "scenario/xml/xml_writer.hpp"

namespace dadsim::study {
namespace {

using formats::ClientLog;

constexpr std::int64_t kRounds = 5;  // rounds of the written scenario

double middle_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Returns the transfers that carry a model: all with at least half the bytes of the largest.
std::vector<ClientLog::LoggedTransfer> of_models(const std::vector<ClientLog::LoggedTransfer>& all) {
  double most = 0;
  for (const ClientLog::LoggedTransfer& one : all) most = std::max(most, one.bytes);
  std::vector<ClientLog::LoggedTransfer> models;
  for (const ClientLog::LoggedTransfer& one : all) {
    if (2 * one.bytes >= most && one.bytes > 0 && one.seconds > 0) models.push_back(one);
  }
  return models;
}

struct SiteFacts {
  std::string name;
  std::int64_t count = 0;   ///< number of hosts; 0: one host with exactly that name
  double up = 0, down = 0;  ///< byte/s
  double training = 0;      ///< seconds
};

double rate_of(const std::vector<ClientLog::LoggedTransfer>& models) {
  std::vector<double> rates;
  rates.reserve(models.size());
  for (const ClientLog::LoggedTransfer& one : models) rates.push_back(one.bytes / one.seconds);
  return middle_of(std::move(rates));
}

/// Converts a text to a valid host name that is not in `taken`, and adds it there.
std::string host_name(const std::string& name, std::size_t number, std::set<std::string>& taken) {
  std::string host;
  for (const char c : name) {
    const bool kept =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    host += kept ? c : '-';
  }
  if (host.empty()) host = fmt::format("client-{}", number + 1);
  while (!taken.insert(host).second) host += "-again";
  return host;
}

std::string scenario_of_sites(const std::string& source, const std::vector<SiteFacts>& sites, double model_bytes,
                              double fraction) {
  using Open = scenario::XmlWriter::Open;
  std::vector<double> trainings;
  for (const SiteFacts& site : sites) trainings.push_back(site.training);
  const double training = middle_of(trainings);
  scenario::XmlWriter xml;
  {
    Open root(xml, "scenario");
    root.set("name", "Federation of a log").set("seed", 1);
    Open(xml, "description").content(fmt::format("Rounds as in {}, with their packing and summing.", source));
    {
      const Open platform(xml, "platform");
      const Open federation(xml, "federation");
      for (const SiteFacts& site : sites) {
        Open element(xml, "sites");
        element.set("name", site.name);
        if (site.count > 0) element.set("count", site.count);
        element.set_bandwidth("up", site.up)
            .set_bandwidth("down", site.down)
            .set("latency", "1ms")
            .set("efficiency", 1);
      }
    }
    {
      const Open workers(xml, "workers");
      for (const SiteFacts& site : sites) {
        Open element(xml, "worker");
        element.set("hosts", site.count > 0 ? fmt::format("{}-[1-{}]", site.name, site.count) : site.name)
            .set("device", "rtx-3090");
        // Sites differ only in speed, set so that training takes the time in the log.
        if (training > 0 && site.training > 0 && site.training != training)
          element.set("speed", std::clamp(training / site.training, 0.01, 100.0));
      }
      Open(xml, "aggregator").set("host", "hub").set("device", "xeon-8380");
    }
    Open(xml, "timing-only")
        .set("payload", fmt::format("{}B", std::llround(model_bytes)))
        .set("step-time", fmt::format("{}s", training));
    Open run(xml, "run");
    run.set("algorithm", protocols::fed_avg_method().name).set("rounds", kRounds);
    if (fraction < 1) run.set("fraction", fraction);
  }
  return xml.finish();
}

}  // namespace

ImportedFederation federation_of(const std::vector<ClientLog>& clients, const FederationFacts& facts) {
  ImportedFederation federation;
  std::vector<SiteFacts> sites;
  std::set<std::string> taken;
  std::vector<double> sizes;
  for (const ClientLog& client : clients) {
    const std::vector<ClientLog::LoggedTransfer> down = of_models(client.down);
    const std::vector<ClientLog::LoggedTransfer> up = of_models(client.up);
    if (down.empty() || up.empty())
      throw std::runtime_error(
          fmt::format("has no timed {} of client '{}'", down.empty() ? "task" : "update", client.name));
    for (const auto* models : {&down, &up}) {
      for (const ClientLog::LoggedTransfer& one : *models) sizes.push_back(one.bytes);
    }
    SiteFacts& site = sites.emplace_back();
    site.name = host_name(client.name, sites.size() - 1, taken);
    site.down = facts.line.value_or(rate_of(down));
    site.up = facts.line.value_or(rate_of(up));
    site.training = facts.step_seconds.value_or(client.training.empty() ? 0 : middle_of(client.training));
  }
  federation.sites = sites.size();
  federation.model_bytes = facts.model_bytes.value_or(middle_of(std::move(sizes)));
  for (const SiteFacts& site : sites)
    federation.round_seconds =
        std::max(federation.round_seconds, federation.model_bytes * (1 / site.down + 1 / site.up) + site.training);
  federation.scenario = scenario_of_sites("the logs of NVIDIA FLARE", sites, federation.model_bytes, 1);
  return federation;
}

ImportedFederation federation_of(const formats::ServerLog& server, const FederationFacts& facts) {
  ImportedFederation federation;
  const std::optional<double> bytes = facts.model_bytes ? facts.model_bytes : server.model_bytes;
  if (!bytes || !(*bytes > 0))
    throw std::runtime_error("lacks the bytes of a model, which Flower logs from version 1.21 on");
  federation.model_bytes = *bytes;
  std::vector<double> seconds;
  std::int64_t known = 0;
  double sampled = 0;
  for (const formats::ServerLog::LoggedRound& round : server.rounds) {
    if (round.seconds) seconds.push_back(*round.seconds);
    known = std::max(known, round.known);
    sampled += static_cast<double>(round.sampled);
  }
  if (known < 1) throw std::runtime_error("has rounds without clients");
  const auto rounds = static_cast<double>(server.rounds.size());
  federation.sites = static_cast<std::size_t>(known);
  federation.round_seconds = !seconds.empty()       ? middle_of(std::move(seconds))
                             : server.total_seconds ? *server.total_seconds / rounds
                                                    : 0;
  if (!(federation.round_seconds > 0)) throw std::runtime_error("lacks the duration of its rounds");
  SiteFacts site{.name = "client", .count = known};
  if (facts.line) site.up = site.down = *facts.line;
  if (!facts.line && facts.step_seconds) {
    const double rest = federation.round_seconds - *facts.step_seconds;
    if (!(rest > 0))
      throw std::runtime_error(fmt::format("has rounds of {:.3g} s, shorter than the training of {:.3g} s",
                                           federation.round_seconds, *facts.step_seconds));
    site.up = site.down = 2 * federation.model_bytes / rest;
  }
  if (!facts.line && !facts.step_seconds) {
    federation.line_is_assumed = true;
    site.up = site.down = kAssumedLine;
  }
  federation.training_is_the_rest = !facts.step_seconds;
  site.training = facts.step_seconds.value_or(
      std::max(0.0, federation.round_seconds - federation.model_bytes * (1 / site.up + 1 / site.down)));
  if (facts.line && facts.step_seconds)
    federation.round_seconds = federation.model_bytes * (1 / site.up + 1 / site.down) + site.training;
  federation.scenario = scenario_of_sites("a log of Flower", {site}, federation.model_bytes,
                                          std::clamp(sampled / rounds / static_cast<double>(known), 0.0, 1.0));
  return federation;
}

}  // namespace dadsim::study
