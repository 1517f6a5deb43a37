#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "report/run/result.hpp"

namespace dadsim::report {

/// The input of the figures' getters.
struct FigureSource {
  const RunResult& run;
  const Result& result;
};

/// A figure of a run: one value with one name, in every output. To add a figure, add a row to the table in figures.cpp;
/// JSON, both CSVs, files of sweeps, pages, the library, Python and docs/figures.md use the table.
struct Figure {
  enum class Kind : std::uint8_t {
    number,
    count,  ///< a whole number
    truth,  ///< yes or no
    text,
  };
  enum class Better : std::uint8_t { neither, low, high };

  const char* name;
  Kind kind;
  const char* unit;     ///< "s" (simulated), "B", "share", "currency" …; empty: none
  const char* meaning;  ///< sentence for docs/figures.md
  /// Getters: figures of kind text have `text`, all others `number`, with 1 for yes, 0 for no, and NaN if unknown.
  double (*number)(const FigureSource&);
  std::string (*text)(const FigureSource&);
  Better better = Better::neither;
  const char* title = "";  ///< short title; the page of a sweep shows only figures with a title
  bool in_csv = true;      ///< false: left out of CSVs, because it is too long for a column

  bool on_page() const { return *title != '\0'; }
};

const char* to_string(Figure::Kind kind);
const char* to_string(Figure::Better better);

/// Returns all figures, in the order of every output.
std::span<const Figure> figures();
/// Returns the index of a figure in the table. Throws std::logic_error if there is no such name.
std::size_t figure_index(std::string_view name);

/// Returns the largest value of a leak figure over all adversaries; NaN if unknown.
double most_leaked(const RunResult& run, double step::LeakFigures::*figure);
/// Returns the least ε over all adversaries with a known ε.
double epsilon_spent(const RunResult& run);

}  // namespace dadsim::report
