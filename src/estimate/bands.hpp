// Uncertainty bands of predicted times, from the errors of validated predictions of the same category
// (docs/validation.md). All numbers are computed from these validation rows.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/efficiency.hpp"
#include "support/statement.hpp"

namespace dadsim::estimate {

/// Factors on a prediction that enclose nine of ten measurements, and 1.
struct Spread {
  double low = 1, high = 1;  ///< factors: measured ÷ predicted
  std::size_t rows = 0;      ///< rows that the spread is computed from
  std::size_t tables = 0;    ///< tables that contain these rows
  double between = 0;        ///< standard deviation of log(measured ÷ predicted) between tables
  double within = 0;         ///< standard deviation of log(measured ÷ predicted) within a table
  bool operator==(const Spread&) const = default;
};

/// Category of validation rows whose errors have the same causes: a row of category_spreads.csv.
struct ErrorCategory {
  std::string name;          ///< category, named as in tests/validation/residuals.csv
  Spread spread = {};        ///< spread of the category's rows (estimate/table_effects.hpp)
  std::string parent = {};   ///< next wider category, whose tables are used too if this one has too few
  std::string meaning = {};  ///< basis of predicted times of this category
  bool gathers = false;      ///< true: has no rows of its own, only those of its subcategories
};

/// Returns all categories.
std::span<const ErrorCategory> error_categories();

/// Returns the category of that name. Throws std::logic_error if there is none.
const ErrorCategory& error_category(std::string_view name);

/// A part of a time whose error has one cause.
struct TimePart {
  std::string category;
  double seconds = 0;
  /// Cause of the error: devices that compute, or links and the collectives over them. Two predicted times of the same
  /// cluster have the same error from each cause.
  std::string cause = {};
  std::optional<Statement> basis = {};  ///< basis of the prediction; none: the basis of its category
  /// Amount of work: seconds × a rate of the machine, which is the same on a faster machine. 0: unknown.
  double work = 0;
  std::vector<std::string> unseen = {};  ///< additional categories, for unmeasured properties; the widest spread is
                                         ///< used
  bool operator==(const TimePart&) const = default;
};

/// Factors on a predicted time that enclose its uncertainty.
struct Band {
  double low = 1, high = 1;
  bool operator==(const Band&) const = default;
};

/// Returns the band of the sum of the parts, whose errors are assumed to be independent (quadrature). With sᵢ the
/// seconds of part i, and hᵢ the upper factor of its category's spread:
///     high = 1 + √Σ (sᵢ (hᵢ − 1))² ÷ Σ sᵢ,   low likewise.
/// `categories`: all categories, with their spreads.
Band band_of(std::span<const TimePart> parts, std::span<const ErrorCategory> categories = error_categories());

/// Returns the band of the ratio a ÷ b, as factors on the predicted ratio. Terms are added as in band_of(). An error
/// with the same cause is equal in both times, and counts by the difference of its shares; other errors are
/// independent. To first order:
///     log of the ratio = Σ over causes (share in a − share in b) × log of the error.
/// If one time has more work with a cause than the other, the added work has an independent error:
///     log of the ratio = log(1 + share of the added work × (error − 1)).
/// A faster machine adds no work.
Band ratio_band(std::span<const TimePart> a, std::span<const TimePart> b,
                std::span<const ErrorCategory> categories = error_categories());

/// Combines the interval of a time with the band of its steps, in quadrature of the logarithms on each side. The
/// interval has a level of 95 % and the band of 90 %; neither is converted.
Estimate with_band(const Estimate& time, const Band& step);

/// Returns the bases of a band, beginning with that of the longest part: "calibrated on …; assumed". Leaves out parts
/// under 1 %.
std::vector<Statement> basis_of(std::span<const TimePart> parts);

/// Category of computing time whose speed was fitted to one measured step with the same network and software.
inline constexpr std::string_view kOwnStep = "compute.own-step";

/// Returns the parts of a time after the speed of computing has been fitted to a measured step.
std::vector<TimePart> with_own_step(std::vector<TimePart> parts);

}  // namespace dadsim::estimate
