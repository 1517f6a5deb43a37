// Bands of predicted times, from the errors of measured predictions of the same category (docs/validation.md). Every
// number is computed from those rows; none is chosen.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/efficiency.hpp"
#include "support/statement.hpp"

namespace dadsim::estimate {

/// Factors of a prediction between which nine measurements out of ten lie. The prediction itself always lies between
/// them.
struct Spread {
  double low = 1, high = 1;  ///< measured ÷ predicted
  std::size_t rows = 0;      ///< rows that the spread is computed from
  std::size_t tables = 0;    ///< tables that contain these rows
  double between = 0;        ///< standard deviation of log(measured ÷ predicted) between tables
  double within = 0;         ///< standard deviation of the same within one table
  bool operator==(const Spread&) const = default;
};

/// Rows of validation whose errors have the same causes: a row of category_spreads.csv.
struct ErrorCategory {
  std::string name;          ///< category, named as in tests/validation/residuals.csv
  Spread spread = {};        ///< computed from these rows (estimate/table_effects.hpp)
  std::string parent = {};   ///< next wider category, whose tables are used too if this one has too few
  std::string meaning = {};  ///< basis of a time of this category
  bool gathers = false;      ///< true: the rows of all categories below it are its only rows
};

/// Returns all categories.
std::span<const ErrorCategory> error_categories();

/// Returns the category of that name. Throws std::logic_error if there is none.
const ErrorCategory& error_category(std::string_view name);

/// A part of a time whose error has one cause.
struct TimePart {
  std::string category;
  double seconds = 0;
  /// Cause of the error. Errors with the same cause are equal in two times of one cluster: devices that compute, or
  /// links and what is carried out over them.
  std::string cause = {};
  std::optional<Statement> basis = {};  ///< basis of the prediction; none: the basis of its category
  /// Amount of work: seconds × a rate of the machine, so that a quicker machine does the same work. 0: unknown.
  double work = 0;
  std::vector<std::string> unseen = {};  ///< further categories, for unmeasured properties: the widest spread counts
  bool operator==(const TimePart&) const = default;
};

/// Returns factors on a time.
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

/// Combines the interval of the time of that many steps with the band of a step: the logarithms on each side are added
/// in squares. The interval is one of 95 % and the band one of 90 %; the interval is used unchanged.
Estimate with_band(const Estimate& time, const Band& step);

/// Returns the bases of a band, those of the longest part first: "calibrated on …; assumed". Leaves out parts under 1
/// %.
std::vector<Statement> basis_of(std::span<const TimePart> parts);

/// Returns the category of computing whose speed was fitted to one measured step of the same network and software.
inline constexpr std::string_view kOwnStep = "compute.own-step";

/// Returns the parts of a time once the speed of computing has been fitted to such a step.
std::vector<TimePart> with_own_step(std::vector<TimePart> parts);

}  // namespace dadsim::estimate
