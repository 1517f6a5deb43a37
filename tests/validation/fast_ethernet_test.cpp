// Compares collectives and streams over TCP at 10 to 200 Gbit/s with published measurements (docs/validation.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include "collectives/collective.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "step/step.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

constexpr double kMebibyte = 1 << 20;

struct Row {
  std::string system, operation, algorithm, taken;
  spec::GpuClusterSpec cluster;
  double bytes = 0;
  test::Compared seconds;

  bool is_stream() const { return operation == "send"; }
  /// Returns false for measured times without a known explanation.
  bool is_understood() const { return !system.ends_with("collapse"); }
  double ratio() const { return seconds.predicted / seconds.measured; }
};

Row row_of(std::map<std::string, std::string>& cells) {
  Row row{cells["system"], cells["operation"], cells["algorithm"], {}, {}, std::stod(cells["bytes"]), {}};
  row.cluster.nodes = std::stoi(cells["nodes"]);
  row.cluster.gpus = std::stoi(cells["gpus"]);
  row.cluster.port = *sim::find_link(cells["inside"]);
  row.cluster.nic = *sim::find_link("ethernet-10g");
  row.cluster.nic.bandwidth = std::stod(cells["gbit"]) * 1e9 / 8;
  row.cluster.nic.queue_bytes = std::max(3e5, 320e-6 * row.cluster.nic.bandwidth);
  row.cluster.sockets = std::stoi(cells["sockets"]);
  row.cluster.socket_threads = std::stoi(cells["threads"]);
  if (row.system == "stream-9000") row.cluster.mtu = 9000;
  row.seconds.measured = 1e-6 * std::stod(cells["time_us"]);
  return row;
}

sim::CollectiveJob job_of(const Row& row) {
  sim::CollectiveJob job;
  job.request.bytes = {row.bytes};
  job.algorithm = row.algorithm;
  // A row with a given algorithm uses Simple, since users who choose the algorithm also choose the protocol.
  if (row.algorithm != "auto") job.request.protocol = collectives::Protocol::simple;
  job.request.kind = row.operation == "broadcast" ? step::CollectiveKind::broadcast : step::CollectiveKind::all_reduce;
  if (row.is_stream()) {
    job.request.kind = step::CollectiveKind::neighbour_exchange;
    job.request.neighbours = {{1}, {}};
  }
  return job;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> result;
    for (auto& cells : test::measured("fast-ethernet")) result.push_back(row_of(cells));
    // Rows on equal clusters share one simulation.
    std::map<std::tuple<std::string, std::int64_t, std::int64_t, double, std::int64_t, std::int64_t, std::int64_t>,
             std::vector<Row*>>
        clusters;
    for (Row& row : result) {
      const spec::GpuClusterSpec& on = row.cluster;
      clusters[{on.port.name, on.nodes, on.gpus, on.nic.bandwidth, on.sockets, on.socket_threads, on.mtu}].push_back(
          &row);
    }
    for (const auto& [key, members] : clusters) {
      sim::Cluster cluster;
      cluster.platform = {"", members.front()->cluster, {}, {}};
      cluster.hosts = host_names(cluster.platform);
      cluster.network.fidelity = spec::Fidelity::automatic;
      std::vector<sim::CollectiveJob> jobs;
      for (const Row* row : members) jobs.push_back(job_of(*row));
      const std::vector<sim::CollectiveTiming> timings = time_collectives(cluster, jobs).timings;
      for (std::size_t i = 0; i < members.size(); ++i) {
        members[i]->seconds.predicted = timings[i].seconds;
        members[i]->taken = members[i]->is_stream() ? "" : timings[i].algorithm + " " + timings[i].protocol;
      }
    }
    return result;
  }();
  return all;
}

/// Returns the typical factor of error: exp of the median of |log(predicted ÷ measured)|.
double typical_factor(const std::vector<Row>& of) {
  std::vector<double> logs;
  for (const Row& row : of) logs.push_back(std::abs(std::log(row.ratio())));
  std::ranges::sort(logs);
  const std::size_t half = logs.size() / 2;
  return std::exp(logs.size() % 2 == 1 ? logs[half] : (logs[half - 1] + logs[half]) / 2);
}

std::vector<Row> select(const auto& condition) {
  std::vector<Row> some;
  std::ranges::copy_if(rows(), std::back_inserter(some), condition);
  return some;
}

TEST(FastEthernetValidation, RowsStayWithinTheirBounds) {
  struct Group {
    const char* name;
    double most;  ///< largest typical factor
    bool (*of)(const Row&);
  };
  const auto a3 = [](const Row& row, std::int64_t nodes) {
    return row.system.starts_with("a3-high") && row.cluster.nodes == nodes;
  };
  static const auto kA3 = a3;
  const Group groups[] = {
      {"2 x 8 H100, 200 Gbit/s", 1.25, [](const Row& row) { return kA3(row, 2); }},
      {"3 x 8 H100, 200 Gbit/s, as NCCL chooses", 1.25,
       [](const Row& row) { return kA3(row, 3) && row.algorithm == "auto"; }},
      {"the same, rings", 1.1, [](const Row& row) { return kA3(row, 3) && row.algorithm == "ring"; }},
      {"the same, trees", 1.3, [](const Row& row) { return kA3(row, 3) && row.algorithm == "tree"; }},
      {"V100, 10 to 100 Gbit/s", 1.25,
       [](const Row& row) { return !row.is_stream() && !row.system.starts_with("a3") && row.is_understood(); }},
      {"streams of several connections", 1.1,
       [](const Row& row) { return row.is_stream() && row.cluster.socket_threads > 1; }},
      {"streams of one connection or thread", 1.9,
       [](const Row& row) { return row.is_stream() && row.cluster.socket_threads == 1; }},
      {"all", 1.15, [](const Row&) { return true; }},
  };
  test::DocumentedTable table("fast-ethernet-groups", {"rows", "number", "typical factor", "bound", "within 25 %"});
  for (const Group& group : groups) {
    const std::vector<Row> some = select(group.of);
    ASSERT_FALSE(some.empty()) << group.name;
    const double factor = typical_factor(some);
    const auto near = std::ranges::count_if(some, [](const Row& row) { return std::abs(row.ratio() - 1) <= 0.25; });
    EXPECT_LE(factor, group.most) << group.name;
    table.add({group.name, fmt::format("{}", some.size()), fmt::format("{:.2f}", factor),
               fmt::format("{:.2f}", group.most), fmt::format("{}", near)});
  }
  table.expect_in_document();
}

TEST(FastEthernetValidation, EveryRowIsAsDocumented) {
  test::DocumentedTable table("fast-ethernet", {"system", "nodes x GPUs", "Gbit/s", "operation", "algorithm", "bytes",
                                                "predicted ms", "measured ms", "predicted / measured"});
  for (const Row& row : rows()) {
    const spec::GpuClusterSpec& on = row.cluster;
    table.add({row.system, fmt::format("{} x {}", on.nodes, on.gpus), fmt::format("{:.0f}", on.nic.bandwidth * 8e-9),
               row.is_stream() ? fmt::format("{} connections, {} threads", on.sockets, on.socket_threads)
                               : fmt::format("{}, {}", row.operation, row.algorithm),
               row.taken, fmt::format("{:.0f}", row.bytes), fmt::format("{:.3f}", 1e3 * row.seconds.predicted),
               fmt::format("{:.3f}", 1e3 * row.seconds.measured), fmt::format("{:.2f}", row.ratio())});
    if (row.is_stream() || !row.is_understood() || row.bytes < 64 * kMebibyte) continue;
    // Leaves out rows whose own repetitions or settings differ by more than the bound below.
    const bool crossed = row.system == "gcp-v100" && on.nodes == 2 && on.gpus == 8;
    if (crossed) continue;
    EXPECT_NEAR(row.ratio(), 1, 0.35) << row.system << ' ' << row.algorithm << ' ' << row.bytes;
  }
  table.expect_in_document();
}

}  // namespace
}  // namespace dadsim
