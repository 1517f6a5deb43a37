// Tests how many constants are fitted to measurements, and which file holds each (docs/kernels.md).
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "support/fact_table.hpp"
#include "support/split.hpp"
#include "support/whole_file.hpp"
#include "validation/measured.hpp"

namespace dadsim {
namespace {

using SourceRow = std::map<std::string, std::string>;

/// Returns the rows of a table of src/, as maps from column names.
std::vector<SourceRow> rows_of(const std::string& file) {
  std::vector<SourceRow> rows;
  std::vector<std::string> columns;
  const std::string text = whole_file(std::string(DADSIM_SOURCE_DIR) + "/" + file).value();
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with('#') || line.empty()) continue;
    const std::vector<std::string> cells = csv_cells(line);
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    SourceRow& row = rows.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = i < cells.size() ? cells[i] : "";
  }
  return rows;
}

/// Counts the fitted numbers of a row. Attention backward of all libraries together takes the fixed time and the depth
/// from attention forward. Rows without a spread have no table: of a product one rate, of attention backward nothing.
std::size_t numbers_of_kernel(const SourceRow& row) {
  const bool backward = row.at("kind") == "attention-backward";
  if (row.at("spread").empty()) return backward ? 0 : 1;
  if (backward && row.at("library").empty() && row.at("family") != "any") return 2;
  std::size_t count = 0;
  for (const char* column : {"share", "fixed [us]", "depth", "last wave", "halving", "cast", "grouped", "exponentials"})
    count += row.at(column).empty() ? 0 : 1;
  return count;
}

std::size_t sum(const std::string& file, const std::function<std::size_t(const SourceRow&)>& numbers) {
  std::size_t count = 0;
  for (const SourceRow& row : rows_of(file)) count += numbers(row);
  return count;
}

std::size_t says(const SourceRow& row, const char* word) {
  return row.at("source").find(word) == std::string::npos ? 0 : 1;
}

/// Counts the fitted efficiencies. Devices with equal kind, precision, efficiency and source share one fitted number.
std::size_t efficiencies() {
  std::set<std::string> different;
  for (const SourceRow& row : rows_of("src/sim/devices/efficiencies.csv")) {
    if (row.at("share").empty() || says(row, "an assumption") > 0) continue;
    different.insert(row.at("kind") + row.at("precision") + row.at("share") + row.at("source"));
  }
  return different.size();
}

TEST(FittedNumbers, AreCounted) {
  const auto calibrated = [](const SourceRow& row) { return says(row, "calibrated"); };
  const auto fitted = [](const SourceRow& row) { return says(row, "fitted"); };
  const auto trains = [](const SourceRow& row) -> std::size_t { return row.at("tables").empty() ? 0 : 1; };
  test::DocumentedTable table("fitted-numbers", {"what", "numbers", "file"}, "docs/kernels.md");
  const auto add = [&](const char* what, std::size_t count, const std::string& file) {
    EXPECT_GT(count, 0U) << file;
    table.add({what, fmt::format("{}", count), "`" + file + "`"});
  };
  add("kernels, by generation, kind and format", sum("src/sim/devices/kernels.csv", numbers_of_kernel),
      "src/sim/devices/kernels.csv");
  add("what a host takes for a kernel", sum("src/spec/programs.csv", calibrated), "src/spec/programs.csv");
  add("shares of a peak that whole trainings reach", efficiencies(), "src/sim/devices/efficiencies.csv");
  add("protocols over EFA and RoCE", sum("src/sim/network/message_costs.csv", calibrated),
      "src/sim/network/message_costs.csv");
  add("latencies of links", sum("src/sim/platform/links.csv", calibrated), "src/sim/platform/links.csv");
  add("shares of a line that its class carries", sum("src/sim/platform/link_classes.csv", calibrated),
      "src/sim/platform/link_classes.csv");
  add("experts that devices divide",
      sum("src/spec/expert_costs.csv", [&](const SourceRow& row) { return calibrated(row) + fitted(row); }),
      "src/spec/expert_costs.csv");
  add("adapters beside kernels", sum("src/collectives/nccl_constants.csv", calibrated),
      "src/collectives/nccl_constants.csv");
  add("NCCL over sockets", sum("src/collectives/nccl_sockets.csv", fitted), "src/collectives/nccl_sockets.csv");
  add("TCP", sum("src/sim/network/tcp_constants.csv", fitted), "src/sim/network/tcp_constants.csv");
  add("frameworks that train, where a scenario names one", sum("src/spec/frameworks.csv", trains),
      "src/spec/frameworks.csv");
  table.expect_in_document();
}

}  // namespace
}  // namespace dadsim
