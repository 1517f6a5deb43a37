#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

#include "report/text/money.hpp"
#include "report/words/kinds.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

std::string amount_in_words(const std::string& of, double amount, const std::string& currency) {
  if (of == "seconds") return human_seconds(amount);
  if (of == "money") return money_in_words(amount, currency);
  return of == "joules" ? human_energy(amount) : carbon_in_words(amount);
}

std::string currency_of(const Statement& statement) {
  return statement.has("currency") ? statement.text("currency") : std::string();
}

std::optional<double> known(const Statement& statement, const char* name) {
  return statement.has(name) ? std::optional(statement.number(name)) : std::nullopt;
}

std::string goal(const Statement& statement) {
  const std::string currency = currency_of(statement);
  std::string text = "reach " + accuracy_in_words(statement.number("accuracy"));
  if (const auto seconds = known(statement, "seconds")) text += " within " + human_seconds(*seconds);
  if (const auto money = known(statement, "money")) text += ", for at most " + money_in_words(*money, currency);
  if (const auto joules = known(statement, "joules")) text += ", with at most " + human_energy(*joules);
  if (const auto carbon = known(statement, "grams_co2e")) text += ", for at most " + carbon_in_words(*carbon);
  return text;
}

std::string trial_takes(const Statement& statement) {
  std::string text = human_seconds(statement.number("seconds"));
  if (!statement.has("currency")) return text;
  const std::string& currency = statement.text("currency");
  text += ", " + costs_in_words(known(statement, "money"), known(statement, "joules"), known(statement, "grams_co2e"),
                                currency);
  if (const auto rent = known(statement, "lines_per_month"))
    text += fmt::format(", lines at {} a month", money_in_words(*rent, currency));
  return text;
}

std::string trial_comes_to(const Statement& statement) {
  return human_percent(statement.number("best_accuracy")) + " at best";
}

std::string target_missed(const Statement& margin) {
  const std::string best = human_percent(margin.number("best_accuracy"));
  if (!margin.has("seeds")) return fmt::format("does not reach it: {} at best", best);
  return fmt::format("does not reach it with {:.0f} of {:.0f} seeds: {} at best", margin.number("seeds_missed"),
                     margin.number("seeds"), best);
}

std::string limit_unknown(const Statement& margin) {
  const std::string& limit = margin.text("limit");
  return fmt::format("misses: its {} not known", limit == "seconds"  ? "time is"
                                                 : limit == "money"  ? "cost is"
                                                 : limit == "joules" ? "energy is"
                                                                     : "emissions are");
}

std::string limit_missed(const Statement& margin) {
  return "misses by " + amount_in_words(margin.text("limit"), margin.number("by"), currency_of(margin));
}

std::string limit_kept(const Statement& margin) {
  return fmt::format("stays {} below", amount_in_words(margin.text("limit"), margin.number("by"), currency_of(margin)));
}

constexpr const char* kReachesIt = "reaches it";

std::string not_reached(const Statement& remark) {
  return remark.is("timed") ? "does not reach it" : "never reaches it";
}

constexpr const char* kNotTimed = "not timed";
constexpr const char* kEndOfRange = "the best number that is allowed";

std::string neighbour_misses(const Statement& remark) {
  return fmt::format("{} {}", remark.text("value"), in_words(remark.part()));
}

std::string seed_band(const Statement& band) {
  const std::string why = band.number("seeds") > 1
                              ? fmt::format("over {:.0f} seeds", band.number("seeds"))
                              : fmt::format("one seed, {:.0f} % scatter assumed", 100 * band.number("assumed_scatter"));
  if (!band.has("safe")) {
    return fmt::format("{} or more ({}), and no number of the range is surely enough",
                       rounded_in_words(band.text("may")), why);
  }
  const std::string& safe = band.text("safe");
  if (!band.has("may") || band.text("may") == safe) return fmt::format("{} ({})", safe, why);
  return fmt::format("{} to {} ({})", rounded_in_words(band.text("may")), rounded_in_words(safe), why);
}

std::string missed_again(const Statement& remark) {
  const std::vector<std::string>& from = remark.texts("from");
  const std::vector<std::string>& to = remark.texts("to");
  std::string text;
  for (std::size_t i = 0; i < from.size(); ++i) {
    text += text.empty() ? "it is missed again " : " and ";
    text += from[i] == to.at(i) ? "at " + from[i] : fmt::format("from {} to {}", from[i], to.at(i));
  }
  return remark.is("to_the_end") ? text + ", the end of the range" : text;
}

constexpr std::array kTrials{
    StatementKind{"goal", "what a plan is asked", goal},
    StatementKind{"trial-takes", "what a trial of a plan takes to the target, and costs", trial_takes},
    StatementKind{"trial-comes-to", "the accuracy of a trial that does not reach the target", trial_comes_to},
    StatementKind{"target-missed", "how a trial stands to the goal: it misses the target", target_missed},
    StatementKind{"limit-unknown", "the same: what is limited is not known of it", limit_unknown},
    StatementKind{"limit-missed", "the same: by how much it misses a limit", limit_missed},
    StatementKind{"limit-kept", "the same: by how much it stays below the tightest limit", limit_kept},
    StatementKind{"target-met", "the same: nothing is limited", as_it_is<kReachesIt>},
    StatementKind{"not-reached", "of a run of a plan: it misses the target", not_reached},
    StatementKind{"not-timed", "of a run of a plan: learning alone decided", as_it_is<kNotTimed>},
    StatementKind{"end-of-range", "of a run of a plan: no number of the range is better", as_it_is<kEndOfRange>},
    StatementKind{"neighbour-misses", "of a run of a plan: the next better number, with how it stands to the goal",
                  neighbour_misses},
    StatementKind{"seed-band", "of a run of a plan: between which numbers the answer lies, by what seeds leave open",
                  seed_band},
    StatementKind{"missed-again", "of a run of a plan: where beyond the answer the goal is missed", missed_again},
};

}  // namespace

std::span<const StatementKind> of_trials() { return kTrials; }

}  // namespace dadsim::report::words
