#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "estimate/verdict.hpp"
#include "report/text/factor_text.hpp"
#include "report/text/seconds.hpp"
#include "report/words/kinds.hpp"
#include "report/words/metric.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

/// Returns "dad, nic=200Gbps: ".
std::string run_and_side(const Statement& statement) {
  return fmt::format("{}, {}: ", statement.subject(), statement.subjects.at(1));
}

/// Notes that a common label belongs to two methods, so that more than the conditions differs.
std::string end_with_methods(const Statement& statement) {
  if (!statement.has("before_algorithm")) return ".";
  return fmt::format("; the two are other methods ({} and {}), and not the conditions alone.",
                     statement.text("before_algorithm"), statement.text("after_algorithm"));
}

/// Returns the subject of a time: "the target takes".
std::string taking_in_words(const Statement& statement) {
  const std::string& metric = statement.text("metric");
  if (metric == to_string(Metric::time_to_target)) return "the target takes";
  return metric == to_string(Metric::time_at_scale) ? fmt::format("training {} takes", statement.text("of"))
                                                    : a_step_of(statement) + " takes";
}

std::string times_of_both(const Statement& statement) {
  return fmt::format("{} {} instead of {}", taking_in_words(statement),
                     human_seconds(statement.number("after_seconds")),
                     human_seconds(statement.number("before_seconds")));
}

/// Returns the causes of the slower side's time, as the end of a sentence.
std::string end_with_causes(const Statement& statement) {
  std::string text;
  const std::string& metric = statement.text("metric");
  if (metric != to_string(Metric::time_per_step) && metric != to_string(Metric::time_per_round)) {
    text += fmt::format(", {} {} instead of {}", statement.has("round") ? "a round" : "a step",
                        human_seconds(statement.number("after_step_seconds")),
                        human_seconds(statement.number("before_step_seconds")));
  }
  if (const std::string& causes = statement.text("causes"); !causes.empty())
    text += fmt::format("; {}, {}", statement.is("faster") ? "before" : "after", causes);
  return text + end_with_methods(statement);
}

estimate::Estimate ratio_of(const Statement& statement) {
  const double low = statement.number("factor_low");
  const double high = statement.number("factor_high");
  const auto known = [](double end) { return std::isnan(end) ? std::nullopt : std::optional(end); };
  return {statement.number("factor"), known(low), known(high)};
}

/// Returns the value compared by a metric of work: "the throughput", "the tokens for the money".
std::string worth_in_words(const Statement& statement) {
  const std::string& metric = statement.text("metric");
  if (metric == to_string(Metric::throughput)) return "the throughput";
  return fmt::format("the {} for the {}", statement.is("tokens") ? "tokens" : "samples",
                     metric == to_string(Metric::per_money) ? "money" : "energy");
}

std::string compared_work(const Statement& statement) {
  const std::string& standing = statement.text("standing");
  std::string text = run_and_side(statement);
  if (standing == to_string(estimate::Standing::equal)) {
    text += worth_in_words(statement) + " is equal within 5 %: ";
  } else {
    text += fmt::format("{} {}: ", factor_in_words(ratio_of(statement)), worth_in_words(statement));
  }
  const std::string& metric = statement.text("metric");
  text += fmt::format(
      "{} instead of {}",
      work_in_words(statement.number("after_rate"), metric, statement.is("tokens"), statement.text("currency")),
      rate_in_words(statement.number("before_rate")));
  const double samples = statement.number("samples_factor");
  const bool as_many = std::abs(samples - 1) < 0.001;
  text += fmt::format(" ({}{} takes {} instead of {})", a_step_of(statement),
                      as_many ? "" : fmt::format(" has {:.3g} times the samples and", samples),
                      human_seconds(statement.number("after_step_seconds")),
                      human_seconds(statement.number("before_step_seconds")));
  if (standing == to_string(estimate::Standing::undecided)) text += "; the two cannot be told apart";
  return text + end_with_methods(statement);
}

std::string compared_costs(const Statement& statement) {
  std::string text;
  const bool tokens = statement.is("tokens");
  const auto add = [&](const std::string& what, Metric metric) {
    if (!statement.has("before_per_" + what)) return;
    const double before = statement.number("before_per_" + what);
    const double after = statement.number("after_per_" + what);
    text +=
        fmt::format("{}{} the {} for the {} ({} instead of {})", text.empty() ? "" : ", and ",
                    report::times_in_words(after / before), tokens ? "tokens" : "samples",
                    metric == Metric::per_money ? "money" : "energy",
                    work_in_words(after, to_string(metric), tokens, statement.text("currency")), rate_in_words(before));
  };
  add("money", Metric::per_money);
  add("kwh", Metric::per_energy);
  return run_and_side(statement) + text + ".";
}

std::string pays_in(const Statement& statement) {
  const std::string& currency = statement.text("currency");
  const std::string bought = money_in_words(statement.number("purchase"), currency);
  if (!statement.is("known"))
    return run_and_side(statement) + fmt::format("when {} pay is not known, since the money of a step is not.", bought);
  const std::string day =
      fmt::format("what takes a day before takes {}", human_seconds(statement.number("day_seconds")));
  const double saved = statement.number("saved_per_day");
  if (!statement.has("days"))
    return run_and_side(statement) +
           fmt::format("{} never pay: {} and costs {} more.", bought, day, money_in_words(-saved, currency));
  return run_and_side(statement) + fmt::format("{} pay in {:.3g} days: {} and costs {} less.", bought,
                                               statement.number("days"), day, money_in_words(saved, currency));
}

std::string compared_batches(const Statement& statement) {
  std::string text = fmt::format(
      "A step of all workers has {} samples before and {} after: a {} is taken to be worth as much with either",
      human_count(std::llround(statement.number("before_samples"))),
      human_count(std::llround(statement.number("after_samples"))), statement.is("tokens") ? "token" : "sample");
  if (statement.has("critical_batch")) {
    text += fmt::format(
        "; by published runs, whose critical batch is about {}, the same accuracy takes {:.3g} times the samples after",
        human_count(std::llround(statement.number("critical_batch"))), statement.number("samples_factor"));
  } else {
    text += ", as it nearly is far below the critical batch";
  }
  return text + ".";
}

std::string compared_missed(const Statement& statement) {
  const auto reached = [&](const std::string& side) -> std::string {
    if (const double seconds = statement.number(side + "_seconds"); !std::isnan(seconds))
      return fmt::format("is reached in {}", human_seconds(seconds));
    const double best = statement.number(side + "_best_accuracy");
    return std::isfinite(best) ? fmt::format("is never reached (best {})", human_percent(best)) : "is not known";
  };
  return run_and_side(statement) +
         fmt::format("the target {} before, and {} after", reached("before"), reached("after")) +
         end_with_methods(statement);
}

std::string compared_same(const Statement& statement) {
  std::string text =
      run_and_side(statement) + fmt::format("no difference: {} {} on both sides", taking_in_words(statement),
                                            human_seconds(statement.number("before_seconds")));
  if (const std::string& causes = statement.text("causes"); !causes.empty()) text += "; " + causes;
  return text + end_with_methods(statement);
}

std::string compared_equal(const Statement& statement) {
  return run_and_side(statement) +
         fmt::format("equal within {:.0f} %: {}", 100 * statement.number("margin"), times_of_both(statement)) +
         end_with_causes(statement);
}

std::string compared_undecided(const Statement& statement) {
  return run_and_side(statement) +
         fmt::format("cannot be told apart ({}): {}; {}", interval_in_words(ratio_of(statement)),
                     times_of_both(statement),
                     would_tell_in_words(estimate::would_tell_of(statement.text("would_tell")))) +
         end_with_causes(statement);
}

std::string compared_apart(const Statement& statement) {
  return run_and_side(statement) +
         fmt::format("{} {}: {}", factor_in_words(ratio_of(statement)), statement.is("faster") ? "faster" : "slower",
                     times_of_both(statement)) +
         end_with_causes(statement);
}

std::string same_quickest(const Statement& statement) {
  return statement.subject() + " is the quickest on both sides.";
}

std::string other_quickest(const Statement& statement) {
  return fmt::format("The quickest is {} before, and {} after.", statement.subject(), statement.subjects.at(1));
}

std::string run_of_one_side(const Statement& statement) {
  return fmt::format("{} is a run of the {} side alone.", statement.subject(), statement.text("side"));
}

constexpr std::array kComparisons{
    StatementKind{"compared-work",
                  "a run does another amount of work in a step on the second side, or the scenario compares by work",
                  compared_work},
    StatementKind{"compared-missed", "a run has no time on one side", compared_missed},
    StatementKind{"compared-same", "the times of a run read the same on both sides", compared_same},
    StatementKind{"compared-equal", "they are equal within the margin", compared_equal},
    StatementKind{"compared-undecided", "they cannot be told apart", compared_undecided},
    StatementKind{"compared-apart", "one side is the quicker", compared_apart},
    StatementKind{"same-quickest", "one run is the quickest on both sides", same_quickest},
    StatementKind{"other-quickest", "another run is the quickest on the second side", other_quickest},
    StatementKind{"compared-costs", "what the same work costs on both sides", compared_costs},
    StatementKind{"pays-in", "in how many days what is bought for the second side pays", pays_in},
    StatementKind{"compared-batches", "what is taken for granted of batches that differ", compared_batches},
    StatementKind{"run-of-one-side", "of runs that one side alone has", run_of_one_side},
};

}  // namespace

std::span<const StatementKind> of_comparisons() { return kComparisons; }

}  // namespace dadsim::report::words
