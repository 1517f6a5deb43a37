#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/bands.hpp"
#include "report/document/document.hpp"
#include "support/diagnostics.hpp"

// Measured training steps and their predictions (docs/validate.md).

namespace dadsim::report {

/// A measurement.
struct ValidatedRow {
  std::string name;
  int line = 0;                        ///< line in the file
  std::int64_t devices = 0;            ///< number of devices; 0: as in the scenario
  double measured = 0, predicted = 0;  ///< seconds of a step
  estimate::Band band = {};            ///< factors on the prediction, for the interval of nine measurements in ten
  estimate::Band own_band = {};        ///< band after correction by another measured step of the same software
  std::string network = {};            ///< network that is trained
  std::string category = {};           ///< error category (estimate::error_categories()) of the longest part
  std::optional<Fault> refused = {};   ///< reason why there is no prediction

  double error() const { return predicted / measured - 1; }
  bool inside() const { return measured >= band.low * predicted && measured <= band.high * predicted; }
};

/// The measurements of one table.
struct ValidatedTable {
  std::string name;
  std::string source;  ///< name of the file
  std::vector<ValidatedRow> rows = {};
  std::size_t left_out = 0;  ///< number of rows with more devices than requested
};

/// Figures of a table, over its rows with predictions.
struct TableFigures {
  std::size_t rows = 0, refused = 0;
  double mean_error = 0, signed_error = 0;  ///< means of |predicted ÷ measured − 1| and of predicted ÷ measured − 1
  std::optional<double> order = {};         ///< Kendall's τ-a; nothing for fewer than two rows
  std::size_t inside = 0;
  double half_width = 0;           ///< mean half width of the band ÷ prediction
  double offset = 1, scatter = 0;  ///< measured ÷ predicted: geometric mean, and standard deviation of the logarithm
  double median_error = 0;         ///< median of |predicted ÷ measured − 1|
  /// Errors of rows corrected by another row of the same network, over all pairs; 0 if there are no pairs.
  double own_median_error = 0, own_inside = 0, own_half_width = 0;
};
TableFigures figures_of(const ValidatedTable& table);

struct Validation : ReportHead {
  std::vector<ValidatedTable> tables;
};

/// Returns a document with a line per table. `every_row`: also a line per row. docs/validate.md documents every member.
Document document_of(const Validation& validation, bool every_row);

}  // namespace dadsim::report
