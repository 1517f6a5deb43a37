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
#include "estimate/statistics.hpp"

// Estimates how far a category's errors spread in a table that was not seen: a random effect per table, plus the
// variance of rows. Follows DerSimonian and Laird, Controlled Clinical Trials 7, 1986. The band of a new table follows
// Higgins, Thompson and Spiegelhalter, Journal of the Royal Statistical Society A 172, 2009, section 3.2. docs/bands.md
// explains the method.

namespace dadsim::estimate {

/// A validated row of a category.
struct Residual {
  std::string category;
  std::string table;     ///< group of rows of one machine and one framework, which share errors
  double log_ratio = 0;  ///< log(measured ÷ predicted)
};

/// A category with at least this number of tables has a spread of its own. With fewer tables, the spread of the next
/// wider category counts as kLentTables more tables.
inline constexpr std::size_t kLeastTables = 5;
inline constexpr std::size_t kLentTables = 4;

namespace of_tables {

inline constexpr double kNineInTen = 0.9;
inline constexpr double kNormal95 = 1.6448536269514722;   // 95 % quantile of the normal distribution
inline constexpr double kNormalMedianDeviation = 1.4826;  // standard deviation ÷ median absolute deviation
inline constexpr double kFurthestTable = 3;               // in robust standard deviations
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

/// Returns the means, in which outliers are moved to kFurthestTable robust standard deviations from the median.
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

/// Returns the variance of rows within their tables, from a quantile of their deviations; empty if no table has two
/// rows.
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

/// Fitted effects of tables of a category.
struct TableEffects {
  std::size_t rows = 0, tables = 0;
  double centre = 0, between = 0, within = 0;      ///< centre and two variances of log(measured ÷ predicted)
  double freedom_between = 1, freedom_within = 0;  ///< degrees of freedom of the two variances

  /// Returns the variance of a row in a table that was not seen.
  double of_new_row() const { return of_new_table() + within; }

  /// Returns the degrees of freedom of of_new_row() (Satterthwaite, Biometrics Bulletin 2, 1946).
  std::int64_t freedom() const {
    double unsure = std::pow(of_new_table(), 2) / freedom_between;
    if (within > 0) unsure += std::pow(within, 2) / std::max(1.0, freedom_within);
    const double least = std::max(1.0, freedom_between);
    return static_cast<std::int64_t>(unsure > 0 ? std::max(1.0, std::pow(of_new_row(), 2) / unsure) : least);
  }

 private:
  double of_new_table() const { return between * (1 + 1 / static_cast<double>(tables)); }
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
  effects.freedom_within = static_cast<double>(effects.rows) - count;
  effects.within = variance_within(tables).value_or(0);
  if (wider) {
    effects.within =
        (effects.freedom_within * effects.within + kLent * wider->within) / (effects.freedom_within + kLent);
    effects.freedom_within += kLent;
  }
  double of_means = 0;
  double of_rows = 0;
  for (const double one : means) of_means += std::pow(one - effects.centre, 2);
  for (const auto& [name, rows] : tables) of_rows += effects.within / static_cast<double>(rows.size());
  effects.between = tables.size() > 1 ? std::max(0.0, of_means / (count - 1) - of_rows / count) : 0;
  effects.freedom_between = std::max(1.0, count - 1);
  if (wider) {
    effects.freedom_between = count - 1 + kLent;
    effects.between = ((count - 1) * effects.between + kLent * wider->between) / effects.freedom_between;
  }
  return effects;
}

}  // namespace of_tables

/// Returns the band of a row in a new table. Tables j = 1 … T have n_j rows with mean m_j; m is the mean of the m_j.
/// Each table counts once, and outliers count at three robust standard deviations from the median:
///     σ  is the 90 % quantile of |row − m_j| √(n_j ÷ (n_j − 1)), ÷ 1.645 (a quantile, since tails are heavy);
///     τ² is the variance of the m_j minus the mean of σ² ÷ n_j, at least 0;
///     log of the ends = m ± t √V, V = τ² (1 + 1/T) + σ², with t the 95 % quantile of Student's t. Its degrees of
///        freedom are those of V: V² ÷ ((V − σ²)² ÷ (T − 1) + σ⁴ ÷ (rows − T)).
/// The band always includes the prediction itself. A category with children has the rows of all its descendants. A
/// category without a parent has the widest spread of its descendants and of the other parentless categories of its
/// kind. A category without rows has its parent's spread.
inline Spread spread_of(std::string_view name, std::span<const Residual> residuals) {
  const ErrorCategory& category = error_category(name);
  const std::optional<of_tables::TableEffects> effects = of_tables::effects_of(category, residuals);
  if (!effects) return {};
  if (category.gathers && category.parent.empty()) {
    // The kind of the row is unknown, so it may be any of the kinds.
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
  const double half = student_t(effects->freedom(), of_tables::kNineInTen) * std::sqrt(effects->of_new_row());
  return {std::min(1.0, std::exp(effects->centre - half)),
          std::max(1.0, std::exp(effects->centre + half)),
          effects->rows,
          effects->tables,
          std::sqrt(effects->between),
          std::sqrt(effects->within)};
}

}  // namespace dadsim::estimate
