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
  FigureValues();  ///< nothing is known
  explicit FigureValues(const FigureSource& source);

  /// Not a number: not known, or not finite. Throws std::logic_error where there is no such figure, or it is a text.
  double operator[](std::string_view name) const { return number(figure_index(name)); }
  double number(std::size_t index) const;
  bool is(std::string_view name) const { return (*this)[name] == 1; }
  /// Throws std::logic_error where there is no such figure, or it is no text.
  const std::string& text(std::string_view name) const { return text(figure_index(name)); }
  const std::string& text(std::size_t index) const;

  FigureValues& set(std::string_view name, double value) { return set(figure_index(name), value); }
  FigureValues& set(std::string_view name, std::string text) { return set(figure_index(name), std::move(text)); }
  FigureValues& set(std::size_t index, double value);
  FigureValues& set(std::size_t index, std::string text);

 private:
  // Apart, so that a hundred thousand rows stay small.
  std::vector<double> numbers_;
  std::vector<std::string> texts_;
};

/// As a field of a CSV: empty where it is not known; yes and no are "true" and "false".
std::string csv_field_of(const FigureValues& values, std::size_t index);
/// ",name,name …" of the figures that CSVs have, from one on, and ",value,value …" of them.
std::string csv_names_of_figures(std::size_t from = 0);
std::string csv_fields_of(const FigureValues& values, std::size_t from = 0);

/// The learning curves in long format: a header, then one line per run and evaluation; the columns are documented in
/// docs/output-csv.md. Fields are quoted as RFC 4180 asks where they need it; what is not a finite number is left
/// empty.
std::string to_csv(const Result& result);

}  // namespace dadsim::report
