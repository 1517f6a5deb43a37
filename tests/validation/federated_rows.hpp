#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenario/document/load.hpp"
#include "study/setting/catalog.hpp"
#include "support/temporary_folder.hpp"
#include "validation/measured.hpp"

// Turns rows of tests/validation/federated.csv into scenarios, with one function per source. A scenario depends only on
// the row's columns and on the software's name in the table of frameworks; nothing is chosen for a single row.

namespace dadsim::test {

using FederatedRow = std::map<std::string, std::string>;

/// Parses a rate in Mbit/s and a round trip in ms: "210@103".
inline std::pair<std::string, std::string> line_of(const std::string& text) {
  const std::size_t at = text.find('@');
  return {text.substr(0, at), text.substr(at + 1)};
}

/// Parses places with their numbers of peers: "US 4|EU 2".
inline std::vector<std::pair<std::string, int>> peers_of(const FederatedRow& row) {
  std::vector<std::pair<std::string, int>> peers;
  for (const std::string& place : split(row.at("peers"), '|')) {
    const std::size_t blank = place.find(' ');
    peers.emplace_back(place.substr(0, blank), std::stoi(place.substr(blank + 1)));
  }
  return peers;
}

inline int count_of(const FederatedRow& row) {
  int count = 0;
  for (const auto& [place, peers] : peers_of(row)) count += peers;
  return count;
}

/// Returns a scenario of hivemind, with a region per place, and a <pair> with the measured rate of one stream per two
/// places. Hosts have the measured rate between two peers of one place. Ten streams between US and EU carried ten times
/// as much, so the total rate of a line is unknown and set to a host's rate. A step is 32,768 samples of all peers in
/// half precision. Its exchange is exposed, since nothing is sent before the last gradient, with and without the
/// framework.
inline scenario::Scenario hivemind_scenario(const FederatedRow& row, const std::string& framework,
                                            const TemporaryFolder& folder) {
  constexpr int kSamples = 32768;
  const auto [inside, inside_ms] = line_of(row.at("inside"));
  std::string wan;
  std::string hosts;
  for (const auto& [place, peers] : peers_of(row)) {
    wan += fmt::format("<region name=\"{}\" hosts=\"{}\"/>", place, peers);
    hosts += fmt::format(" {}-[1-{}]", place, peers);
  }
  for (const std::string& line : split(row.at("lines"), '|')) {
    const std::size_t dash = line.find('-');
    const std::size_t blank = line.find(' ');
    const auto [rate, ms] = line_of(line.substr(blank + 1));
    wan += fmt::format(R"(<pair from="{}" to="{}" bandwidth="{}Mbps" per-connection="{}Mbps" round-trip="{}ms"/>)",
                       line.substr(0, dash), line.substr(dash + 1, blank - dash - 1), inside, rate, ms);
  }
  const int peers = count_of(row);
  // A parameter takes two bytes.
  folder.write("workload.xml",
               fmt::format(R"(<workload name="{}"><layer name="all" kind="dense" in="1000" out="{}"/></workload>)",
                           row.at("id"), static_cast<int>(std::stod(row.at("payload")) * 500)));
  const std::string text = fmt::format(
      R"(<scenario name="{}" seed="1">
  <platform><wan host-bandwidth="{}Mbps" host-latency="{}ms">{}</wan></platform>
  <framework name="{}"/>
  <device name="peer" peak-flops="8TF" fp16-flops="65TF" memory-bandwidth="300GBps" matrix-efficiency="0.5"
          memory-efficiency="0.8" launch-overhead="10us" step-time="{}s"/>
  <workers memory="ignore"><worker hosts="{}" device="peer"/></workers>
  <timing-only/>
  <training><sgd learning-rate="0.1"/></training>
  <timed-as file="workload.xml" batch="{}" precision="fp16"/>
  <run algorithm="gradient-sharing" exchange="peer" bucket="100GB"{}/>
</scenario>)",
      row.at("id"), inside, std::stod(inside_ms) / 4, wan, framework, kSamples / std::stod(row.at("rate")),
      hosts.substr(1), kSamples / peers, framework == "none" ? " all-reduce=\"direct\"" : "");
  return scenario::ScenarioSource(folder.path("scenario.xml"), text).load({}, study::make_catalog());
}

/// Returns a scenario of Flower over a research network, with the row's clients around a server. Hosts are limited by
/// their sending rate, as clouds limit outgoing traffic. The server's line carries the model to all clients, and again
/// for evaluation; clients return it over their own lines. The rate of the server's line is not published, and is
/// fitted to one model size.
inline constexpr const char* kFlowerFitted = "erad-rnp-3072";
inline constexpr double kFlowerLine = 128.4;  ///< Mbit/s
inline scenario::Scenario flower_scenario(const FederatedRow& row, const std::string& framework,
                                          const TemporaryFolder& folder) {
  const std::string text = fmt::format(
      R"(<scenario name="{0}" seed="1">
  <platform><federation>
    <sites name="client" count="{1}" up="{2}Mbps" down="1Gbps" latency="2ms" measured="goodput"/>
    <hub up="{2}Mbps" down="1Gbps" latency="2ms" measured="goodput"/>
  </federation></platform>
  <framework name="{3}"/>
  <workers><worker hosts="client-[1-{1}]" device="xeon-8380"/><aggregator host="hub" device="xeon-8380"/></workers>
  <timing-only payload="{4}MB" step-time="1us"/>
  <training><sgd learning-rate="0.1"/></training>
  <run algorithm="fedavg" fraction="1"/>
</scenario>)",
      row.at("id"), count_of(row), kFlowerLine, framework, row.at("payload"));
  return scenario::ScenarioSource(folder.path("scenario.xml"), text).load({}, study::make_catalog());
}

/// Returns two rounds of fedavg whose clients train for no time.
inline scenario::Scenario round_scenario(const std::string& platform, const std::string& workers,
                                         const std::string& framework, const std::string& megabytes) {
  const std::string text = fmt::format(
      R"(<scenario name="A round" seed="1"><platform{}{}<workers memory="ignore">{}</workers>
<timing-only payload="{}MB"/><run algorithm="fedavg" rounds="2" local-steps="1"/></scenario>)",
      platform, framework, workers, megabytes);
  const TemporaryFolder folder;
  return scenario::ScenarioSource(folder.path("scenario.xml"), text).load({}, study::make_catalog());
}

/// Returns a round of clients that reach the server at the rate `line`. "1Tbps" is for clients on the server's machine,
/// where lines take almost no time.
inline scenario::Scenario clients_scenario(const std::string& clients, const std::string& line,
                                           const std::string& framework, const std::string& megabytes) {
  return round_scenario(
      fmt::format(
          R"(><federation><sites name="client" count="{}" up="{}" down="{}" latency="0ms" transport="plain"/></federation></platform>)",
          clients, line, line),
      fmt::format(R"(<worker hosts="client-[1-{}]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/>)",
                  clients),
      framework, megabytes);
}

/// Returns the scenario of a row of frameworks.csv with the framework's rates; an evaluation model is sent or not.
inline scenario::Scenario one_machine_scenario(const FederatedRow& row, const std::string& framework) {
  return clients_scenario(row.at("clients"), "1Tbps",
                          fmt::format(R"(<framework name="{}" evaluate="{}"/>)", framework,
                                      row.at("framework") == "flower" ? "true" : "false"),
                          row.at("megabytes"));
}

}  // namespace dadsim::test
