#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

#include "report/text/seconds.hpp"
#include "report/words/kinds.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

std::string currency_of(const Statement& statement) {
  return statement.has("currency") ? statement.text("currency") : std::string();
}

std::string power_in_words(double watts) {
  return watts < 1e3 ? fmt::format("{:.3g} W", watts) : fmt::format("{:.3g} kW", watts / 1e3);
}

std::string amount_in_words(const std::string& of, double amount, const std::string& currency) {
  if (of == "seconds") return human_seconds(amount);
  if (of == "money") return money_in_words(amount, currency);
  if (of == "memory_bytes") return human_bytes(amount);
  if (of == "watts") return power_in_words(amount);
  if (of == "devices") return fmt::format("{:.0f} devices", amount);
  if (of == "scaling_efficiency") return fmt::format("{:.2g} percentage points", 100 * amount);
  return of == "joules" ? human_energy(amount) : carbon_in_words(amount);
}

/// Returns the amount of a margin, whose throughput counts tokens or samples.
std::string amount_of(const Statement& margin) {
  if (margin.text("limit") == "throughput")
    return fmt::format("{} {}/s", rate_in_words(margin.number("by")), margin.is("tokens") ? "tokens" : "samples");
  return amount_in_words(margin.text("limit"), margin.number("by"), currency_of(margin));
}

/// Returns the work to be done if nothing is learned.
std::string work_of_goal(const Statement& statement) {
  const std::string& of = statement.text("of");
  if (of.empty()) return "do all rounds";  // a payload, whose network is unknown
  if (statement.has("work_tokens"))
    return fmt::format("train {} on {} tokens", of, large_number_in_words(statement.number("work_tokens")));
  if (statement.has("work_samples"))
    return fmt::format("train {} on {} samples", of, large_number_in_words(statement.number("work_samples")));
  if (statement.has("work_steps"))
    return fmt::format("train {} for {} steps", of, rate_in_words(statement.number("work_steps")));
  return statement.has("target") ? fmt::format("train {} to {}", of, statement.text("target")) : "train " + of;
}

std::optional<double> known(const Statement& statement, const char* name) {
  return statement.has(name) ? std::optional(statement.number(name)) : std::nullopt;
}

std::string objective_in_words(const std::string& objective) {
  if (objective == "least-energy") return "the least energy";
  if (objective == "least-carbon") return "the least carbon";
  return "the " + objective;
}

std::string goal(const Statement& statement) {
  const std::string currency = currency_of(statement);
  std::string text =
      statement.has("accuracy") ? "reach " + accuracy_in_words(statement.number("accuracy")) : work_of_goal(statement);
  if (const auto seconds = known(statement, "seconds")) text += " within " + human_seconds(*seconds);
  if (const auto money = known(statement, "money")) text += ", for at most " + money_in_words(*money, currency);
  if (const auto joules = known(statement, "joules")) text += ", with at most " + human_energy(*joules);
  if (const auto carbon = known(statement, "grams_co2e")) text += ", for at most " + carbon_in_words(*carbon);
  if (const auto memory = known(statement, "memory_bytes"))
    text += fmt::format(", with at most {} on a device", human_bytes(*memory));
  if (const auto watts = known(statement, "watts")) text += ", with at most " + power_in_words(*watts);
  if (const auto devices = known(statement, "devices")) text += fmt::format(", with at most {:.0f} devices", *devices);
  if (const auto rate = known(statement, "throughput"))
    text += fmt::format(", with at least {} {}/s", rate_in_words(*rate), statement.is("tokens") ? "tokens" : "samples");
  if (const auto scaling = known(statement, "scaling_efficiency"))
    text += fmt::format(", with a scaling efficiency of at least {}", human_percent(*scaling));
  if (statement.has("objective")) text += "; " + objective_in_words(statement.text("objective")) + " first";
  if (statement.has("against")) text += ", against " + objective_in_words(statement.text("against"));
  return text;
}

/// `statement`: its part, if there is one, is the division of the network.
std::string trial_takes(const Statement& statement) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  const auto interval = [&](const std::string& name, const auto& in_words) {
    return statement.has(name + "_low") ? fmt::format(" ({} … {})", in_words(statement.number(name + "_low")),
                                                      in_words(statement.number(name + "_high")))
                                        : std::string();
  };
  if (const auto seconds = known(statement, "seconds")) {
    add(statement.has("seconds_low")
            ? seconds_with_interval(*seconds, statement.number("seconds_low"), statement.number("seconds_high"))
            : human_seconds(*seconds));
  }
  if (const auto rate = known(statement, "throughput"))
    add(fmt::format("{}{} {}/s", rate_in_words(*rate), interval("throughput", rate_in_words),
                    statement.is("tokens") ? "tokens" : "samples"));
  if (const auto scaling = known(statement, "scaling_efficiency"))
    add(fmt::format("a scaling efficiency of {}{}", human_percent(*scaling),
                    interval("scaling_efficiency", [](double share) { return human_percent(share); })));
  if (const auto memory = known(statement, "memory_bytes")) add(human_bytes(*memory) + " on a device");
  if (const auto watts = known(statement, "watts")) add(power_in_words(*watts));
  if (const auto devices = known(statement, "devices")) add(fmt::format("{:.0f} devices", *devices));
  if (statement.has("currency") && (statement.has("money") || statement.has("joules") || statement.has("grams_co2e"))) {
    const std::string& currency = statement.text("currency");
    text += ", " + costs_in_words(known(statement, "money"), known(statement, "joules"), known(statement, "grams_co2e"),
                                  currency);
    if (const auto rent = known(statement, "lines_per_month"))
      text += fmt::format(", lines at {} a month", money_in_words(*rent, currency));
  }
  if (!statement.parts.empty()) text += fmt::format("; divided as {}", in_words(statement.part()));
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
  return fmt::format("cannot be said: its {} not known", limit == "seconds"              ? "time is"
                                                         : limit == "money"              ? "cost is"
                                                         : limit == "joules"             ? "energy is"
                                                         : limit == "memory_bytes"       ? "memory is"
                                                         : limit == "watts"              ? "power is"
                                                         : limit == "throughput"         ? "throughput is"
                                                         : limit == "scaling_efficiency" ? "scaling efficiency is"
                                                                                         : "emissions are");
}

std::string limit_missed(const Statement& margin) { return "misses by " + amount_of(margin); }

std::string limit_kept(const Statement& margin) {
  return fmt::format("stays {} {}", amount_of(margin), margin.is("at_least") ? "above" : "below");
}

std::string trial_infeasible(const Statement& statement) { return "is infeasible: " + statement.text("fault"); }

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
  const std::string why = band.number("seeds") > 1 ? fmt::format("over {:.0f} seeds", band.number("seeds"))
                          : band.has("assumed_scatter")
                              ? fmt::format("one seed; seeds scatter by {:.0f} % with methods of its kind",
                                            100 * band.number("assumed_scatter"))
                              : "by the band of its time";
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
    StatementKind{"trial-infeasible", "a trial that does not go, and why", trial_infeasible},
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
