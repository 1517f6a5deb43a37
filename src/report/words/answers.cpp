#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "estimate/verdict.hpp"
#include "report/text/factor_text.hpp"
#include "report/text/seconds.hpp"
#include "report/words/kinds.hpp"
#include "report/words/metric.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

estimate::Estimate estimate_of(double value, double low, double high) {
  if (std::isnan(low) || std::isnan(high)) return {value, std::nullopt, std::nullopt};
  return {value, low, high};
}

estimate::Estimate estimate_of(const Statement& statement, const std::string& name, std::size_t i) {
  return estimate_of(statement.numbers(name).at(i), statement.numbers(name + "_low").at(i),
                     statement.numbers(name + "_high").at(i));
}

/// Returns the time of a subject, with its interval.
std::string time_in_words(const Statement& statement, std::size_t i) {
  const estimate::Estimate time = estimate_of(statement, "seconds", i);
  return time.low && time.high ? seconds_with_interval(time.value, *time.low, *time.high) : human_seconds(time.value);
}

/// Returns "1.8 times faster than dad (3.20 s)"; a time of zero has no multiples.
std::string faster_than(double first, const std::string& label, double seconds, const estimate::Estimate& factor) {
  const std::string time = human_seconds(seconds);
  if (first == 0) return fmt::format("before {} ({})", label, time);
  return fmt::format("{} faster than {} ({})", factor_in_words(factor), label, time);
}

/// Words for reaching an end in a time: of a single run, of the first among others, and of several.
struct Deed {
  std::string one, first, many;
};

Deed deed_of(const Statement& statement) {
  const std::string& metric = statement.text("metric");
  if (metric == to_string(Metric::time_to_target)) {
    const std::string what = accuracy_in_words(statement.number("target_accuracy"));
    return {fmt::format("reaches {} in", what), fmt::format("reaches {} first, in", what),
            fmt::format("they reach {} in", what)};
  }
  const std::string& of = statement.text("of");
  if (metric == to_string(Metric::time_at_scale)) {
    std::string what = of + (statement.has("target") ? " to " + statement.text("target") : "");
    if (statement.has("budget_tokens"))
      what += fmt::format(" on {} tokens", large_number_in_words(statement.number("budget_tokens")));
    if (statement.has("budget_samples"))
      what += fmt::format(" on {} samples", large_number_in_words(statement.number("budget_samples")));
    return {fmt::format("trains {} in", what), fmt::format("trains {} first, in", what),
            fmt::format("they train {} in", what)};
  }
  const std::string what = of.empty() ? "" : " of " + of;
  return {fmt::format("takes a step{} in", what), fmt::format("takes the shortest step{},", what),
          a_step_of(statement) + " takes"};
}

/// Returns the beginning of a sentence on the network that learned, as opposed to the timed one.
std::string on_what_learned(const Statement& statement) {
  if (!statement.has("learned_on")) return {};
  return fmt::format("On the network that learned ({}), each step as long as one of {}: ", statement.text("learned_on"),
                     statement.text("timed_as"));
}

std::string next_in_words(const Statement& statement) {
  if (!statement.has("next")) return ".";
  const std::vector<double>& factor = statement.numbers("next_factor");
  return fmt::format(
      "; {} is {}.", statement.subject(),
      faster_than(statement.numbers("seconds").front(), statement.text("next"), statement.number("next_seconds"),
                  estimate_of(factor.at(0), factor.at(1), factor.at(2))));
}

/// Returns the times of runs that cannot be told apart: one time if all read the same.
std::string times_in_words(const Statement& statement) {
  std::vector<std::string> times;
  for (const double seconds : statement.numbers("seconds")) times.push_back(human_seconds(seconds));
  const bool same = std::ranges::all_of(times, [&](const std::string& time) { return time == times.front(); });
  return same ? time_in_words(statement, 0) : listed(times);
}

std::string equal(const Statement& statement) {
  const std::vector<double>& seconds = statement.numbers("seconds");
  const bool exactly = std::ranges::all_of(seconds, [&](double one) { return one == seconds.front(); });
  return on_what_learned(statement) +
         fmt::format("{} are equal{}: {} {}", listed(statement.subjects),
                     exactly ? "" : fmt::format(" within {:.0f} %", 100 * statement.number("margin")),
                     deed_of(statement).many, times_in_words(statement)) +
         next_in_words(statement);
}

std::string undecided(const Statement& statement) {
  std::vector<std::string> ratios;
  for (std::size_t i = 0; i < statement.numbers("factor").size(); ++i)
    ratios.push_back(interval_in_words(estimate_of(statement, "factor", i)));
  return on_what_learned(statement) +
         fmt::format("{} cannot be told apart ({}): {} {}; {}", listed(statement.subjects), fmt::join(ratios, ", "),
                     deed_of(statement).many, times_in_words(statement),
                     would_tell_in_words(estimate::would_tell_of(statement.text("would_tell")))) +
         next_in_words(statement);
}

std::string first(const Statement& statement) {
  const Deed deed = deed_of(statement);
  const std::vector<double>& seconds = statement.numbers("seconds");
  const double seeds = statement.number("seeds");
  std::string text = on_what_learned(statement) + fmt::format("{} {} {}", statement.subject(),
                                                              statement.is("alone") ? deed.one : deed.first,
                                                              time_in_words(statement, 0));
  if (seeds > 1) text += fmt::format(" over {:.0f} seeds", seeds);
  for (std::size_t i = 1; i < statement.subjects.size(); ++i) {
    text += (i == 1 ? ": " : " and ") +
            faster_than(seconds[0], statement.subjects[i], seconds[i], estimate_of(statement, "factor", i - 1));
  }
  if (statement.has("rivals")) {
    text += statement.text("rivals") == "none"
                ? "; no other run shares"
                : fmt::format("; no other run that shares reached it{}", seeds > 1 ? " with every seed" : "");
  }
  if (statement.has("missed")) text += fmt::format("; {} did not reach it", statement.text("missed"));
  if (statement.has("open")) {
    const std::vector<std::string>& open = statement.texts("open");
    text += fmt::format("; too little is known of {} to tell {} apart from it", listed(open),
                        open.size() == 1 ? "it" : "them");
  }
  return text + ".";
}

constexpr const char* kOneTrajectory = "each counts with the steps of the first.";

std::string rounding(const Statement& statement) {
  const double steps = statement.number("steps");
  return fmt::format("Exact algorithms learn one trajectory, and rounding moved the target by {:.0f} step{}: {}", steps,
                     steps < 1.5 ? "" : "s", kOneTrajectory);
}

std::string rounding_missed(const Statement& /*statement*/) {
  return fmt::format("Exact algorithms learn one trajectory, and rounding let one of them miss the target: {}",
                     kOneTrajectory);
}

std::string no_sharing(const Statement& statement) {
  return on_what_learned(statement) + "No run here shares anything between workers: there is no winner to name.";
}

std::string missed(const Statement& statement) {
  const double seeds = statement.number("seeds");
  return on_what_learned(statement) +
         fmt::format("{} {}{}: {} came nearest with {}.",
                     statement.is("alone") ? "The only run that shares did not reach" : "No run that shares reached",
                     accuracy_in_words(statement.number("target_accuracy")),
                     seeds > 1 ? fmt::format(" with every one of {:.0f} seeds", seeds) : "", statement.subject(),
                     human_percent(statement.number("accuracy")));
}

std::string steps_unknown(const Statement& statement) {
  const std::vector<double>& seconds = statement.numbers("step_seconds");
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    runs.push_back(fmt::format("{} (a step: {})", statement.subjects.at(i), human_seconds(seconds[i])));
  std::string text = fmt::format("How many more steps than gradient sharing {} take{} is not known",
                                 fmt::join(runs, ", "), runs.size() == 1 ? "s" : "");
  if (statement.has("first")) {
    text += fmt::format("; a step of {} takes {}", statement.text("first"),
                        human_seconds(statement.number("first_step_seconds")));
  }
  return text + ".";
}

std::string first_with_steps(const Statement& statement) {
  return fmt::format(
      "With the steps that each needs counted, {} is first: its relative steps times a step are {} less than those of "
      "{}.",
      statement.subject(), report::times_in_words(statement.number("factor")), statement.subjects.at(1));
}

std::string diverged(const Statement& statement) {
  return listed(statement.subjects) + " diverged: a smaller learning rate may keep the loss finite.";
}

std::string stopped(const Statement& statement) {
  return fmt::format("{} stops after {}: {}.", statement.subjects.empty() ? "It" : statement.subjects.front(),
                     human_seconds(statement.number("seconds")), statement.text("fault"));
}

std::string samples_in_messages(const Statement& statement) {
  const std::vector<double>& shares = statement.numbers("samples_handed_over");
  const auto [least, most] = std::ranges::minmax_element(shares);
  const std::string share = *least == 1       ? "every sample of the sites as it is"
                            : *least == *most ? human_percent(*least) + " of the samples of the sites as they are"
                                              : fmt::format("{} to {} of the samples of the sites as they are",
                                                            human_percent(*least), human_percent(*most));
  const std::string where = statement.has("of") ? fmt::format(" ({:.0f} sites of {:.0f} were looked at)",
                                                              statement.number("sites"), statement.number("of"))
                                                : "";
  return fmt::format("Messages of {} hold {}: who receives them reads it{} (docs/leak.md).", listed(statement.subjects),
                     share, where);
}

std::string rate_as_tcp(const Statement& statement) {
  std::string text = "A rate by itself is Ethernet with TCP";
  if (!statement.has("rdma_seconds")) return text + "; adapters that do RDMA need transport=\"rdma\".";
  const std::string seconds = human_seconds(statement.number("rdma_seconds"));
  return fmt::format("{}: with transport=\"rdma\" a step of {} takes {}, and not {}.", text, statement.subject(),
                     seconds, human_seconds(statement.number("step_seconds")));
}

std::string memory_exceeded(const Statement& statement) {
  return fmt::format(
      "{} does not fit as told: it needs {} of the {} of a device ({} {}). Its time holds where more is computed "
      "again, "
      "made in parts, divided or left with the host (docs/devices.md).",
      listed(statement.subjects), human_bytes(statement.number("bytes")), human_bytes(statement.number("device_bytes")),
      statement.text("most"), human_bytes(statement.number("most_bytes")));
}

std::string nothing_learned(const Statement& /*statement*/) {
  return "Nothing was learned (--timing-only): what is said is when, not how well.";
}

std::string rounds(const Statement& statement) {
  const bool updates = statement.is("asynchronous");
  std::string text =
      fmt::format("{}: {} {} an hour. {} takes {}", statement.subject(), rate_in_words(statement.number("per_hour")),
                  updates ? "updates" : "rounds", updates ? "An update of the model" : "A round",
                  human_seconds(statement.number("seconds")));
  if (statement.has("seconds_low"))
    text += fmt::format(" ({} … {})", human_seconds(statement.number("seconds_low")),
                        human_seconds(statement.number("seconds_high")));
  text += fmt::format(": {} computing", human_seconds(statement.number("computing")));
  if (statement.has("framework")) text += fmt::format(", {} framework", human_seconds(statement.number("framework")));
  if (statement.has("server")) text += fmt::format(", {} at the server", human_seconds(statement.number("server")));
  const double idle = statement.number("workers") - statement.number("taking_part");
  text += fmt::format(" and {} network and waiting, means over {}{}. Each of them sends {} and receives {}",
                      human_seconds(statement.number("waiting")),
                      idle > 0 ? those_at_work(statement) : fmt::format("{:.0f} workers", statement.number("workers")),
                      idle > 0 ? fmt::format("; {:.3g} sit idle", idle) : "", human_bytes(statement.number("bytes_up")),
                      human_bytes(statement.number("bytes_down")));
  if (!statement.has("currency")) return text + ".";
  const auto known = [&](const char* name) {
    return statement.has(name) ? std::optional(statement.number(name)) : std::nullopt;
  };
  return text +
         fmt::format("; {} costs {}.", updates ? "an update" : "a round",
                     costs_in_words(known("money"), known("joules"), known("grams_co2e"), statement.text("currency")));
}

std::string workload_steps_unknown(const Statement& statement) {
  return fmt::format("How many steps {} needs is not known here, and so its time to accuracy is not.",
                     statement.subject());
}

std::string throughput(const Statement& statement) {
  std::string text =
      fmt::format("{} does {} samples", statement.subject(), rate_in_words(statement.number("samples_per_second")));
  if (statement.has("tokens_per_second"))
    text += fmt::format(" ({} tokens)", rate_in_words(statement.number("tokens_per_second")));
  text += " a second";
  if (statement.has("model_flops_utilisation"))
    text += fmt::format(", at {} of the devices' peak", human_percent(statement.number("model_flops_utilisation")));
  constexpr double kWorthSaying = 0.9;
  if (statement.has("masked_flops_utilisation") &&
      statement.number("masked_flops_utilisation") < kWorthSaying * statement.number("model_flops_utilisation")) {
    text += fmt::format(" as MFU counts them, with attention that a mask leaves out ({} without)",
                        human_percent(statement.number("masked_flops_utilisation")));
  }
  const auto linear = std::ranges::find_if(statement.parts, [](const Statement& part) {
    return part.kind == "update-is-divided" || part.kind == "computes-less" || part.kind == "waits-less";
  });
  if (!statement.parts.empty() && linear != statement.parts.begin())
    text += fmt::format(" ({})", in_words(statement.part()));
  if (statement.has("scaling_efficiency")) {
    const std::string share = human_percent(statement.number("scaling_efficiency"));
    text += fmt::format("; {:.0f} workers do {} what they would do each alone", statement.number("workers"),
                        share == "100.0 %" ? "all of" : share + " of");
  }
  if (linear != statement.parts.end()) text += fmt::format(", {}", in_words(*linear));
  return text + ".";
}

/// Returns "2.63 M tokens per second".
std::string rate_of(const Statement& statement, double rate) {
  return work_in_words(rate, statement.text("metric"), statement.is("tokens"), statement.text("currency"));
}

std::string by_work(const Statement& statement) {
  const std::vector<double>& rates = statement.numbers("rate");
  std::string text = fmt::format("{} does {}", statement.subject(), rate_of(statement, rates.at(0)));
  if (const std::string& of = statement.text("of"); !of.empty()) text += " of " + of;
  const double low = statement.numbers("rate_low").at(0);
  const double high = statement.numbers("rate_high").at(0);
  if (std::isfinite(low) && std::isfinite(high))
    text += fmt::format(" ({} … {})", rate_in_words(low), rate_in_words(high));
  for (std::size_t i = 1; i < std::min<std::size_t>(3, rates.size()); ++i) {
    const std::string& standing = statement.texts("standing").at(i);
    const estimate::Estimate factor = estimate_of(statement, "factor", i);
    const std::string& label = statement.subjects.at(i);
    text += i == 1 ? ": " : "; ";
    if (standing == to_string(estimate::Standing::equal)) {
      text += fmt::format("{} is equal", label);
    } else if (standing == to_string(estimate::Standing::undecided)) {
      text += fmt::format("{} cannot be told apart ({})", label, interval_in_words(factor));
    } else {
      text += fmt::format("{} as much as {}", factor_in_words(factor), label);
    }
    text += fmt::format(" ({})", rate_in_words(rates[i]));
  }
  return text + ".";
}

std::string on_spot(const Statement& statement) {
  if (!std::isfinite(statement.number("seconds")))
    return fmt::format("On spot machines {} never ends: they are taken away before a checkpoint is written.",
                       statement.subject());
  std::string text =
      fmt::format("On spot machines {} is to be expected to take {} ({}", statement.subject(),
                  human_seconds(statement.number("seconds")), report::times_in_words(statement.number("slowdown")));
  text += fmt::format(": {:.3g} interruptions, a checkpoint every {})", statement.number("interruptions"),
                      human_seconds(statement.number("checkpoint_every")));
  if (statement.has("money")) {
    text += " and to cost " + money_in_words(statement.number("money"), statement.text("currency"));
    if (statement.has("money_without"))
      text += " instead of " + money_in_words(statement.number("money_without"), statement.text("currency"));
  }
  return text + ".";
}

constexpr std::array kAnswers{
    StatementKind{"first", "one run is the quickest: it, the next one, and gradient sharing where that is another",
                  first},
    StatementKind{"equal", "the quickest runs are equal within the margin", equal},
    StatementKind{"undecided", "the quickest runs cannot be told apart", undecided},
    StatementKind{"missed", "no run that shares has reached the target", missed},
    StatementKind{"nothing-shared", "no run shares anything", no_sharing},
    StatementKind{"rounding", "rounding moved exact runs to the target at different steps", rounding},
    StatementKind{"rounding-missed", "rounding let an exact run miss the target that another one reached",
                  rounding_missed},
    StatementKind{"nothing-learned", "no run has a time to be ranked by, because nothing was learned", nothing_learned},
    StatementKind{"rounds", "nothing was learned by an event-driven run: its rounds, or updates of the model", rounds},
    StatementKind{"workload-steps-unknown", "nothing says how many steps the workload needs", workload_steps_unknown},
    StatementKind{"first-with-steps", "steps are ranked, and their relative numbers are known", first_with_steps},
    StatementKind{"steps-unknown", "runs whose relative steps are not known", steps_unknown},
    StatementKind{"throughput", "nothing was learned: what gets done in a second", throughput},
    StatementKind{"by-work", "the scenario compares by throughput, or by what is done for money or energy", by_work},
    StatementKind{"on-spot", "the scenario says on what terms machines are taken away: what is to be expected of them",
                  on_spot},
    StatementKind{"stopped", "a run ended before its end: nobody came any more, or nothing was achieved for too long",
                  stopped},
    StatementKind{"memory-exceeded", "a run needs more memory than a device has, and is timed all the same",
                  memory_exceeded},
    StatementKind{"diverged", "the loss of a run grew beyond all bounds", diverged},
    StatementKind{"rate-as-tcp", "adapters are given by a rate alone, which is taken as TCP", rate_as_tcp},
    StatementKind{"handed-over", "samples stand in the messages of some runs as they are", samples_in_messages},
};

}  // namespace

std::span<const StatementKind> of_answers() { return kAnswers; }

}  // namespace dadsim::report::words
