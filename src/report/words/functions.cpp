#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/words/causes.csv.hpp"
#include "report/words/statement.hpp"
#include "report/words/statement_rows.hpp"
#include "support/fact_table.hpp"
#include "support/human.hpp"

// Sentences of kinds that need more than a template. Most functions add values to a copy of the statement, for the
// template of its row.

namespace dadsim::report::words {
namespace {

/// Shifts the factors by one run: the first run has none.
std::string first(const Statement& statement) {
  Statement shifted = statement;
  for (const char* name : {"factor", "factor_low", "factor_high"}) {
    if (!statement.has(name)) continue;  // a single run has no factors
    std::vector<double> factors = statement.numbers(name);
    factors.insert(factors.begin(), std::numeric_limits<double>::quiet_NaN());
    shifted.with(name, std::move(factors));
  }
  return words_of_row(shifted);
}

/// Returns the sentence on runs that cannot be distinguished: with their times, and whether these are equal or only
/// printed equally.
std::string with_times(const Statement& statement) {
  const std::vector<double>& seconds = statement.numbers("seconds");
  std::vector<std::string> times;
  for (const double one : seconds) times.push_back(human_seconds(one));
  const auto all_equal = [](const auto& list) {
    return std::ranges::all_of(list, [&](const auto& one) { return one == list.front(); });
  };
  return words_of_row(
      Statement(statement).with("exactly", all_equal(seconds)).with("same", all_equal(times)).with("times", times));
}

/// Returns the sentence on throughput, with the reasons for a utilisation above the peak and for a scaling efficiency
/// above one.
std::string throughput(const Statement& statement) {
  Statement added = statement;
  for (std::size_t i = 0; i < statement.parts.size(); ++i) {
    const std::string& kind = statement.parts[i].kind;
    const bool alone = kind == "update-is-divided" || kind == "computes-less" || kind == "waits-less";
    const char* name = alone ? "above_alone" : "above_peak";
    if (alone ? !added.has(name) : i == 0) added.with(name, in_words(statement.parts[i]));
  }
  if (statement.has("scaling_efficiency"))
    added.with("all", human_percent(statement.number("scaling_efficiency")) == human_percent(1));
  return words_of_row(added);
}

std::string samples_in_messages(const Statement& statement) {
  const auto [least, most] = std::ranges::minmax(statement.numbers("samples_handed_over"));
  return words_of_row(Statement(statement).with("least", least).with("most", most));
}

/// Returns a sentence that groups layers by the statistic that sites send.
std::string layer_statistics(const Statement& note) {
  constexpr std::size_t kMostNames = 3;
  const std::vector<std::string>& names = note.texts("layers");
  std::map<std::string, std::vector<std::string>> layers;
  for (std::size_t i = 0; i < names.size(); ++i) layers[note.texts("statistics").at(i)].push_back(names[i]);
  std::vector<std::string> texts;
  for (const auto& [statistic, of] : layers) {
    const auto end = of.begin() + static_cast<std::ptrdiff_t>(std::min(of.size(), kMostNames));
    texts.push_back(fmt::format("{} for {} of {} layers ({}{})", statistic, of.size(), names.size(),
                                fmt::join(of.begin(), end, ", "), end == of.end() ? "" : " …"));
  }
  return fmt::format("sites send for {}: {}", note.subject(), fmt::join(texts, "; "));
}

const FactTable::Row& cause_of(const Statement& statement) {
  static const FactTable kCauses(tables::kCauses, {"name", "words", "check", "rccl", "elsewhere"});
  for (const FactTable::Row& row : kCauses.rows()) {
    if (row.text("name") == statement.text("cause")) return row;
  }
  throw std::logic_error("there are no words for a cause");
}

std::string cause(const Statement& statement) {
  return words_of_row(Statement(statement).with("words", cause_of(statement).text("words")));
}

std::string cause_check(const Statement& statement) {
  const std::string library = statement.has("library") ? statement.text("library") : "";
  const FactTable::Row& row = cause_of(statement);
  const std::string& other = row.optional_text(library == "rccl" ? "rccl" : "elsewhere");
  return fmt::format("Check: {}.", library == "nccl" || other.empty() ? row.text("check") : other);
}

/// Returns the sentence on won points, with the region of each winner: the statement's part whose subject is the run's
/// label.
std::string points_won(const Statement& statement) {
  std::vector<std::string> regions;
  for (const std::string& run : statement.subjects) {
    const auto region = std::ranges::find(statement.parts, run, [](const Statement& one) { return one.subject(); });
    regions.push_back(region == statement.parts.end() ? "" : in_words(*region));
  }
  return words_of_row(Statement(statement).with("regions", regions));
}

}  // namespace

WordsFunction function_of(std::string_view kind) {
  static const std::map<std::string_view, WordsFunction> kFunctions{
      {"first", first},
      {"equal", with_times},
      {"undecided", with_times},
      {"throughput", throughput},
      {"handed-over", samples_in_messages},
      {"layer-statistics", layer_statistics},
      {"cause", cause},
      {"cause-check", cause_check},
      {"points-won", points_won},
  };
  const auto found = kFunctions.find(kind);
  return found == kFunctions.end() ? nullptr : found->second;
}

}  // namespace dadsim::report::words
