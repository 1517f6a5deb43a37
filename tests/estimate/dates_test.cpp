// Tests that every row of the catalogues has a date, and lists old rows (docs/testing.md).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <regex>

#include "estimate/prices.hpp"
#include "support/fact_table.hpp"
#include "support/split.hpp"
#include "support/whole_file.hpp"

namespace dadsim::estimate {
namespace {

/// Returns the date of one year ago in the catalogues' format.
std::string a_year_ago() {
  const std::time_t now = std::time(nullptr);
  std::tm day = *std::gmtime(&now);
  --day.tm_year;
  char text[sizeof "2026-11-25"];
  std::strftime(text, sizeof text, "%Y-%m-%d", &day);
  return text;
}

TEST(Dates, EveryRowOfACatalogueHasOne) {
  const std::string old = a_year_ago();
  const std::regex form("[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?");
  int tables = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(DADSIM_SOURCE_DIR) + "/src")) {
    if (entry.path().extension() != ".csv") continue;
    const std::string text = whole_file(entry.path().string()).value();
    std::ptrdiff_t column = -1;
    std::string newest;
    int rows = 0;
    int older = 0;
    for (const std::string_view line : lines_of(text)) {
      if (line.starts_with('#') || line.empty()) continue;
      const std::vector<std::string> cells = csv_cells(line);
      if (column < 0) {
        column = std::ranges::find(cells, "date") - cells.begin();
        if (column == std::ssize(cells)) break;  // numbers of a library depend on its version, and have no date
        continue;
      }
      const std::string& date = cells.at(static_cast<std::size_t>(column));
      EXPECT_TRUE(std::regex_match(date, form)) << entry.path() << ": " << line;
      newest = std::max(newest, date);
      ++rows;
      older += date < old ? 1 : 0;
    }
    if (rows == 0) continue;
    ++tables;
    if (newest < old) {
      fmt::print("WARNING: {} is over a year old: its newest row is of {}\n", entry.path().filename().string(), newest);
    } else if (older > 0) {
      fmt::print("{}: {} of {} rows are over a year old\n", entry.path().filename().string(), older, rows);
    }
  }
  EXPECT_GE(tables, 8);
}

TEST(Prices, AreTheLatestOnDemand) {
  for (const DevicePrice& price : device_prices()) {
    SCOPED_TRACE(price.device + " " + price.provider);
    EXPECT_GT(price.per_hour, 0);
    const DevicePrice* found = find_price(price.device);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->term, spec::PriceTerm::on_demand);
    if (price.term == spec::PriceTerm::on_demand) {
      EXPECT_GE(found->date, price.date);
    } else {
      EXPECT_LT(price.per_hour, found->per_hour) << "what may be taken away is cheaper";
    }
  }
  EXPECT_EQ(find_price("h100-sxm5")->per_hour, 2.95);
  EXPECT_EQ(find_price("no such device"), nullptr);
}

TEST(Prices, AreOfTheProviderTermAndDateThatAreAskedFor) {
  const auto price = [](const char* device, const char* provider, spec::PriceTerm term, const char* date) {
    spec::CostSpec costs;
    costs.provider = provider;
    costs.term = term;
    costs.price_date = date;
    return find_price(device, costs);
  };
  using enum spec::PriceTerm;
  EXPECT_EQ(price("h100-sxm5", "Nebius", on_demand, "")->per_hour, 2.95);
  EXPECT_EQ(price("h100-sxm5", "hyperscalers", on_demand, "")->per_hour, 4.25);
  EXPECT_EQ(price("h100-sxm5", "Nebius", spot, "")->per_hour, 1.25);
  EXPECT_EQ(price("h100-sxm5", "", reserved, "")->per_hour, 2.35);
  EXPECT_EQ(price("a100-sxm4-80", "", on_demand, "2025"), nullptr);
  EXPECT_EQ(price("h200-sxm", "", on_demand, "2026-03")->provider, "Spheron");
  EXPECT_EQ(price("h200-sxm", "", on_demand, "2025-12-31")->provider, "Nebius");
}

TEST(GridCarbon, IsOfFortyFourRegions) {
  ASSERT_EQ(grid_carbon().size(), 44U);
  EXPECT_EQ(find_carbon("gcp:europe-north2")->grams, 2.73);
  EXPECT_EQ(find_carbon("gcp:asia-south1")->grams, 678.76);
  EXPECT_EQ(find_carbon("Stockholm"), nullptr);
}

}  // namespace
}  // namespace dadsim::estimate
