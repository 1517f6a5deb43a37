#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "report/run/result.hpp"

namespace dadsim::report {

/// What a figure of a run is had from.
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
  const char* meaning;  ///< the sentence of docs/figures.md
  /// How it is had: a text by `text`, anything else by `number`, with 1 for yes, 0 for no and what is no number where
  /// it is not known.
  double (*number)(const FigureSource&);
  std::string (*text)(const FigureSource&);
  Better better = Better::neither;
  const char* title = "";  ///< in few words; the page of a sweep shows figures that have a title
  bool in_csv = true;      ///< false: too long for a column of every line

  bool on_page() const { return *title != '\0'; }
};

const char* to_string(Figure::Kind kind);
const char* to_string(Figure::Better better);

/// All figures, in the order of every output.
std::span<const Figure> figures();
/// The place of a figure in the table. Throws std::logic_error where there is none of that name.
std::size_t figure_index(std::string_view name);

/// The rows of the table in docs/figures.md.
std::string figures_in_markdown();

/// The most that any adversary knows of a figure; what is no number is not known.
double most_leaked(const RunResult& run, double step::LeakFigures::*figure);
/// ε towards whom it is known of: the least of all adversaries.
double epsilon_spent(const RunResult& run);

}  // namespace dadsim::report
