#include "estimate/bands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "estimate/category_spreads.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::estimate {
namespace {

const Spread& spread_in(std::span<const ErrorCategory> categories, const std::string& name) {
  const auto found = std::ranges::find(categories, name, &ErrorCategory::name);
  if (found == categories.end()) throw std::logic_error(fmt::format("no spread of '{}'", name));
  return found->spread;
}

/// Returns the widest spread among a part's categories.
const Spread& spread_of(std::span<const ErrorCategory> categories, const TimePart& part) {
  const Spread* widest = &spread_in(categories, part.category);
  for (const std::string& name : part.unseen) {
    const Spread& spread = spread_in(categories, name);
    if (spread.high / spread.low > widest->high / widest->low) widest = &spread;
  }
  return *widest;
}

/// Logarithms of both ends of a band.
struct LogEnds {
  double low, high;
};
LogEnds log_ends(const Spread& spread) { return {std::log(spread.low), std::log(spread.high)}; }

double sum_of(std::span<const TimePart> parts) {
  double sum = 0;
  for (const TimePart& part : parts) sum += part.seconds;
  return sum;
}

}  // namespace

std::span<const ErrorCategory> error_categories() {
  static const std::vector<ErrorCategory> kCategories = [] {
    const FactTable table(tables::kCategorySpreads, {"category", "parent", "gathers", "words", "low", "high", "tables",
                                                     "rows", "between", "within", "date", "source"});
    return table.each([&](const FactTable::Row& row) {
      if (!row.optional_text("parent").empty()) static_cast<void>(row.row_of("parent", table));
      const Spread spread{row.number("low"),
                          row.number("high"),
                          static_cast<std::size_t>(row.integer("rows")),
                          static_cast<std::size_t>(row.integer("tables")),
                          row.number("between"),
                          row.number("within")};
      return ErrorCategory{row.text("category"), spread, row.optional_text("parent"), row.text("words"),
                           row.yes("gathers")};
    });
  }();
  return kCategories;
}

const ErrorCategory& error_category(std::string_view name) {
  const auto found = std::ranges::find(error_categories(), name, &ErrorCategory::name);
  if (found == error_categories().end()) throw std::logic_error(fmt::format("'{}' is not a category of errors", name));
  return *found;
}

Band band_of(std::span<const TimePart> parts, std::span<const ErrorCategory> categories) {
  const double sum = sum_of(parts);
  if (!(sum > 0)) return {};
  double below = 0;
  double above = 0;
  for (const TimePart& part : parts) {
    const Spread& spread = spread_of(categories, part);
    below += std::pow(part.seconds * (1 - spread.low), 2);
    above += std::pow(part.seconds * (spread.high - 1), 2);
  }
  return {1 - std::sqrt(below) / sum, 1 + std::sqrt(above) / sum};
}

Band ratio_band(std::span<const TimePart> a, std::span<const TimePart> b, std::span<const ErrorCategory> categories) {
  const double sum_a = sum_of(a);
  const double sum_b = sum_of(b);
  if (!(sum_a > 0) || !(sum_b > 0)) return {};
  // share in a − share in b, and the wider spread of both, by cause and category
  std::map<std::pair<std::string, std::string>, std::pair<double, const Spread*>> shares;
  const auto key = [](const TimePart& part, const char* whose) {
    return std::pair(part.cause.empty() ? std::string("only ") + whose : part.cause, part.category);
  };
  const auto add = [&](const TimePart& part, const char* whose, double share) {
    auto& [sum, widest] = shares[key(part, whose)];
    const Spread& spread = spread_of(categories, part);
    sum += share;
    if (widest == nullptr || spread.high / spread.low > widest->high / widest->low) widest = &spread;
  };
  double below = 0;
  double above = 0;
  // Returns the seconds of a part, without the added work that the other time lacks, whose error is added.
  const auto shared = [&](const TimePart& part, std::span<const TimePart> other, double sum, bool first) {
    double others = 0;
    for (const TimePart& one : other) others += key(one, "") == key(part, "") ? one.work : 0;
    if (part.cause.empty() || !(others > 0) || others >= part.work) return part.seconds;
    const double added = part.seconds * (1 - others / part.work);
    const Spread& spread = spread_of(categories, part);
    const double less = std::log1p(added / sum * (spread.low - 1));
    const double more = std::log1p(added / sum * (spread.high - 1));
    below += std::pow(first ? less : more, 2);
    above += std::pow(first ? more : less, 2);
    return part.seconds - added;
  };
  for (const TimePart& part : a) add(part, "a", shared(part, b, sum_a, true) / sum_a);
  for (const TimePart& part : b) add(part, "b", -shared(part, a, sum_b, false) / sum_b);
  for (const auto& [of, both] : shares) {
    const auto& [share, spread] = both;
    const LogEnds ends = log_ends(*spread);
    // If a part's share is larger in b, an error upwards makes the ratio smaller.
    below += std::pow(share * (share > 0 ? ends.low : ends.high), 2);
    above += std::pow(share * (share > 0 ? ends.high : ends.low), 2);
  }
  return {std::exp(-std::sqrt(below)), std::exp(std::sqrt(above))};
}

Estimate with_band(const Estimate& time, const Band& step) {
  const auto end = [&](const std::optional<double>& of_steps, double factor) {
    const double steps = of_steps && *of_steps > 0 && time.value > 0 ? std::log(*of_steps / time.value) : 0;
    return time.value * std::exp(std::copysign(std::hypot(steps, std::log(factor)), factor - 1));
  };
  Estimate both{time.value, end(time.low, step.low), end(time.high, step.high)};
  if (step.low >= 1 && time.low) both.low = *time.low;
  if (step.high <= 1 && time.high) both.high = *time.high;
  return both;
}

std::vector<Statement> basis_of(std::span<const TimePart> parts) {
  constexpr double kListed = 0.01;
  const double sum = sum_of(parts);
  std::vector<TimePart> sorted(parts.begin(), parts.end());
  std::ranges::stable_sort(sorted, [](const TimePart& a, const TimePart& b) { return a.seconds > b.seconds; });
  std::vector<Statement> bases;
  for (const TimePart& part : sorted) {
    if (part.seconds < kListed * sum) continue;
    Statement basis = part.basis.value_or(Statement{"as-its-category"}.with("category", part.category));
    if (std::ranges::find(bases, basis) == bases.end()) bases.push_back(std::move(basis));
    for (const std::string& unseen : part.unseen) {
      basis = Statement{"as-its-category"}.with("category", unseen);
      if (std::ranges::find(bases, basis) == bases.end()) bases.push_back(basis);
    }
  }
  return bases;
}

std::vector<TimePart> with_own_step(std::vector<TimePart> parts) {
  for (TimePart& part : parts) {
    if (!part.category.starts_with("compute.")) continue;
    part.category = kOwnStep;
    part.unseen.clear();
  }
  return parts;
}

}  // namespace dadsim::estimate
