#include "report/validate/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimate/statistics.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

/// Returns the rows of a table; the table's name is a heading above them.
DocumentTable rows_of(const ValidatedTable& table) {
  DocumentTable rows;
  for (const ValidatedRow& row : table.rows) {
    TableRow line = rows.add_row();
    line.add("name", table.name, row.name, Unit::plain)
        .add("line", row.line)
        .add("devices", "devices", row.devices > 0 ? DocumentValue(row.devices) : DocumentValue(), Unit::plain,
             row.devices > 0 ? fmt::format("{}", row.devices) : "")
        .add("refused", row.refused ? DocumentValue(row.refused->what) : DocumentValue());
    if (row.refused) continue;
    line.add("predicted_s", "predicted", row.predicted, Unit::seconds)
        .say("9 of 10", fmt::format("{} … {}", human_seconds(row.band.low * row.predicted),
                                    human_seconds(row.band.high * row.predicted)))
        .add("measured_s", "measured", row.measured, Unit::seconds)
        .add("low_s", row.band.low * row.predicted, "high_s", row.band.high * row.predicted)
        .add("error", "error", row.error(), Unit::signed_share)
        .add("inside", "inside", row.inside(), Unit::plain)
        .add("category", row.category);
  }
  return rows;
}

/// A table with its figures.
struct ToldTable {
  const ValidatedTable& table;
  TableFigures figures;
  DocumentTable rows;
};

DocumentTable tables_of(const std::vector<ToldTable>& told) {
  DocumentTable tables;
  for (const auto& [table, figures, rows] : told) {
    const auto words = [none = figures.rows == 0](std::string said) { return none ? "–" : std::move(said); };
    tables.add_row()
        .add("name", "table", table.name, Unit::plain)
        .add("source", table.source)
        .add("predicted", "rows", figures.rows, Unit::plain,
             table.left_out == 0 ? fmt::format("{}", figures.rows)
                                 : fmt::format("{} of {}", figures.rows, figures.rows + table.left_out))
        .add("refused", figures.refused, "left_out", table.left_out)
        .add("mean_error", "mean error", figures.mean_error, Unit::share, words(human_percent(figures.mean_error)))
        .add("signed_error", "signed", figures.signed_error, Unit::signed_share,
             words(fmt::format("{:+.1f} %", 100 * figures.signed_error)))
        .add("kendall_tau", "tau", figures.order, Unit::plain,
             figures.order ? fmt::format("{:.2f}", *figures.order) : "–")
        .add("inside", "in band", figures.inside, Unit::plain,
             words(fmt::format("{} of {}", figures.inside, figures.rows)))
        .add("half_width", "width", figures.half_width, Unit::share,
             words(fmt::format("±{:.0f} %", 100 * figures.half_width)))
        .add("median_error", figures.median_error)
        .add("own_median_error", "with one row", figures.own_median_error, Unit::share,
             figures.own_half_width == 0 ? "–" : human_percent(figures.own_median_error))
        .add("own_inside", "in band", figures.own_inside, Unit::share,
             figures.own_half_width == 0 ? "–" : human_percent(figures.own_inside))
        .add("own_half_width", "width", figures.own_half_width, Unit::share,
             figures.own_half_width == 0 ? "–" : fmt::format("±{:.0f} %", 100 * figures.own_half_width))
        .add("measured_over_predicted", figures.offset, "scatter", figures.scatter, "rows", rows);
  }
  return tables;
}

std::vector<Statement> answer_of(const std::vector<ToldTable>& told) {
  Statement answer{"validated"};
  double rows = 0, inside = 0, refused = 0, error = 0;
  for (const auto& [table, figures, lines] : told) {
    rows += static_cast<double>(figures.rows);
    inside += static_cast<double>(figures.inside);
    refused += static_cast<double>(figures.refused);
    error += figures.mean_error * static_cast<double>(figures.rows);
  }
  if (rows > 0) answer.with("mean_error", error / rows);
  return {answer.with("rows", rows).with("inside", inside).with("refused", refused)};
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Corrects each row by the error of another row of the same network, and records the remaining errors.
void add_own_figures(const std::vector<const ValidatedRow*>& rows, TableFigures& figures) {
  std::vector<double> errors;
  for (const ValidatedRow* given : rows) {
    for (const ValidatedRow* row : rows) {
      if (row == given || row->network != given->network) continue;
      const double predicted = row->predicted * given->measured / given->predicted;
      errors.push_back(std::abs(predicted / row->measured - 1));
      const bool inside =
          row->measured >= row->own_band.low * predicted && row->measured <= row->own_band.high * predicted;
      figures.own_inside += inside ? 1 : 0;
      figures.own_half_width += (row->own_band.high - row->own_band.low) / 2;
    }
  }
  if (errors.empty()) return;
  const auto pairs = static_cast<double>(errors.size());
  figures.own_inside /= pairs;
  figures.own_half_width /= pairs;
  figures.own_median_error = median_of(std::move(errors));
}

}  // namespace

TableFigures figures_of(const ValidatedTable& table) {
  TableFigures figures;
  std::vector<const ValidatedRow*> rows;
  for (const ValidatedRow& row : table.rows) {
    if (!row.refused) rows.push_back(&row);
  }
  figures.rows = rows.size();
  figures.refused = table.rows.size() - rows.size();
  if (rows.empty()) return figures;
  const auto count = static_cast<double>(rows.size());
  double logarithms = 0;
  for (const ValidatedRow* row : rows) {
    figures.mean_error += std::abs(row->error()) / count;
    figures.signed_error += row->error() / count;
    figures.inside += row->inside() ? 1 : 0;
    figures.half_width += (row->band.high - row->band.low) / 2 / count;
    logarithms += std::log(row->measured / row->predicted) / count;
  }
  figures.offset = std::exp(logarithms);
  for (const ValidatedRow* row : rows)
    figures.scatter += std::pow(std::log(row->measured / row->predicted) - logarithms, 2) / std::max(1.0, count - 1);
  figures.scatter = std::sqrt(figures.scatter);
  std::vector<double> errors;
  for (const ValidatedRow* row : rows) errors.push_back(std::abs(row->error()));
  figures.median_error = median_of(std::move(errors));
  add_own_figures(rows, figures);
  std::vector<estimate::PredictedMeasured> compared;
  compared.reserve(rows.size());
  for (const ValidatedRow* row : rows) compared.push_back({row->predicted, row->measured});
  figures.order = estimate::kendall_tau(compared);
  return figures;
}

Document document_of(const Validation& validation, bool every_row) {
  std::vector<ToldTable> told;
  for (const ValidatedTable& table : validation.tables) told.push_back({table, figures_of(table), rows_of(table)});
  Document document{validation, answer_of(told)};
  document.parts.push_back({.name = "tables", .shown = Shown::always, .what = tables_of(told)});
  std::vector<Statement> offsets;
  double left_out = 0;
  for (auto& [table, figures, rows] : told) {
    left_out += static_cast<double>(table.left_out);
    if (!every_row || table.rows.empty()) continue;
    DocumentPart part{.shown = Shown::always, .what = std::move(rows), .text = {}};
    for (const ValidatedRow& row : table.rows)
      if (row.refused)
        part.text += paragraph(fmt::format("{}: {}:{}: {}", row.name, table.source, row.line, row.refused->what));
    document.parts.push_back(std::move(part));
    if (figures.rows < 2) continue;
    offsets.push_back(
        Statement{"validated-offset", {table.name}}.with("offset", figures.offset).with("scatter", figures.scatter));
  }
  if (left_out > 0) offsets.push_back(Statement{"rows-left-out"}.with("rows", left_out));
  offsets.push_back(Statement{"error-of-prediction"});
  document.say(std::move(offsets));
  return document;
}

}  // namespace dadsim::report
