#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "estimate/bands.hpp"

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

/// The band of a row of a new table. With tables j = 1…T of n_j rows, the mean m_j of each, and their mean m (a table
/// counts as one, however many rows it has, and one further than three robust standard deviations from the median of
/// all as if it were there):
///     σ  the 90 % quantile of how far rows are from the mean of their table, each × √(n_j ÷ (n_j − 1)), ÷ 1.645, since
///        tails are heavy;
///     τ² the variance of the m_j less the mean of σ² ÷ n_j, at least 0;
///     log of the ends = m ± t √(τ² (1 + 1/T) + σ²), t the 95 % quantile of Student's with T − 1 degrees of freedom.
/// The prediction itself is always inside. A category that gathers has the rows of all below it; without a parent it has
/// the widest spread of those below it, of which it may be any. One without rows has the spread of its parent.
Spread spread_of(std::string_view category, std::span<const Residual> residuals);

}  // namespace dadsim::estimate
