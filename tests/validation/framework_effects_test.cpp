// Tests how much a framework slows devices down: the mean over tables (each of one framework and one kind of device),
// and the tables' spread (docs/frameworks.md). Compares both with src/spec/frameworks.csv.
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "spec/framework_specification.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

/// log(measured ÷ predicted) of one table's rows.
using TableLogs = std::vector<double>;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::pow(value - mean_of(values), 2);
  return sum / static_cast<double>(values.size() - 1);
}

/// Returns true for rows that compute for nine tenths of their time, so that lines have no part in the framework's
/// effect.
bool computes(const test::ResidualRow& row) {
  constexpr double kNearlyAll = 0.9;
  const estimate::TimePart part = row.time_parts().front();
  return part.category.starts_with("compute.") && part.seconds >= kNearlyAll * row.seconds.predicted;
}

struct FrameworkTables {
  std::string name;
  std::vector<TableLogs> tables;
  std::set<std::string> names;  ///< names of tables in residuals.csv
  std::size_t rows() const {
    std::size_t count = 0;
    for (const TableLogs& table : tables) count += table.size();
    return count;
  }
  std::vector<double> means() const {
    std::vector<double> means;
    for (const TableLogs& table : tables) means.push_back(mean_of(table));
    return means;
  }
};

/// Returns true if `what` begins with `words` as whole words: "… gpus 16" does not begin with "… gpus 1".
bool begins_with(const std::string& what, const std::string& words) {
  return what.starts_with(words) && (what.size() == words.size() || std::isdigit(what[words.size()]) == 0);
}

std::vector<FrameworkTables> framework_tables() {
  const std::vector<test::ResidualRow> rows = test::residual_rows();
  std::vector<FrameworkTables> all;
  for (const auto& asked : test::measured("framework-effects")) {
    if (all.empty() || all.back().name != asked.at("framework")) all.push_back({asked.at("framework"), {}, {}});
    TableLogs logs;
    for (const test::ResidualRow& row : rows) {
      if (row.table != asked.at("table") || !begins_with(row.what, asked.at("row")) || !computes(row)) continue;
      const bool own = asked.at("seconds").empty();
      const double measured = own ? row.seconds.measured : std::stod(asked.at("seconds"));
      if (!own || row.role == "predicted") logs.push_back(std::log(measured / row.seconds.predicted));
    }
    EXPECT_FALSE(logs.empty()) << asked.at("framework") << ", " << asked.at("row");
    if (logs.empty()) continue;
    all.back().tables.push_back(std::move(logs));
    all.back().names.insert(asked.at("table"));
  }
  return all;
}

/// Returns the spread of a framework, computed as if it had four more tables with the pooled spread of all frameworks.
double spread_of(const FrameworkTables& framework, double pooled) {
  constexpr double kLent = 4;
  const auto own = static_cast<double>(framework.tables.size()) - 1;
  const double squares = own > 0 ? own * variance_of(framework.means()) : 0;
  return std::sqrt((squares + kLent * pooled) / (own + kLent));
}

TEST(FrameworkEffects, AreThoseOfTheRows) {
  const std::vector<FrameworkTables> all = framework_tables();
  double squares = 0;
  double freedom = 0;
  for (const FrameworkTables& one : all) {
    if (one.tables.size() < 2) continue;
    squares += (static_cast<double>(one.tables.size()) - 1) * variance_of(one.means());
    freedom += static_cast<double>(one.tables.size()) - 1;
  }
  test::DocumentedTable table("training-frameworks",
                              {"framework", "tables", "rows", "computing", "nine tables of ten", "tables are of"},
                              "docs/frameworks.md");
  for (const FrameworkTables& one : all) {
    const double computing = std::exp(mean_of(one.means()));
    const double spread = spread_of(one, squares / freedom);
    const std::string names = fmt::format("{}", fmt::join(one.names, " "));
    const spec::FrameworkFacts* facts = spec::find_framework(one.name, "");
    ASSERT_NE(facts, nullptr) << one.name << ": computing " << computing << ", spread " << spread << ", " << names;
    EXPECT_NEAR(facts->spec.computing, computing, 5.1e-3) << one.name;
    EXPECT_NEAR(facts->computing_spread, spread, 5.1e-3) << one.name;
    EXPECT_EQ(facts->tables, names) << one.name;
    constexpr double kNineOfTen = 1.645;
    table.add({one.name, fmt::format("{}", one.tables.size()), fmt::format("{}", one.rows()),
               fmt::format("{:.2f}", computing),
               fmt::format("{:.2f} to {:.2f}", computing * std::exp(-kNineOfTen * spread),
                           computing * std::exp(kNineOfTen * spread)),
               names});
  }
  table.expect_in_document();
}

}  // namespace
}  // namespace dadsim
