#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/efficiency.hpp"
#include "support/statement.hpp"

// Bands of predicted times, from the errors of measured predictions of the same category (docs/validation.md). Every
// number is computed from those rows; none is chosen.

namespace dadsim::estimate {

/// Between which factors of a prediction nine measurements out of ten lie. The prediction itself is always between.
struct Spread {
  double low = 1, high = 1;  ///< measured ÷ predicted
  std::size_t rows = 0;      ///< rows that the spread is computed from
  std::size_t tables = 0;    ///< tables that the rows are from
  double between = 0;        ///< standard deviation of log(measured ÷ predicted) between tables
  double within = 0;         ///< and within one
  bool operator==(const Spread&) const = default;
};

/// Rows of validation whose errors have the same causes: a row of category_spreads.csv.
struct ErrorCategory {
  std::string name;          ///< category, named as in tests/validation/residuals.csv
  Spread spread = {};        ///< computed from those rows (estimate/table_effects.hpp)
  std::string parent = {};   ///< the next wider category, which lends where there are too few tables of its own
  std::string meaning = {};  ///< basis of a time of this category
  bool gathers = false;      ///< it has no rows of its own but those of all categories below it
};

/// All of them.
std::span<const ErrorCategory> error_categories();

/// Throws std::logic_error for a name that is none.
const ErrorCategory& error_category(std::string_view name);

/// A part of a time whose error has one cause.
struct TimePart {
  std::string category;
  double seconds = 0;
  /// Errors with the same cause are one and the same in two times of one cluster: which devices compute, what is
  /// carried out over which links.
  std::string cause = {};
  std::optional<Statement> basis = {};  ///< basis of the prediction; none: the category's own
  /// Amount of work: seconds × a rate of the machine, so that a quicker machine does the same work. 0: unknown.
  double work = 0;
  std::vector<std::string> unseen = {};  ///< further categories, of what was not measured: the widest spread counts
  bool operator==(const TimePart&) const = default;
};

/// Factors on a time.
struct Band {
  double low = 1, high = 1;
  bool operator==(const Band&) const = default;
};

/// The band of the sum of the parts. Their errors are taken to be independent of each other: how far the sum may lie
/// above it is the root of the summed squares of how far each part may,
///     high = 1 + √Σ (sᵢ (hᵢ − 1))² ÷ Σ sᵢ,   low likewise.
/// `categories`: whose spreads they have.
Band band_of(std::span<const TimePart> parts, std::span<const ErrorCategory> categories = error_categories());

/// Returns the band of the ratio a ÷ b, as factors on the predicted ratio. An error of the same cause is the same in
/// both and counts by the difference of its shares of the two times; others count for themselves. To first order in the
/// logarithms, the terms added as in band_of:
///     log of the ratio = Σ over causes (share in a − share in b) × log of the error.
/// Work that only one of them does has an error of its own, and a quicker machine adds none:
///     log of the ratio = log(1 + share of the added work × (error − 1)).
Band ratio_band(std::span<const TimePart> a, std::span<const TimePart> b,
                std::span<const ErrorCategory> categories = error_categories());

/// The interval of a time of so many steps, and the band of a step, together: the logarithms of what each allows on a
/// side are added in squares. The interval is one of 95 % where the band is one of 90 %: it is taken as it is.
Estimate with_band(const Estimate& time, const Band& step);

/// Returns the bases of a band, the longest part first: "calibrated on …; assumed". Leaves out parts under 1 %.
std::vector<Statement> basis_of(std::span<const TimePart> parts);

}  // namespace dadsim::estimate
