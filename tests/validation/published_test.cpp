// Compares published all-reduce times with predictions that use one set of constants per class of link
// (docs/validation.md).
#include <gtest/gtest.h>

#include "scenario/document/load.hpp"
#include "sim/simulator.hpp"
#include "study/setting/catalog.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

struct System {
  const char* name;        ///< name in tests/validation/all-reduce.csv
  const char* platform;    ///< file in platforms/
  std::size_t ranks;       ///< number of hosts, counted from the first
  double most;             ///< bound of the geometric-mean error from 1 MiB on
  double below;            ///< bound of the geometric-mean error below 1 MiB
  const char* calibrated;  ///< name of the curve on which the constants were calibrated
  const char* category;    ///< error category from 1 MiB on
};

constexpr double kMebibyte = 1 << 20;

const System systems[] = {
    {"h100-nvlink", "dgx-h100-pod", 8, 0.12, 0.20, "yes", "network.nvlink"},
    {"a100-efa", "p4d", 16, 0.14, 0.11, "yes", "network.rdma"},
    {"p5", "p5", 16, 0.12, 0.20, "in part", "network.rdma"},
    {"mi300x-roce", "mi300x-pod", 16, 0.20, 0.20, "yes", "network.rdma"},
    {"v100-pcie", "v100-pcie", 4, 0.10, 0.20, "yes", "network.rdma"},
    {"v100-pcie-10.1", "v100-pcie", 4, 0.20, 0, "in part", "network.rdma"},
};

struct Row {
  double bytes;
  std::string algorithm;  ///< algorithm that `auto` chooses
  test::Compared seconds;
};

std::vector<Row> predict(const System& system) {
  sim::Cluster cluster;
  cluster.platform = scenario::load_platform_file(
      std::string(DADSIM_SOURCE_DIR) + "/platforms/" + system.platform + ".xml", study::make_catalog());
  cluster.network.fidelity = spec::Fidelity::message;
  cluster.hosts = host_names(cluster.platform);
  cluster.hosts.resize(system.ranks);
  std::vector<Row> rows;
  std::vector<sim::CollectiveJob> jobs;
  for (auto& cells : test::measured("all-reduce")) {
    if (cells["system"] != system.name) continue;
    rows.push_back({std::stod(cells["bytes"]), "", {0, 1e-6 * std::stod(cells["time_us"])}});
    sim::CollectiveJob& job = jobs.emplace_back();
    job.request.bytes = {rows.back().bytes};
    job.algorithm = "auto";
  }
  const sim::TimedCollectives timed = time_collectives(cluster, jobs);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].algorithm = timed.timings[i].algorithm;
    rows[i].seconds.predicted = timed.timings[i].seconds;
  }
  return rows;
}

TEST(PublishedValidation, AllReduceCurvesStayWithinTheirBounds) {
  test::DocumentedTable table("all-reduce", {"system", "algorithm", "bytes", "predicted us", "measured us", "error"});
  test::DocumentedTable summary("all-reduce-summary",
                                {"system", "calibrated on it", "from 1 MiB on", "bound", "below", "bound below"});
  for (const System& system : systems) {
    std::vector<test::Compared> large;
    std::vector<test::Compared> small;
    test::Residuals residuals(system.name);
    for (const Row& row : predict(system)) {
      residuals.add(fmt::format("{} {:.0f}", row.algorithm, row.bytes),
                    system.calibrated == std::string("yes") ? "fitted" : "predicted",
                    row.bytes < kMebibyte ? "network.small" : system.category, row.seconds);
      (row.bytes >= kMebibyte ? large : small).push_back(row.seconds);
      table.add({system.name, row.algorithm, fmt::format("{:.0f}", row.bytes),
                 fmt::format("{:.1f}", 1e6 * row.seconds.predicted), fmt::format("{:.1f}", 1e6 * row.seconds.measured),
                 test::percent(row.seconds.error())});
    }
    residuals.expect_in_file();
    ASSERT_FALSE(large.empty());
    const double error = test::geometric_mean_error(large);
    EXPECT_LE(error, system.most) << system.name;
    summary.add({system.name, system.calibrated, fmt::format("{:.1f} %", 100 * error),
                 fmt::format("{:.0f} %", 100 * system.most),
                 small.empty() ? "" : fmt::format("{:.1f} %", 100 * test::geometric_mean_error(small)),
                 small.empty() ? "" : fmt::format("{:.0f} %", 100 * system.below)});
    if (!small.empty()) {
      EXPECT_LE(test::geometric_mean_error(small), system.below) << system.name;
    }
  }
  table.expect_in_document();
  summary.expect_in_document();
}

}  // namespace
}  // namespace dadsim
