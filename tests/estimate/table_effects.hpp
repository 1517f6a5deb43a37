#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/bands.hpp"
#include "estimate/student_t.hpp"

// Spread of a category's predictions in an unseen table: a random effect of the table, and the variance of its rows
// (DerSimonian and Laird, Controlled Clinical Trials 7, 1986; Higgins, Thompson and Spiegelhalter, Journal of the Royal
// Statistical Society A 172, 2009, section 3.2, for the band of a new table). docs/bands.md explains it in words.

namespace dadsim::estimate {

/// A validated row of a category.
struct Residual {
  std::string category;
  std::string table;     ///< rows of one machine and one framework, which share errors
  double log_ratio = 0;  ///< log(measured ÷ predicted)
};

/// Minimum number of tables for a spread between tables: with fewer, the next wider category lends its spread as if it
/// came from kLentTables more.
inline constexpr std::size_t kLeastTables = 5;
inline constexpr std::size_t kLentTables = 4;

namespace of_tables {

inline constexpr double kNineInTen = 0.9;
inline constexpr double kNormal95 = 1.6448536269514722;   // 95 % quantile of the normal distribution
inline constexpr double kNormalMedianDeviation = 1.4826;  // standard deviation ÷ median of the absolute deviations
inline constexpr double kFurthestTable = 3;               // robust standard deviations
inline constexpr auto kLent = static_cast<double>(kLentTables);

inline bool is_below(std::string_view name, std::string_view above) {
  while (!name.empty() && name != above) name = error_category(name).parent;
  return !name.empty();
}

inline double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return (values[n / 2] + values[(n - 1) / 2]) / 2;
}

inline double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Those that lie far outside moved to where they are no further than anybody believes of a table.
inline std::vector<double> without_outliers(std::vector<double> means) {
  const double centre = median_of(means);
  std::vector<double> deviations;
  for (const double one : means) deviations.push_back(std::abs(one - centre));
  const double furthest = kFurthestTable * kNormalMedianDeviation * median_of(deviations);
  if (means.size() > 2 && furthest > 0) {
    for (double& one : means) one = std::clamp(one, centre - furthest, centre + furthest);
  }
  return means;
}

/// Returns the variance of rows within their tables; none if no table has two rows.
inline std::optional<double> variance_within(const std::map<std::string_view, std::vector<double>>& tables) {
  std::vector<double> deviations;
  for (const auto& [name, rows] : tables) {
    if (rows.size() < 2) continue;
    const auto n = static_cast<double>(rows.size());
    for (const double row : rows) deviations.push_back(std::abs(row - mean_of(rows)) * std::sqrt(n / (n - 1)));
  }
  if (deviations.empty()) return {};
  std::ranges::sort(deviations);
  const auto n = static_cast<double>(deviations.size());
  const auto rank = static_cast<std::size_t>(std::clamp(std::ceil(kNineInTen * (n + 1) - 1e-9), 1.0, n));
  return std::pow(deviations[rank - 1] / kNormal95, 2);
}

/// Fitted effects of the tables of a category.
struct TableEffects {
  std::size_t rows = 0, tables = 0;
  double centre = 0, between = 0, within = 0;  ///< centre and two variances of log(measured ÷ predicted)
  std::int64_t freedom = 1;
};

inline std::optional<TableEffects> effects_of(const ErrorCategory& category, std::span<const Residual> residuals) {
  std::map<std::string_view, std::vector<double>> tables;
  TableEffects effects;
  for (const Residual& one : residuals) {
    if (category.gathers ? !is_below(one.category, category.name) : one.category != category.name) continue;
    tables[one.table].push_back(one.log_ratio);
    ++effects.rows;
  }
  effects.tables = tables.size();
  std::optional<TableEffects> wider;
  if (tables.size() < kLeastTables && !category.parent.empty())
    wider = effects_of(error_category(category.parent), residuals);
  if (tables.empty()) return wider;

  const auto count = static_cast<double>(tables.size());
  std::vector<double> means;
  for (const auto& [name, rows] : tables) means.push_back(mean_of(rows));
  means = without_outliers(std::move(means));
  effects.centre = mean_of(means);
  const double freedom_within = static_cast<double>(effects.rows) - count;
  effects.within = variance_within(tables).value_or(0);
  if (wider) effects.within = (freedom_within * effects.within + kLent * wider->within) / (freedom_within + kLent);
  double of_means = 0;
  double of_rows = 0;
  for (const double one : means) of_means += std::pow(one - effects.centre, 2);
  for (const auto& [name, rows] : tables) of_rows += effects.within / static_cast<double>(rows.size());
  effects.between = tables.size() > 1 ? std::max(0.0, of_means / (count - 1) - of_rows / count) : 0;
  effects.freedom = std::max<std::int64_t>(1, static_cast<std::int64_t>(tables.size()) - 1);
  if (wider) {
    effects.between = ((count - 1) * effects.between + kLent * wider->between) / (count - 1 + kLent);
    effects.freedom = static_cast<std::int64_t>(tables.size() - 1 + kLentTables);
  }
  return effects;
}

}  // namespace of_tables

/// The band of a row of a new table. With tables j = 1…T of n_j rows, the mean m_j of each, and their mean m (a table
/// counts as one, however many rows it has, and one further than three robust standard deviations from the median of
/// all as if it were there):
///     σ  the 90 % quantile of how far rows are from the mean of their table, each × √(n_j ÷ (n_j − 1)), ÷ 1.645, since
///        tails are heavy;
///     τ² the variance of the m_j less the mean of σ² ÷ n_j, at least 0;
///     log of the ends = m ± t √(τ² (1 + 1/T) + σ²), t the 95 % quantile of Student's with T − 1 degrees of freedom.
/// The prediction itself is always inside. A category that gathers has the rows of all below it; without a parent it
/// has the widest spread of those below it and of others of its kind without a parent, of which it may be any. One
/// without rows has the spread of its parent.
inline Spread spread_of(std::string_view name, std::span<const Residual> residuals) {
  const ErrorCategory& category = error_category(name);
  const std::optional<of_tables::TableEffects> effects = of_tables::effects_of(category, residuals);
  if (!effects) return {};
  if (category.gathers && category.parent.empty()) {
    // A row of an unknown kind may be of any kind.
    Spread widest;
    for (const ErrorCategory& below : error_categories()) {
      const bool alone = below.parent.empty() && below.name.starts_with(name.substr(0, name.find('.') + 1));
      if (below.gathers || (!alone && !of_tables::is_below(below.parent, name))) continue;
      const Spread one = spread_of(below.name, residuals);
      if (one.high / one.low > widest.high / widest.low) widest = one;
    }
    widest.rows = effects->rows;
    widest.tables = effects->tables;
    return widest;
  }
  const double half = student_t(effects->freedom, of_tables::kNineInTen) *
                      std::sqrt(effects->between * (1 + 1 / static_cast<double>(effects->tables)) + effects->within);
  return {std::min(1.0, std::exp(effects->centre - half)),
          std::max(1.0, std::exp(effects->centre + half)),
          effects->rows,
          effects->tables,
          std::sqrt(effects->between),
          std::sqrt(effects->within)};
}

}  // namespace dadsim::estimate
