#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/text/factor_text.hpp"
#include "report/words/kinds.hpp"
#include "report/words/metric.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

constexpr std::size_t kMostNamed = 5;  // runs in a sentence

std::string count_in_words(double count) { return human_count(static_cast<std::int64_t>(count)); }

std::string points_in_words(double points) {
  return fmt::format("{} point{}", count_in_words(points), points == 1 ? "" : "s");
}

std::string bit_rate_in_words(double bits) {
  constexpr std::array kUnits{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
  std::size_t unit = 0;
  while (bits >= 999.5 && unit + 1 < kUnits.size()) {
    bits /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bits, kUnits.at(unit));
}

/// Returns a value of an axis, in the sweep's own text if its number has no known unit.
std::string value_in_words(const Statement& region) {
  if (region.has("number")) {
    const double number = region.number("number");
    const std::string& unit = region.text("unit");
    if (unit == "bit/s") return bit_rate_in_words(number);
    if (unit == "s") return human_seconds(number);
    if (unit == "B") return human_bytes(number);
  }
  return region.text("value");
}

std::string region_won(const Statement& region) {
  const std::string& side = region.text("side");
  const std::string where = fmt::format("{}{} {}", region.subjects.at(1),
                                        side == "equal"     ? ""
                                        : side == "at-most" ? " at most"
                                                            : " at least",
                                        value_in_words(region));
  const double points = region.number("points");
  const double won = region.number("won");
  if (points == 1) return "the one with " + where;
  if (won == points) return fmt::format("all {} with {}", count_in_words(points), where);
  return fmt::format("{} of the {} with {}", count_in_words(won), count_in_words(points), where);
}

constexpr const char* kNoPoint = "No point has a result yet.";

std::string points_all_missed(const Statement& statement) {
  const std::string points = points_in_words(statement.number("points"));
  if (statement.has("by")) return fmt::format("No run has a {} at any of {}.", statement.text("by"), points);
  return fmt::format(
      "No run reaches the target at any of {}{}.", points,
      statement.has("best_accuracy") ? ": the best is " + human_percent(statement.number("best_accuracy")) : "");
}

std::string points_all_undecided(const Statement& statement) {
  return fmt::format("No run is told apart from the others at any of {}{}.",
                     points_in_words(statement.number("points")),
                     statement.has("missed")
                         ? fmt::format("; at {} none reaches the target", count_in_words(statement.number("missed")))
                         : "");
}

std::string win_in_words(const Statement& statement) {
  const std::string& metric = statement.text("metric");
  for (const auto& [by, what] : {std::pair{Metric::time_per_step, "step"}, {Metric::time_per_round, "round"}}) {
    const std::string& of = statement.text("of");
    if (metric == to_string(by)) return fmt::format("has the shortest {}{}{}", what, of.empty() ? "" : " of ", of);
  }
  if (metric == to_string(Metric::throughput)) return "has the most throughput of " + statement.text("of");
  if (metric == to_string(Metric::per_money))
    return fmt::format("does the most of {} for the money", statement.text("of"));
  if (metric == to_string(Metric::per_energy))
    return fmt::format("does the most of {} for the energy", statement.text("of"));
  if (metric == to_string(Metric::time_at_scale)) return fmt::format("trains {} first", statement.text("of"));
  return "reaches the target first";
}

std::string points_won(const Statement& statement) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(statement.subjects.size(), kMostNamed); ++i) {
    const std::string& run = statement.subjects[i];
    const std::string count = count_in_words(statement.numbers("won").at(i));
    std::string text = i == 0 ? fmt::format("{} {} at {} of {}", run, win_in_words(statement), count,
                                            points_in_words(statement.number("points")))
                              : fmt::format("{} at {}", run, count);
    const auto region = std::ranges::find(statement.parts, run,
                                          [](const Statement& part) -> const std::string& { return part.subject(); });
    if (region != statement.parts.end()) text += fmt::format(" ({})", in_words(*region));
    parts.push_back(std::move(text));
  }
  std::string text = fmt::format("{}", fmt::join(parts, "; "));
  if (statement.subjects.size() > kMostNamed)
    text += fmt::format("; and {} more runs elsewhere", statement.subjects.size() - kMostNamed);
  const std::vector<std::string> nowhere =
      statement.has("nowhere") ? statement.texts("nowhere") : std::vector<std::string>();
  if (nowhere.size() > kMostNamed) {
    text += fmt::format("; {} runs nowhere", nowhere.size());
  } else if (!nowhere.empty()) {
    text += fmt::format("; {} nowhere", fmt::join(nowhere, ", "));
  }
  return text + '.';
}

std::string points_undecided(const Statement& statement) {
  return fmt::format("At {} the quickest are equal or not told apart.", points_in_words(statement.number("points")));
}

std::string points_missed(const Statement& statement) {
  return fmt::format("At {} no run reaches it.", points_in_words(statement.number("points")));
}

std::string points_listed(const std::vector<double>& points) {
  std::vector<std::string> texts;
  for (const double one : points) texts.push_back(count_in_words(one));
  constexpr std::size_t kMost = 4;
  if (texts.size() > kMost) {
    const std::size_t more = texts.size() - kMost;
    texts.resize(kMost);
    texts.push_back(fmt::format("{} more", more));
  }
  return listed(texts);
}

std::string best_point(const Statement& statement) {
  const std::string& metric = statement.text("metric");
  const bool by_work = metric == to_string(Metric::throughput) || metric == to_string(Metric::per_money) ||
                       metric == to_string(Metric::per_energy);
  const double value = statement.number("value");
  std::string text = fmt::format(
      "The best of {} is {} ({}): {}, {}", points_in_words(statement.number("points")),
      count_in_words(statement.number("point")), assignments_in_words(statement.texts("changes")), statement.subject(),
      by_work ? work_in_words(value, metric, statement.is("tokens"), statement.text("currency"))
              : human_seconds(value));
  if (statement.has("beside"))
    text += fmt::format("; not told apart from it: {}", points_listed(statement.numbers("beside")));
  if (statement.has("next")) {
    text += fmt::format("; {} {} point {} ({})", report::times_in_words(statement.number("factor")),
                        by_work ? "as much as" : "faster than", count_in_words(statement.number("next")),
                        assignments_in_words(statement.texts("next_changes")));
  }
  if (statement.has("infeasible"))
    text += fmt::format("; {} infeasible", count_in_words(statement.number("infeasible")) +
                                               (statement.number("infeasible") == 1 ? " is" : " are"));
  return text + ".";
}

constexpr std::array kSweeps{
    StatementKind{"no-point-decided", "no point of a sweep has a result yet", as_it_is<kNoPoint>},
    StatementKind{"points-all-missed", "no run has a time at any point", points_all_missed},
    StatementKind{"points-all-undecided", "no run is told apart from the others at any point", points_all_undecided},
    StatementKind{"points-won", "who is first at how many points: where most of those of a run are is a part of it",
                  points_won},
    StatementKind{"region-won", "where most of the points are that a run is first at", region_won},
    StatementKind{"points-undecided", "points where the quickest are equal, or not told apart", points_undecided},
    StatementKind{"points-missed", "points where no run reaches the target", points_missed},
    StatementKind{"best-point", "one run is timed, or points do other work: which point is the best", best_point},
};

}  // namespace

std::span<const StatementKind> of_sweeps() { return kSweeps; }

}  // namespace dadsim::report::words
