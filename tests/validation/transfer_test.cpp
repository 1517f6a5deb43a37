// Compares published relative steps with predictions from networks that dadsim learns, from smaller published networks,
// from other batches, and from other published rows of a family of methods (docs/transfer.md).
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "estimate/critical_batch.hpp"
#include "estimate/ladder.hpp"
#include "estimate/statistics.hpp"
#include "measured.hpp"

namespace dadsim::test {
namespace {

constexpr double kLevel = 0.9;
constexpr const char* kPage = "docs/transfer.md";
constexpr const char* kAllWays = "any of these";
using Cells = std::map<std::string, std::string>;

/// Returns the rows of a file with columns separated by semicolons.
std::vector<Cells> rows_of(const std::string& name) {
  std::ifstream in(std::string(DADSIM_SOURCE_DIR) + "/tests/validation/" + name + ".csv");
  std::vector<Cells> rows;
  std::vector<std::string> columns;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const std::vector<std::string> cells = split(line, ';');
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    Cells& row = rows.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = i < cells.size() ? cells[i] : "";
  }
  return rows;
}

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' ? std::optional(value) : std::nullopt;
}

/// Returns a published value ÷ its baseline's value; empty if the target was not reached.
std::optional<double> published_ratio(const Cells& row) {
  const auto value = number_in(row.at("value"));
  const auto baseline = number_in(row.at("baseline_value"));
  return value && baseline ? std::optional(*value / *baseline) : std::nullopt;
}

/// Returns the lower bound that a value such as "1000+" states; empty for other values.
std::optional<double> published_bound(const Cells& row) {
  const std::string& value = row.at("value");
  const auto baseline = number_in(row.at("baseline_value"));
  if (!value.ends_with('+') || !baseline) return std::nullopt;
  return *number_in(value.substr(0, value.size() - 1)) / *baseline;
}

/// Returns the variance that rounding adds to the logarithm of a printed number: uniform within half a unit of the last
/// place.
double variance_of_rounding(const std::string& printed) {
  const std::size_t point = printed.find('.');
  const double unit = point == std::string::npos ? 1 : std::pow(10.0, -static_cast<double>(printed.size() - point - 1));
  const double share = unit / *number_in(printed);
  return share * share / 12;
}

struct Predicted {
  std::optional<estimate::LadderPrediction> ratio;
  bool never = false;   ///< the largest learned networks do not reach the target
  std::string why_not;  ///< reason why nothing is predicted
};

/// Learned values by cell, size and seed; empty if the target was not reached.
class LearnedCells {
 public:
  LearnedCells() {
    for (const Cells& row : rows_of("relative-steps-learned"))
      cells_[row.at("cell")][*number_in(row.at("size"))][row.at("seed")] = number_in(row.at("value"));
  }

  Predicted predict(const std::string& cell, const std::string& baseline, double size) const {
    const auto of = cells_.find(cell);
    const auto to = cells_.find(baseline);
    if (of == cells_.end() || to == cells_.end()) return {std::nullopt, false, "not-learned"};
    std::vector<estimate::Rung> rungs;
    bool missed = false;  // so far, the largest size missed the target
    for (const auto& [learned_size, seeds] : of->second) {
      const auto reference = to->second.find(learned_size);
      if (reference == to->second.end()) continue;
      if (const auto rung = rung_of(learned_size, seeds, reference->second)) {
        rungs.push_back(*rung);
        missed = false;
      } else {
        missed = true;
      }
    }
    if (missed) return {std::nullopt, true, {}};
    if (rungs.size() < 3) return {std::nullopt, false, "few-sizes"};
    return {estimate::Ladder(rungs).at({std::log10(size)}, kLevel), false, {}};
  }

 private:
  using Seeds = std::map<std::string, std::optional<double>>;

  static std::optional<estimate::Rung> rung_of(double size, const Seeds& values, const Seeds& reference) {
    double sum = 0;
    double of = 0;
    std::vector<double> logs;
    for (const auto& [seed, value] : values) {
      const auto beside = reference.find(seed);
      if (!value || beside == reference.end() || !beside->second) return std::nullopt;
      sum += *value;
      of += *beside->second;
      logs.push_back(std::log(*value / *beside->second));
    }
    const auto n = static_cast<double>(logs.size());
    const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / n;
    double squares = 0;
    for (const double one : logs) squares += (one - mean) * (one - mean);
    const bool several = logs.size() > 1;
    return estimate::Rung{{std::log10(size)}, sum / of, several ? squares / (n - 1) / n : 0};
  }

  std::map<std::string, std::map<double, Seeds>> cells_;
};

/// Predicts a row from the smaller networks of its series.
Predicted predict_by_sizes(const std::vector<Cells>& rows, const Cells& row) {
  const double size = *number_in(row.at("x"));
  std::vector<estimate::Rung> rungs;
  for (const Cells& other : rows) {
    if (other.at("by") != "sizes" || other.at("series") != row.at("series")) continue;
    const double x = *number_in(other.at("x"));
    const double rounding = variance_of_rounding(other.at("value")) + variance_of_rounding(other.at("baseline_value"));
    if (x < size) rungs.push_back({{std::log10(x)}, *published_ratio(other), rounding});
  }
  if (rungs.size() < 3) return {std::nullopt, false, "no-smaller"};
  return {estimate::Ladder(rungs).at({std::log10(size)}, kLevel), false, {}};
}

/// A series of batches, with the samples to the target at each.
struct Series {
  std::vector<const Cells*> rows;

  static double batch(const Cells& row) { return *number_in(row.at("x")); }
  /// Returns the samples to the target. Some sources count steps, others a number proportional to samples.
  static double samples(const Cells& row) {
    const double value = *number_in(row.at("value"));
    return row.at("series").starts_with("BX") ? value * batch(row) : value;
  }
  /// Predicts the samples at the batch of `row` by the law fitted to all other rows; empty with fewer than three.
  std::optional<double> without(const Cells& row) const {
    std::vector<estimate::StepsAtBatch> others;
    for (const Cells* other : rows) {
      if (other != &row) others.push_back({batch(*other), samples(*other) / batch(*other)});
    }
    if (others.size() < 3) return std::nullopt;
    const auto law = estimate::fit_batch_law(others);
    return law ? std::optional(law->samples(batch(row))) : std::nullopt;
  }
};

/// Predicts a row from other batches of its series, by the law of the critical batch. The errors that this law makes in
/// other series, with one batch left out, give the interval.
class BatchLaws {
 public:
  explicit BatchLaws(const std::vector<Cells>& rows) {
    for (const Cells& row : rows) {
      if (row.at("by").starts_with("batches")) series_[row.at("series")].rows.push_back(&row);
    }
  }

  Predicted predict(const Cells& row) const {
    const Series& own = series_.at(row.at("series"));
    const std::optional<double> samples = own.without(row);
    if (!samples) return {std::nullopt, false, "few-batches"};
    double squares = 0;
    std::int64_t count = 0;
    for (const auto& [name, series] : series_) {
      if (name == row.at("series")) continue;
      for (const Cells* other : series.rows) {
        if (const auto predicted = series.without(*other)) {
          const double error = std::log(*predicted / Series::samples(*other));
          squares += error * error;
          ++count;
        }
      }
    }
    const double half = estimate::student_t(count, kLevel) * std::sqrt(squares / static_cast<double>(count));
    const double ratio = *samples / Series::samples(row) * *published_ratio(row);
    return {estimate::LadderPrediction{ratio, ratio * std::exp(-half), ratio * std::exp(half), 0}, false, {}};
  }

 private:
  std::map<std::string, Series> series_;
};

/// Predicts by a ladder over all kinds of size of the row's family, fitted to published rows of other groups. Rows
/// quoted from memory help to predict only rows of the same kind.
Predicted predict_by_family(const std::vector<Cells>& rows, const Cells& row) {
  const auto kinds_of = [](const Cells& cells) {
    std::vector<double> kinds;
    for (const std::string& kind : split(cells.at("kinds"), ' ')) kinds.push_back(std::log10(*number_in(kind)));
    return kinds;
  };
  std::vector<estimate::Rung> rungs;
  for (const Cells& other : rows) {
    if (other.at("family") != row.at("family") || other.at("group") == row.at("group")) continue;
    const auto ratio = published_ratio(other);
    if (!ratio || (other.at("mark") == "K" && row.at("mark") != "K")) continue;
    const double rounding = variance_of_rounding(other.at("value")) + variance_of_rounding(other.at("baseline_value"));
    rungs.push_back({kinds_of(other), *ratio, rounding});
  }
  const std::vector<double> kinds = kinds_of(row);
  if (rungs.size() < std::max<std::size_t>(3, kinds.size() + 2)) return {std::nullopt, false, "few-others"};
  return {estimate::Ladder(rungs).at(kinds, kLevel), false, {}};
}

/// Returns whether the published value is inside the predicted interval; empty if this cannot be decided.
std::optional<bool> holds(const Predicted& predicted, const Cells& row) {
  const auto seen = published_ratio(row);
  if (predicted.never) return !seen;
  if (seen) return predicted.ratio->low <= *seen && *seen <= predicted.ratio->high;
  const auto bound = published_bound(row);
  if (bound && predicted.ratio->high < *bound) return false;
  return std::nullopt;
}

const std::map<std::string, std::string>& ways() {
  static const std::map<std::string, std::string> kWays{{"learned", "networks learned here"},
                                                        {"sizes", "smaller published networks"},
                                                        {"batches", "other published batches"},
                                                        {"family", "other rows of the family"}};
  return kWays;
}

const std::map<std::string, std::string>& reasons() {
  static const std::map<std::string, std::string> kReasons{
      {"baseline", "the baseline itself: 1 by definition"},
      {"data", "data that are not here: the whole of CIFAR-10, plays by role, posts"},
      {"no-baseline", "no baseline of its own"},
      {"setting", "network and split are not said"},
      {"optimizer", "the inner optimizer begins anew every round, which no method here does"},
      {"another-batch", "the baseline has another batch, or what it needs is a dozen steps"},
      {"overfitted", "loss late in overfitting"},
      {"law", "an exponent or a coefficient, no ratio"},
      {"no-smaller", "fewer than three smaller networks in its series, and no family"},
      {"few-others", "fewer than three other published rows of its method and metric"},
      {"few-batches", "fewer than three other batches in its series"},
      {"few-sizes", "fewer than three sizes reached the target here"},
      {"not-learned", "expressible, and too dear for this page: its own cell or its baseline was not learned"}};
  return kReasons;
}

std::string three(double value) { return fmt::format("{:.3g}", value); }

/// Counts of rows, by method of prediction and kind.
struct Count {
  std::size_t rows = 0, told = 0, held = 0;
  std::vector<double> errors;  ///< |ln(predicted ÷ published)|
  std::vector<double> halves;  ///< ln √(high ÷ low)

  static double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
  }
  void add(const Predicted& predicted, std::optional<double> seen, std::optional<bool> within) {
    ++rows;
    told += within ? 1 : 0;
    held += within && *within ? 1 : 0;
    if (!predicted.ratio || !seen) return;
    errors.push_back(std::abs(std::log(predicted.ratio->ratio / *seen)));
    halves.push_back(std::log(predicted.ratio->high / predicted.ratio->low) / 2);
  }
  std::vector<std::string> cells(const std::string& way, const std::string& kind) const {
    const bool none = errors.empty();
    return {way,
            kind,
            std::to_string(rows),
            none ? "–" : fmt::format("{:.1f} %", 100 * std::expm1(median(errors))),
            none ? "–" : fmt::format("× {:.3g}", std::exp(median(halves))),
            fmt::format("{} of {}", held, told)};
  }
};

class Transfer : public testing::Test {
 protected:
  /// Predicts by the row's first method, or by its family if this method predicts nothing. Also returns the method.
  static std::pair<Predicted, std::string> predict(const std::vector<Cells>& rows, const LearnedCells& learned,
                                                   const BatchLaws& laws, const Cells& row) {
    const std::string& by = row.at("by");
    const Predicted first = predict_by(by, rows, learned, laws, row);
    const bool baseline = by.ends_with("baseline");
    if (first.ratio || first.never || baseline || row.at("family").empty()) return {first, by};
    return {predict_by_family(rows, row), "family"};
  }

 private:
  static Predicted predict_by(const std::string& by, const std::vector<Cells>& rows, const LearnedCells& learned,
                              const BatchLaws& laws, const Cells& row) {
    if (by == "learned") return learned.predict(row.at("cell"), row.at("baseline_cell"), *number_in(row.at("x")));
    if (by == "sizes") return predict_by_sizes(rows, row);
    if (by == "batches") return laws.predict(row);
    if (by == "family") return {};
    return {std::nullopt, false, by == "none" ? row.at("why_not") : "baseline"};
  }
};

TEST_F(Transfer, PublishedRelativeStepsAreAsNearAsThePageSays) {
  const std::vector<Cells> rows = rows_of("relative-steps");
  ASSERT_GT(rows.size(), 400U);
  const LearnedCells learned;
  const BatchLaws laws(rows);
  std::map<std::string, std::map<std::string, Count>> counts;  // by method, then by kind and whether the row decides
  std::map<std::pair<std::string, std::string>, std::size_t> missing;
  DocumentedTable all("transfer-rows",
                      {"row", "source", "network", "method", "published", "predicted (90 %)", "error", "in it"}, kPage);
  for (const Cells& row : rows) {
    const auto [predicted, way] = predict(rows, learned, laws, row);
    if (!predicted.ratio && !predicted.never) {
      ASSERT_TRUE(reasons().contains(predicted.why_not)) << row.at("id") << " " << predicted.why_not;
      ++missing[{row.at("kind"), predicted.why_not}];
      continue;
    }
    const auto seen = published_ratio(row);
    const auto held = holds(predicted, row);
    const bool decides = row.at("mark") != "K";
    counts[ways().at(way)][row.at("kind") + (decides ? "" : ", from memory")].add(predicted, seen, held);
    if (decides) {
      counts[kAllWays][row.at("kind")].add(predicted, seen, held);
      counts[kAllWays]["all"].add(predicted, seen, held);
    }
    const std::string error = predicted.ratio && seen ? percent(predicted.ratio->ratio / *seen - 1) : "–";
    all.add({row.at("id"), row.at("source"), row.at("network"),
             fmt::format("{}, against {}", row.at("method"), row.at("baseline")),
             seen                   ? three(*seen)
             : published_bound(row) ? "> " + three(*published_bound(row))
                                    : row.at("value"),
             predicted.never ? "never"
                             : fmt::format("{} ({} … {})", three(predicted.ratio->ratio), three(predicted.ratio->low),
                                           three(predicted.ratio->high)),
             error, held ? (*held ? "yes" : "no") : "–"});
  }
  DocumentedTable summary(
      "transfer", {"predicted from", "kind", "rows", "median error", "half of an interval", "in the interval"}, kPage);
  for (const auto& [way, kinds] : counts) {
    for (const auto& [kind, count] : kinds) summary.add(count.cells(way, kind));
  }
  const Count& decided = counts.at(kAllWays).at("all");
  EXPECT_GE(decided.told, 150U);
  EXPECT_GE(static_cast<double>(decided.held), 0.85 * static_cast<double>(decided.told));
  EXPECT_LE(Count::median(decided.halves), std::log(3.0));
  DocumentedTable none("transfer-none", {"kind", "rows", "why nothing is predicted"}, kPage);
  for (const auto& [what, count] : missing) none.add({what.first, std::to_string(count), reasons().at(what.second)});
  summary.expect_in_document();
  none.expect_in_document();
  all.expect_in_document();
}

}  // namespace
}  // namespace dadsim::test
