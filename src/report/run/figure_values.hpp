#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/run/figures.hpp"
#include "report/run/result.hpp"

namespace dadsim::report {

/// The values of all figures of a run.
class FigureValues {
 public:
  FigureValues();  ///< Creates figures with unknown values.
  explicit FigureValues(const FigureSource& source);

  /// Returns a figure's number; NaN if unknown or not finite. Throws std::logic_error if there is no such figure, or it
  /// is a text.
  double operator[](std::string_view name) const { return number(figure_index(name)); }
  double number(std::size_t index) const;
  bool is(std::string_view name) const { return (*this)[name] == 1; }
  /// Returns a figure's text. Throws std::logic_error if there is no such figure, or it is not a text.
  const std::string& text(std::string_view name) const { return text(figure_index(name)); }
  const std::string& text(std::size_t index) const;

  FigureValues& set(std::string_view name, double value) { return set(figure_index(name), value); }
  FigureValues& set(std::string_view name, std::string text) { return set(figure_index(name), std::move(text)); }
  FigureValues& set(std::size_t index, double value);
  FigureValues& set(std::size_t index, std::string text);

 private:
  // Two vectors instead of one of variants, so that a hundred thousand rows stay small.
  std::vector<double> numbers_;
  std::vector<std::string> texts_;
};

/// Returns a figure as a field of a CSV: empty if unknown, "true" or "false" for flags.
std::string csv_field_of(const FigureValues& values, std::size_t index);
/// Return ",name,name …" of the figures in CSVs, beginning with figure `from` (names), or ",value,value …" (fields).
std::string csv_names_of_figures(std::size_t from = 0);
std::string csv_fields_of(const FigureValues& values, std::size_t from = 0);

/// Returns the learning curves in long format: a header, then one line per run and evaluation; docs/output-csv.md
/// documents the columns. Fields are quoted according to RFC 4180; a value that is not finite is left empty.
std::string to_csv(const Result& result);

}  // namespace dadsim::report
