// The bands that are stated, computed from the rows of validation, and how many of these rows lie inside them
// (docs/validation.md).
#include "estimate/bands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <set>

#include "support/fact_table.hpp"
#include "support/split.hpp"
#include "support/whole_file.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

/// Jobs that were added in 2026 are held against the bands, which are not computed from them yet.
bool is_beside_bands(const test::ResidualRow& row) { return row.table.starts_with("jobs-2026-"); }

/// A row tells of its first category where that has nearly all of the time. One that a constant was fitted to for
/// itself tells nothing.
std::vector<estimate::Residual> residuals_without(const std::vector<test::ResidualRow>& rows,
                                                  const std::string& left_out) {
  constexpr double kNearlyAll = 0.9;
  std::vector<estimate::Residual> result;
  for (const test::ResidualRow& row : rows) {
    const estimate::TimePart main = row.time_parts().front();
    if (row.role == "calibrated" || row.table == left_out || is_beside_bands(row) ||
        main.seconds < kNearlyAll * row.seconds.predicted)
      continue;
    result.push_back({main.category, std::log(row.ratio())});
  }
  return result;
}

std::vector<estimate::ErrorCategory> spreads_of(const std::vector<estimate::Residual>& residuals) {
  std::vector<estimate::ErrorCategory> categories;
  for (estimate::ErrorCategory category : estimate::error_categories()) {
    category.spread = spread_of(category.name, residuals);
    categories.push_back(std::move(category));
  }
  return categories;
}

bool inside(const test::ResidualRow& row, const std::vector<estimate::ErrorCategory>& spreads) {
  const estimate::Band band = band_of(row.time_parts(), spreads);
  return row.ratio() >= band.low && row.ratio() <= band.high;
}

/// The table with these numbers. What has not changed keeps its date.
std::string table_of(const std::string& before, const std::vector<estimate::ErrorCategory>& spreads) {
  const std::time_t now = std::time(nullptr);
  char today[sizeof "2026-11-25"];
  std::strftime(today, sizeof today, "%Y-%m-%d", std::gmtime(&now));
  std::string text;
  std::size_t row = 0;
  for (const std::string_view line : lines_of(before)) {
    std::vector<std::string> cells = csv_cells(line);
    const auto one = std::ranges::find(spreads, cells.front(), &estimate::ErrorCategory::name);
    if (one == spreads.end()) {
      text += std::string(line) + "\n";
      continue;
    }
    EXPECT_EQ(one - spreads.begin(), row++);
    const std::string numbers = fmt::format("{:.4f},{:.4f},{}", one->spread.low, one->spread.high, one->spread.rows);
    if (numbers != fmt::format("{},{},{}", cells[4], cells[5], cells[6])) cells[7] = today;
    text += fmt::format("{},{},{},{},{},{},{}\n", cells[0], cells[1], cells[2],
                        cells[3].find(',') == std::string::npos ? cells[3] : '"' + cells[3] + '"', numbers, cells[7],
                        cells[8]);
  }
  EXPECT_EQ(row, spreads.size());
  return text;
}

TEST(Bands, AreThoseOfTheRows) {
  const std::string file = std::string(DADSIM_SOURCE_DIR) + "/src/estimate/category_spreads.csv";
  const std::vector<estimate::ErrorCategory> now = spreads_of(residuals_without(test::residual_rows(), ""));
  // What is compiled is older while they are written.
  const bool writes = std::getenv("DADSIM_WRITE_VALIDATION") != nullptr;
  const std::string table_text = table_of(whole_file(file).value(), now);
  if (writes) std::ofstream(file) << table_text;
  EXPECT_EQ(whole_file(file).value(), table_text) << "scripts/validation writes it";
  const auto compiled = estimate::error_categories();
  ASSERT_EQ(compiled.size(), now.size());
  test::DocumentedTable table("bands", {"category", "what a time of it rests on", "rows", "measured ÷ predicted"});
  for (std::size_t i = 0; i < now.size(); ++i) {
    EXPECT_EQ(compiled[i].name, now[i].name);
    if (!writes) {
      EXPECT_NEAR(compiled[i].spread.low, now[i].spread.low, 1e-4) << now[i].name;
      EXPECT_NEAR(compiled[i].spread.high, now[i].spread.high, 1e-4) << now[i].name;
    }
    table.add({now[i].name, estimate::error_category(now[i].name).meaning, fmt::format("{}", now[i].spread.rows),
               fmt::format("{:.2f} to {:.2f}", now[i].spread.low, now[i].spread.high)});
  }
  table.expect_in_document();
}

/// Rows inside their bands, with all rows and without those of the table itself.
struct Coverage {
  int rows = 0, inside = 0, held_out = 0;
};

TEST(Bands, CoverNineRowsOfTen) {
  const std::vector<test::ResidualRow> rows = test::residual_rows();
  const auto all = spreads_of(residuals_without(rows, ""));
  std::vector<std::string> tables;
  for (const test::ResidualRow& row : rows) {
    if (std::ranges::find(tables, row.table) == tables.end()) tables.push_back(row.table);
  }
  test::DocumentedTable table("coverage", {"table", "rests on", "rows", "inside", "held out: inside"});
  std::map<bool, Coverage> sums;
  Coverage federated;
  Coverage beside;
  const auto add = [&](const std::string& name, bool assumed, const Coverage& of) {
    if (of.rows == 0) return;
    table.add({name, assumed ? "assumptions" : "measurements", fmt::format("{}", of.rows), fmt::format("{}", of.inside),
               fmt::format("{}", of.held_out)});
  };
  for (const std::string& name : tables) {
    const auto others = spreads_of(residuals_without(rows, name));
    for (const bool assumed : {false, true}) {
      Coverage of;
      bool in_bands = true;
      for (const test::ResidualRow& row : rows) {
        if (row.table != name || row.role == "calibrated" || row.parts.starts_with("compute.assumed") != assumed)
          continue;
        in_bands = !is_beside_bands(row);
        ++of.rows;
        of.inside += inside(row, all) ? 1 : 0;
        of.held_out += inside(row, others) ? 1 : 0;
        if (!row.parts.starts_with("network.framework")) continue;
        ++federated.rows;
        federated.inside += inside(row, all) ? 1 : 0;
        federated.held_out += inside(row, others) ? 1 : 0;
      }
      add(name, assumed, of);
      Coverage& sum = in_bands ? sums[assumed] : beside;
      sum.rows += of.rows;
      sum.inside += of.inside;
      sum.held_out += of.held_out;
    }
  }
  // A table is a source here, so that what is held out is whole sources.
  add("federations and frameworks", false, federated);
  EXPECT_GE(federated.held_out, 0.85 * federated.rows);
  EXPECT_LE(federated.held_out, 0.95 * federated.rows);
  add("jobs of 2025 and 2026, all", false, beside);
  for (const bool assumed : {false, true}) {
    add("all others", assumed, sums[assumed]);
    EXPECT_GE(sums[assumed].inside, 0.9 * sums[assumed].rows) << (assumed ? "assumed" : "validated");
    // A table that nothing was seen of is met a little less often: this is what was found, and not aimed at.
    EXPECT_GE(sums[assumed].held_out, 0.85 * sums[assumed].rows) << (assumed ? "assumed" : "validated");
  }
  table.expect_in_document();
}

/// What rates of a framework are off by within the source that they were taken from, and in that of somebody else.
TEST(Bands, OfFrameworksWithinASourceAndBetweenSources) {
  const std::string category = "network.framework";
  std::map<bool, std::vector<test::ResidualRow>> rows;
  for (test::ResidualRow& row : test::residual_rows()) {
    if (row.role == "calibrated" || !row.parts.starts_with(category)) continue;
    rows[row.what.find(" by ") != std::string::npos].push_back(std::move(row));
  }
  std::vector<test::ResidualRow> printed = rows[false];
  std::ranges::copy(rows[true], std::back_inserter(printed));
  test::DocumentedTable table("framework-bands", {"rates of", "sources", "rows", "measured ÷ predicted", "held out"},
                              "docs/frameworks.md");
  const auto add = [&](const std::string& name, const std::vector<test::ResidualRow>& of) {
    const estimate::Spread all = spread_of(category, residuals_without(of, ""));
    int held_out = 0;
    std::set<std::string> own;
    for (const test::ResidualRow& row : of) {
      own.insert(row.table);
      const estimate::Spread others = spread_of(category, residuals_without(of, row.table));
      held_out += row.ratio() >= others.low && row.ratio() <= others.high ? 1 : 0;
    }
    table.add({name, fmt::format("{}", own.size()), fmt::format("{}", of.size()),
               fmt::format("{:.2f} to {:.2f}", all.low, all.high),
               fmt::format("{:.0f} %", 100.0 * held_out / static_cast<double>(of.size()))});
  };
  add("the same source", rows[false]);
  add("another source", rows[true]);
  add("both, as printed", printed);
  table.expect_in_document();
}

}  // namespace
}  // namespace dadsim
