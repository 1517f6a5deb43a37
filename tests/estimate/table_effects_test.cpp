// Tests the band of a new table: spreads between and within tables against formulas computed by hand, and coverage with
// drawn tables.
#include "estimate/table_effects.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

namespace dadsim::estimate {
namespace {

/// Returns one table per list of log ratios; the names of all tables share their first word.
std::vector<Residual> tables_of(const std::string& category, const std::vector<std::vector<double>>& tables) {
  std::vector<Residual> residuals;
  for (std::size_t table = 0; table < tables.size(); ++table) {
    for (const double row : tables[table]) residuals.push_back({category, "table " + std::to_string(table), row});
  }
  return residuals;
}

TEST(TableEffects, AreTheVariancesOfTablesAndOfTheirRows) {
  // Five unequal tables have means of -0.2 … 0.2 around 0.1; each row is 0.01 from its table's mean.
  const Spread spread = spread_of(
      "compute.assumed",
      tables_of("compute.assumed",
                {{-0.11, -0.09}, {-0.01, 0.01}, {0.09, 0.11, 0.09, 0.11}, {0.19, 0.21}, {0.29, 0.31, 0.29, 0.31}}));
  EXPECT_EQ(spread.tables, 5U);
  EXPECT_EQ(spread.rows, 14U);
  // The 90 % quantile of 14 deviations is the last one (0.9 · 15 = 13.5). It is 0.01 √2, from a table of two rows.
  EXPECT_NEAR(spread.within, 0.01 * std::sqrt(2) / 1.64485, 1e-6);
  const double of_rows = std::pow(spread.within, 2) * (1. / 2 + 1. / 2 + 1. / 4 + 1. / 2 + 1. / 4) / 5;
  EXPECT_NEAR(std::pow(spread.between, 2), 0.025 - of_rows, 1e-9);
  const double half = 2.13185 * std::sqrt(1.2 * std::pow(spread.between, 2) + std::pow(spread.within, 2));
  EXPECT_NEAR(std::log(spread.high), 0.1 + half, 1e-4);
  EXPECT_NEAR(std::log(spread.low), 0.1 - half, 1e-4);
}

TEST(TableEffects, RowsOfFewTablesShowTheirOwnSpread) {
  // Three unequal tables have the same mean, so tables do not spread, and 24 rows give the spread within tables.
  std::vector<std::vector<double>> tables;
  for (const std::size_t pairs : {2U, 4U, 6U}) {
    std::vector<double>& rows = tables.emplace_back();
    for (std::size_t pair = 0; pair < pairs; ++pair) rows.insert(rows.end(), {0.05, -0.05});
  }
  const Spread spread = spread_of("compute.assumed", tables_of("compute.assumed", tables));
  EXPECT_EQ(spread.between, 0);
  constexpr double kOf21Degrees = 1.72074;  // 95 % quantile of Student's t with 24 − 3 degrees of freedom
  EXPECT_NEAR(std::log(spread.high), kOf21Degrees * spread.within, 1e-4);
}

TEST(TableEffects, OneTableThatIsFarOffDoesNotSetTheBand) {
  const std::vector<std::vector<double>> near{{-0.1, -0.1}, {0, 0}, {0.05, 0.05}, {0.1, 0.1}, {-0.05, -0.05}};
  std::vector<std::vector<double>> far = near;
  far.back() = {2.5, 2.5};
  const Spread usual = spread_of("compute.assumed", tables_of("compute.assumed", near));
  const Spread spread = spread_of("compute.assumed", tables_of("compute.assumed", far));
  EXPECT_GT(spread.high, usual.high);
  EXPECT_LT(spread.high, 2.2);
}

TEST(TableEffects, WhereTablesAreFewTheWiderCategoryLends) {
  std::vector<Residual> residuals =
      tables_of("compute.assumed", {{-0.4, -0.3}, {-0.2, 0}, {0, 0.1}, {0.3, 0.5}, {0.4, 0.2}, {0, 0}});
  EXPECT_EQ(spread_of("compute.same-kind", residuals), spread_of("compute.assumed", residuals));
  residuals.push_back({"compute.same-kind", "one", 0.05});
  residuals.push_back({"compute.same-kind", "one", 0.06});
  const Spread one = spread_of("compute.same-kind", residuals);
  EXPECT_EQ(one.tables, 1U);
  EXPECT_EQ(one.rows, 2U);
  // A single table cannot determine the spread between tables.
  EXPECT_DOUBLE_EQ(one.between, spread_of("compute.assumed", residuals).between);
  EXPECT_GT(one.high, 1.5);
  // A category with children has the rows of all its descendants.
  const std::vector<Residual> networks = tables_of("network.rdma", {{0.1, 0.1}, {0.2, 0.2}});
  EXPECT_EQ(spread_of("network.fabric", networks).rows, 4U);
  EXPECT_EQ(spread_of("network.assumed", networks).rows, 4U);
  // An unknown network may be any network, so it has the spread of the network about which least is known.
  std::vector<Residual> many = tables_of("network.tcp", std::vector<std::vector<double>>(30, {0.01, -0.01}));
  const std::vector<Residual> few = tables_of("network.rdma", {{0.3, 0.2}, {-0.2, 0.1}, {0, 0.4}, {-0.3, 0}, {0.2, 0}});
  many.insert(many.end(), few.begin(), few.end());
  EXPECT_EQ(spread_of("network.assumed", many).high, spread_of("network.fabric", many).high);
  EXPECT_GT(spread_of("network.assumed", many).high, 2 * spread_of("network.tcp", many).high - 1);
  EXPECT_EQ(spread_of("compute.assumed", networks).rows, 0U);
  EXPECT_THROW((void)spread_of("network.unheard", networks), std::logic_error);
}

TEST(TableEffects, ThePredictionIsAlwaysInside) {
  const Spread spread = spread_of("network.assumed", tables_of("network.tcp", {std::vector<double>(20, 0.5)}));
  EXPECT_EQ(spread.low, 1);
  EXPECT_NEAR(spread.high, std::exp(0.5), 1e-12);
}

/// Draws tables from the model. For any ratio of the two spreads, the band contains nine of ten rows of a new table.
TEST(TableEffects, HoldNineRowsOfTenOfNewTables) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (const double between : {0.0, 0.1, 0.3}) {
    int inside = 0;
    constexpr int kDraws = 400;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::vector<std::vector<double>> tables;
      for (int table = 0; table < 8; ++table) {
        std::vector<double>& rows = tables.emplace_back();
        const double of_table = between * normal(random);
        for (int row = 0; row < 3 + 2 * table; ++row) rows.push_back(of_table + 0.1 * normal(random));
      }
      const Spread spread = spread_of("compute.assumed", tables_of("compute.assumed", tables));
      const double unseen = std::exp(between * normal(random) + 0.1 * normal(random));
      inside += unseen >= spread.low && unseen <= spread.high ? 1 : 0;
    }
    EXPECT_GE(inside, 0.86 * kDraws) << between;
    EXPECT_LE(inside, 0.97 * kDraws) << between;
  }
}

}  // namespace
}  // namespace dadsim::estimate
