// Compares predictions with transfers and collectives over real TCP, at other rates, delays and queues than in
// testbed_test.cpp. scripts/testbed measured them. Half of the configurations took no part in any fit
// (docs/validation.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "support/temporary_folder.hpp"
#include "validation/measured.hpp"
#include "validation/residuals.hpp"
#include "validation/testbed_rows.hpp"

namespace dadsim {
namespace {

/// BBR keeps queues short and ignores losses. As in platforms/testbed, a queue that never fills models it.
constexpr double kBbrQueue = 1e9;  // bytes

struct WideRow : test::TestbedRow {
  bool held_out = false;
};

/// A network, parsed from a name such as star4_50M_5ms_300kB or dumbbell44_20M_10ms_100kB, optionally with _bbr at the
/// end.
struct WideNetwork {
  explicit WideNetwork(const std::string& topology) {
    const std::vector<std::string> parts = test::split(topology, '_');
    trunk = parts[0] == "dumbbell44";
    hosts = trunk ? 8 : std::stoi(parts[0].substr(4));
    rate = std::stod(parts[1]) * 1e6 / 8;
    delay = std::stod(parts[2]) * 1e-3;
    queue = std::stod(parts[3]) * 1e3;
    bbr = parts.size() > 4;
  }
  bool trunk = false, bbr = false;
  std::int32_t hosts = 0;
  double rate = 0, delay = 0, queue = 0;  // byte/s; seconds; bytes
};

spec::LinkSpec line(double rate, double latency, double queue) {
  spec::LinkSpec link;
  link.name = "line";
  link.bandwidth = rate;
  link.latency = latency;
  link.transport = spec::Transport::tcp;
  link.efficiency = sim::kTcpEfficiency;
  link.queue_bytes = queue;
  return link;
}

/// Returns a SimGrid platform file, as the line between regions of a declared <wan> has no queue of its own.
spec::PlatformFileSpec dumbbell(const std::string& topology, const WideNetwork& network) {
  static const test::TemporaryFolder folder;
  spec::PlatformFileSpec file;
  file.path = folder.path(topology + ".xml");
  file.transport = spec::Transport::tcp;
  std::ofstream out(file.path);
  out << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\"><zone id=\"all\" routing=\"Full\">\n";
  for (int i = 1; i <= 8; ++i) out << fmt::format("<host id=\"host-{}\" speed=\"1Gf\"/>\n", i);
  const auto link = [&](const std::string& name, double rate, double latency) {
    out << fmt::format("<link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}s\"><prop id=\"queue\" value=\"{}\"/></link>\n",
                       name, rate, latency, network.queue);
  };
  for (int i = 1; i <= 8; ++i) {
    for (const char* direction : {"up", "down"}) link(fmt::format("host-{}-{}", i, direction), 25e6, 5e-5);
  }
  for (const char* direction : {"there", "back"}) link(direction, network.rate, network.delay);
  for (int i = 1; i <= 8; ++i) {
    for (int j = 1; j <= 8; ++j) {
      if (i == j) continue;
      out << fmt::format(
          "<route src=\"host-{0}\" dst=\"host-{1}\" symmetrical=\"NO\"><link_ctn id=\"host-{0}-up\"/>{2}"
          "<link_ctn id=\"host-{1}-down\"/></route>\n",
          i, j, (i > 4) == (j > 4) ? std::string() : fmt::format("<link_ctn id=\"{}\"/>", i <= 4 ? "there" : "back"));
    }
  }
  out << "</zone></platform>\n";
  return file;
}

sim::Cluster cluster_of(const std::string& topology) {
  const WideNetwork network(topology);
  sim::Cluster cluster;
  cluster.network.fidelity = spec::Fidelity::message;
  for (int i = 1; i <= network.hosts; ++i) cluster.hosts.push_back(fmt::format("host-{}", i));
  if (network.trunk) {
    cluster.platform.what = dumbbell(topology, network);
    return cluster;
  }
  spec::FederationSpec::Sites sites;
  sites.name = "host";
  sites.count = network.hosts;
  sites.up = sites.down = line(network.rate, network.delay / 2, network.bbr ? kBbrQueue : network.queue);
  spec::FederationSpec federation;
  federation.sites = {sites};
  cluster.platform.what = federation;
  return cluster;
}

const std::vector<WideRow>& wide_rows() {
  static const std::vector<WideRow> all = [] {
    std::vector<WideRow> result;
    std::set<std::string> topologies;
    for (auto& cells : test::measured("testbed-wide")) {
      result.push_back({test::testbed_row(cells), cells["part"] == "held out"});
      topologies.insert(cells["topology"]);
    }
    for (const std::string& topology : topologies) {
      std::vector<test::TestbedRow*> members;
      for (WideRow& row : result) {
        if (row.topology == topology) members.push_back(&row);
      }
      predict_rows(cluster_of(topology), members);
    }
    return result;
  }();
  return all;
}

std::string group_of(const WideRow& row) {
  return row.topology.ends_with("_bbr") ? "BBR" : row.is("star") ? "star" : "dumbbell44";
}

/// Returns the band category of a row, which depends on whether its messages overflow the queue before a line. New
/// connections, and BBR, have other causes of delay.
const char* category_of(const WideRow& row) {
  const WideNetwork network(row.topology);
  const test::Load load = test::load_of(row);
  const bool overflows = !network.bbr && row.connection != "cold" && load.messages * load.bytes > network.queue;
  return overflows ? "network.tcp-overflow" : "network.tcp";
}

struct WideBound {
  const char* of;
  const char* operation;
  const char* connection;
  double most;  ///< bound of the mean absolute error of held-out rows
};

constexpr WideBound wide_bounds[] = {
    {"star", "p2p", "warm", 0.05},
    {"star", "p2p", "cold", 0.05},
    {"star", "ring", "warm", 0.05},
    {"star", "agring", "warm", 0.05},
    {"star", "ps", "warm", 0.15},
    {"star", "agdirect", "warm", 0.15},
    {"dumbbell44", "p2px", "warm", 0.05},
    {"dumbbell44", "p2px", "cold", 0.05},
    {"dumbbell44", "pairs", "warm", 0.15},
    {"dumbbell44", "pairs", "cold", 0.05},
    {"dumbbell44", "ring", "warm", 0.1},
    {"dumbbell44", "agring", "warm", 0.10},
    {"dumbbell44", "ps", "warm", 0.45},
    {"dumbbell44", "agdirect", "warm", 0.30},
    {"BBR", "p2p", "warm", 0.05},
    {"BBR", "p2p", "cold", 0.05},
    {"BBR", "ring", "warm", 0.05},
    {"BBR", "agring", "warm", 0.05},
    {"BBR", "ps", "warm", 0.1},
    {"BBR", "agdirect", "warm", 0.15},
};

TEST(TestbedWideValidation, HeldOutGroupsStayWithinTheirBounds) {
  test::DocumentedTable table("wide-groups", {"network", "operation", "connections", "rows fitted on", "error",
                                              "rows held out", "error", "bound"});
  for (const WideBound& bound : wide_bounds) {
    std::vector<test::Compared> parts[2];
    for (const WideRow& row : wide_rows()) {
      if (group_of(row) == bound.of && row.operation == bound.operation && row.connection == bound.connection) {
        parts[row.held_out ? 1 : 0].push_back(row.seconds);
      }
    }
    ASSERT_FALSE(parts[0].empty()) << bound.of << " " << bound.operation;
    ASSERT_FALSE(parts[1].empty()) << bound.of << " " << bound.operation;
    const double error = test::mean_absolute_error(parts[1]);
    EXPECT_LE(error, bound.most) << bound.of << " " << bound.operation << " " << bound.connection;
    table.add({bound.of, bound.operation, bound.connection, fmt::format("{}", parts[0].size()),
               fmt::format("{:.1f} %", 100 * test::mean_absolute_error(parts[0])), fmt::format("{}", parts[1].size()),
               fmt::format("{:.1f} %", 100 * error), fmt::format("{:.0f} %", 100 * bound.most)});
  }
  table.expect_in_document();
}

TEST(TestbedWideValidation, EveryRowIsAsDocumented) {
  test::DocumentedTable table(
      "wide", {"network", "operation", "connections", "bytes", "predicted ms", "measured ms", "error", "held out"});
  test::Residuals residuals("wide testbed");
  for (const WideRow& row : wide_rows()) {
    residuals.add(fmt::format("{} {} {} {:.0f}", row.topology, row.operation, row.connection, row.bytes), "predicted",
                  category_of(row), row.seconds);
    table.add({row.topology, row.operation, row.connection, fmt::format("{:.0f}", row.bytes),
               fmt::format("{:.2f}", 1e3 * row.seconds.predicted), fmt::format("{:.2f}", 1e3 * row.seconds.measured),
               test::percent(row.seconds.error()), row.held_out ? "yes" : "no"});
  }
  table.expect_in_document();
  residuals.expect_in_file();
}

TEST(TestbedWideValidation, HalfOfTheConfigurationsAreHeldOut) {
  std::map<std::string, std::set<bool>> parts;
  for (const WideRow& row : wide_rows()) parts[row.topology].insert(row.held_out);
  std::size_t held_out = 0;
  for (const auto& [topology, of] : parts) {
    EXPECT_EQ(of.size(), 1U) << topology << ": whole configurations";
    held_out += of.count(true);
  }
  EXPECT_LE(2 * held_out, parts.size() + 3);
  EXPECT_GE(2 * held_out + 3, parts.size());
}

}  // namespace
}  // namespace dadsim
