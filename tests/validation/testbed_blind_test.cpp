// Compares predictions with transfers on networks that were measured after the last constant of TCP and Gloo had been
// fitted (docs/validation.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "scenario/document/load.hpp"
#include "sim/simulator.hpp"
#include "study/setting/catalog.hpp"
#include "validation/testbed_rows.hpp"

namespace dadsim {
namespace {

/// A row, and the congestion control of its senders.
struct BlindRow {
  test::TestbedRow row;
  std::string congestion;
};

/// Returns the star named `topology` (e.g. star4_50M_5ms) with this congestion control. Queues have 300 kB, except with
/// BBR, which keeps queues short.
spec::PlatformSpec star_platform(const std::string& topology, const std::string& congestion) {
  const std::vector<std::string> parts = test::split(topology, '_');
  const std::string lines =
      congestion == "bbr" ? R"(transport="tcp" congestion="bbr")" : R"(transport="tcp" queue="300kB")";
  const std::string text = fmt::format(
      R"(<scenario name="blind" seed="1"><platform><federation><sites name="host" count="{}" up="{}bps" down="{}bps" latency="{}ms" {}/></federation></platform>
         <workers><worker hosts="host-[1-2]" device="v100-sxm2"/></workers><timing-only/>
         <timed-as workload="resnet-50" batch="1"/><run algorithm="gradient-sharing" exchange="peer"/></scenario>)",
      parts.at(0).substr(4), parts.at(1), parts.at(1), std::stod(parts.at(2)) / 2, lines);
  return scenario::ScenarioSource("blind.xml", text).load({}, study::make_catalog()).platform;
}

std::vector<BlindRow> blind_rows() {
  std::vector<BlindRow> all;
  std::map<std::tuple<std::string, std::string, bool>, std::vector<std::size_t>> groups;
  for (auto& cells : test::measured("testbed-blind")) {
    const BlindRow& row = all.emplace_back(test::testbed_row(cells), cells["congestion"]);
    groups[{row.row.topology, row.congestion, row.row.is_gloo()}].push_back(all.size() - 1);
  }
  for (const auto& [group, members] : groups) {
    sim::Cluster cluster;
    cluster.platform = star_platform(std::get<0>(group), std::get<1>(group));
    cluster.network.fidelity = spec::Fidelity::message;
    for (const std::string& host : host_names(cluster.platform)) {
      if (host != "hub") cluster.hosts.push_back(host);
    }
    std::vector<test::TestbedRow*> rows;
    for (const std::size_t member : members) rows.push_back(&all[member].row);
    test::predict_rows(cluster, rows);
  }
  return all;
}

/// Returns the milliseconds of this transfer in testbed.csv; empty if it has no such row.
std::string measured_before(const test::TestbedRow& row) {
  for (auto& cells : test::measured("testbed")) {
    if (cells["topology"] == row.topology && cells["operation"] == row.operation &&
        std::stod(cells["bytes"]) == row.bytes)
      return fmt::format("{:.1f}", 1e3 * std::stod(cells["median_s"]));
  }
  return "";
}

TEST(BlindTestbed, RowsAreAsDocumented) {
  test::DocumentedTable table("testbed-blind", {"network", "operation", "congestion control", "bytes", "predicted ms",
                                                "measured ms", "error", "in testbed.csv ms"});
  std::map<std::string, std::vector<test::Compared>> groups;
  for (const BlindRow& blind : blind_rows()) {
    const test::TestbedRow& row = blind.row;
    const bool far = row.topology.ends_with("_25ms");
    groups[!row.is_gloo() ? "agdirect under BBR" : far ? "gloo, 25 ms" : "gloo, 0 and 5 ms"].push_back(row.seconds);
    table.add({row.topology, row.operation, blind.congestion, fmt::format("{:.0f}", row.bytes),
               fmt::format("{:.1f}", 1e3 * row.seconds.predicted), fmt::format("{:.1f}", 1e3 * row.seconds.measured),
               test::percent(row.seconds.error()), row.is_gloo() ? measured_before(row) : ""});
  }
  for (const auto& [name, group] : groups) {
    table.add({name, fmt::format("{} rows", group.size()), "", "", "", "",
               fmt::format("{:.1f} %", 100 * test::mean_absolute_error(group)), ""});
  }
  EXPECT_LE(test::mean_absolute_error(groups.at("gloo, 0 and 5 ms")), 0.12);
  EXPECT_LE(test::mean_absolute_error(groups.at("agdirect under BBR")), 0.06);
  table.expect_in_document();
}

}  // namespace
}  // namespace dadsim
