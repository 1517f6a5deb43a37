#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/bands.hpp"
#include "report/document/document.hpp"
#include "support/diagnostics.hpp"

// Steps of training that were measured beside what is predicted of them (docs/validate.md).

namespace dadsim::report {

/// A measurement.
struct ValidatedRow {
  std::string name;
  int line = 0;                        ///< of the file
  std::int64_t devices = 0;            ///< 0: the scenario says it
  double measured = 0, predicted = 0;  ///< seconds of a step
  estimate::Band band = {};            ///< factors on the predicted one: nine measurements of ten
  std::string category = {};           ///< of estimate::error_categories(): of the longest part
  std::optional<Fault> refused = {};   ///< why dadsim predicts nothing

  double error() const { return predicted / measured - 1; }
  bool inside() const { return measured >= band.low * predicted && measured <= band.high * predicted; }
};

/// Those of one table.
struct ValidatedTable {
  std::string name;
  std::string source;  ///< the file
  std::vector<ValidatedRow> rows = {};
  std::size_t left_out = 0;  ///< of more devices than were asked for
};

/// What a table comes to, of the rows that were predicted.
struct TableFigures {
  std::size_t rows = 0, refused = 0;
  double mean_error = 0, signed_error = 0;  ///< of predicted ÷ measured − 1
  std::optional<double> order = {};         ///< Kendall's τ-a; none of fewer than two rows
  std::size_t inside = 0;
  double half_width = 0;           ///< mean of half a band, of the prediction
  double offset = 1, scatter = 0;  ///< measured ÷ predicted: geometric mean, and standard deviation of the logarithm
};
TableFigures figures_of(const ValidatedTable& table);

struct Validation : ReportHead {
  std::vector<ValidatedTable> tables;
};

/// A line per table; `every_row`: and one for each of its rows. Every member is documented in docs/validate.md.
Document document_of(const Validation& validation, bool every_row);

}  // namespace dadsim::report
