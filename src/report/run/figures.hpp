#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "report/run/result.hpp"

namespace dadsim::report {

/// The input of a figure's getter.
struct FigureSource {
  const RunResult& run;
  const Result& result;
};

/// A figure of a run: one value under one name, in every output. A new figure is a row of the table in figures.cpp;
/// JSON, both CSVs, the files of sweeps, pages, the library, Python and docs/figures.md follow from it.
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
  /// Getters: a text has `text`, any other kind `number`, with 1 for yes and 0 for no; not a number if unknown.
  double (*number)(const FigureSource&);
  std::string (*text)(const FigureSource&);
  Better better = Better::neither;
  const char* title = "";  ///< short title; the page of a sweep shows figures that have a title
  bool in_csv = true;      ///< false: too long for a column of every line

  bool on_page() const { return *title != '\0'; }
};

const char* to_string(Figure::Kind kind);
const char* to_string(Figure::Better better);

/// Returns all figures, in the order of every output.
std::span<const Figure> figures();
/// Returns the index of a figure in the table. Throws std::logic_error if there is no such name.
std::size_t figure_index(std::string_view name);

/// Returns the most that any adversary knows of a figure; not a number if unknown.
double most_leaked(const RunResult& run, double step::LeakFigures::*figure);
/// Returns the least ε over all adversaries for which one is known.
double epsilon_spent(const RunResult& run);

}  // namespace dadsim::report
