#include "report/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/band_text.hpp"
#include "report/contender.hpp"
#include "report/factor_text.hpp"
#include "report/throughput_text.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

using Place = Answer::Place;
using estimate::Standing;

/// The target as the scenario has it: "95 %", "97.25 %".
std::string accuracy_in_words(double accuracy) { return fmt::format("{:.6g} %", accuracy * 100); }

std::string time_in_words(const Place& place) {
  return place.low && place.high ? seconds_with_interval(place.seconds, *place.low, *place.high)
                                 : human_seconds(place.seconds);
}

const std::string& label_of(const Result& result, const Place& place) { return result.runs[place.run].spec.label; }

bool is_of_other_network(const Result& result) { return result.scale && !result.scale->workload.empty(); }

/// Of a run by the metric; none where it has none. `contender`: what is known of it.
std::optional<Place> place_of(const Result& result, std::size_t i, Metric metric,
                              const estimate::Contender& contender) {
  const RunResult& run = result.runs[i];
  Place place;
  place.run = i;
  place.seconds = contender.seconds;
  switch (metric) {
    case Metric::time_at_scale: {
      if (!run.at_scale || !run.at_scale->time) return std::nullopt;
      const estimate::Estimate& time = run.at_scale->time_band ? *run.at_scale->time_band : *run.at_scale->time;
      place.low = time.low;
      place.high = time.high;
      return place;
    }
    case Metric::time_per_step:
    case Metric::throughput:
      if (run.played || !(run.step_seconds > 0)) return std::nullopt;
      break;
    case Metric::time_to_target: {
      const auto reached = [](const auto& arrival) { return arrival.has_value(); };
      if (contender.arrivals.empty() ? !run.target_reached : !std::ranges::all_of(contender.arrivals, reached))
        return std::nullopt;
      place.seeds = std::max<std::size_t>(1, contender.arrivals.size());
      if (place.seeds > 1) {
        const estimate::Estimate time = with_band(mean_arrival(contender.arrivals), run.factors());
        place.low = time.low;
        place.high = time.high;
        return place;
      }
      break;
    }
  }
  if (const auto factors = run.factors(); factors && place.seconds > 0) {
    place.low = place.seconds * factors->low;
    place.high = place.seconds * factors->high;
  }
  return place;
}

/// A quicker step wins nothing where nobody knows how many of them it takes: where of some it is known, the others are
/// told apart from them.
void keep_those_with_counted_steps(const Result& result, std::vector<Place>& ranking) {
  const auto is_counted = [&](const Place& place) {
    const std::optional<ScaleResult>& scale = result.runs[place.run].at_scale;
    return scale && scale->relative.ratio;
  };
  if (std::ranges::any_of(ranking, is_counted))
    std::erase_if(ranking, [&](const Place& place) { return !is_counted(place); });
}

/// The ranking of an answer by a metric, how each run stands to the first, and what it says of pairs.
void rank_by(const Result& result, Metric metric, Answer& answer) {
  std::vector<estimate::Contender> contenders;
  for (const RunResult& run : result.runs) contenders.push_back(contender_of(run, metric));
  if (metric == Metric::time_to_target) answer.rounding_steps = estimate::align_exact(contenders);
  std::vector<Place>& ranking = answer.ranking;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    if (!result.runs[i].spec.communicates) continue;
    if (const std::optional<Place> place = place_of(result, i, metric, contenders[i])) ranking.push_back(*place);
  }
  if (metric == Metric::time_per_step) keep_those_with_counted_steps(result, ranking);
  std::ranges::stable_sort(ranking, {}, &Place::seconds);
  for (std::size_t i = 1; i < ranking.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const estimate::Verdict verdict = decide(contenders[ranking[j].run], contenders[ranking[i].run]);
      if (j == 0) ranking[i].verdict = verdict;
      if (metric == Metric::time_to_target) answer.pairs.push_back({ranking[i].run, ranking[j].run, verdict.ratio});
    }
  }
}

std::string faster_than(const Result& result, const Place& winner, const Place& other) {
  const std::string& label = label_of(result, other);
  const std::string time = human_seconds(other.seconds);
  if (winner.seconds == 0) return fmt::format("before {} ({})", label, time);
  return fmt::format("{} faster than {} ({})", factor_in_words(other.verdict.ratio), label, time);
}

/// What a run does in a time that follows: alone, and before others.
struct Deed {
  std::string one, first, many;
};

Deed deed_of(const Result& result, Metric metric) {
  if (metric == Metric::time_per_step) {
    const std::string& of =
        result.scale && !result.scale->workload.empty() ? result.scale->workload : result.learned_on;
    return {fmt::format("takes a step of {} in", of), fmt::format("takes the shortest step of {},", of),
            fmt::format("a step of {} takes", of)};
  }
  if (metric == Metric::time_at_scale) {
    const std::string& target = result.scale->known->target;
    const std::string what = result.scale->workload + (target.empty() ? "" : " to " + target);
    return {fmt::format("trains {} in", what), fmt::format("trains {} first, in", what),
            fmt::format("they train {} in", what)};
  }
  const std::string what = accuracy_in_words(result.target_accuracy);
  return {fmt::format("reaches {} in", what), fmt::format("reaches {} first, in", what),
          fmt::format("they reach {} in", what)};
}

/// "A", "A and B", "A, B and C".
std::string listed(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

bool is_apart(const Place& place) { return !is_beside(place.verdict.standing); }

/// Where the quickest is not told apart from the next ones: which those are, and who comes after them. Empty where it
/// is.
std::string undecided_sentence(const Result& result, Metric metric, const std::vector<Place>& ranking) {
  const auto end = std::find_if(ranking.begin() + 1, ranking.end(), is_apart);
  const std::vector<Place> group(ranking.begin(), end);
  if (group.size() == 1) return {};
  std::vector<std::string> labels, times, ratios;
  bool equal = true;
  estimate::WouldTell would_tell = estimate::WouldTell::nothing;
  for (const Place& place : group) {
    labels.push_back(label_of(result, place));
    times.push_back(human_seconds(place.seconds));
    if (place.verdict.standing == Standing::undecided) {
      equal = false;
      ratios.push_back(interval_in_words(place.verdict.ratio));
      if (would_tell == estimate::WouldTell::nothing) would_tell = place.verdict.would_tell;
    }
  }
  const Deed deed = deed_of(result, metric);
  const bool same_times = std::ranges::all_of(times, [&](const std::string& time) { return time == times.front(); });
  const std::string how_long = same_times ? time_in_words(group.front()) : listed(times);
  std::string text;
  if (equal) {
    const bool exactly =
        std::ranges::all_of(group, [&](const Place& one) { return one.seconds == group.front().seconds; });
    text = fmt::format("{} are equal{}: {} {}", listed(labels),
                       exactly ? "" : fmt::format(" within {:.0f} %", 100 * estimate::kMargin), deed.many, how_long);
  } else {
    text = fmt::format("{} cannot be told apart ({}): {} {}; {}", listed(labels), fmt::join(ratios, ", "), deed.many,
                       how_long, would_tell_in_words(would_tell));
  }
  if (end != ranking.end()) text += fmt::format("; {} is {}", labels.front(), faster_than(result, ranking[0], *end));
  return text + ".";
}

bool is_plain(const RunResult& run) { return run.spec.algorithm == "gradient-sharing"; }

/// Who is first, and by how much; some run has such a time.
std::string winner_sentence(const Result& result, Metric metric, const std::vector<Place>& ranking) {
  if (std::string undecided = undecided_sentence(result, metric, ranking); !undecided.empty()) return undecided;
  const auto sharing = std::ranges::count_if(result.runs, [](const RunResult& run) { return run.spec.communicates; });
  const Deed deed = deed_of(result, metric);
  const bool alone = metric == Metric::time_to_target ? sharing == 1 : ranking.size() == 1;
  const Place& winner = ranking[0];
  std::string text =
      fmt::format("{} {} {}", label_of(result, winner), alone ? deed.one : deed.first, time_in_words(winner));
  if (winner.seeds > 1) text += fmt::format(" over {} seeds", winner.seeds);
  if (ranking.size() == 1) {
    if (metric != Metric::time_to_target) return text + ".";
    const char* others = winner.seeds > 1 ? "; no other run that shares reached it with every seed."
                                          : "; no other run that shares reached it.";
    return text + (sharing == 1 ? "; no other run shares." : others);
  }
  text += ": " + faster_than(result, winner, ranking[1]);
  const auto plain = std::ranges::find_if(ranking, [&](const Place& one) { return is_plain(result.runs[one.run]); });
  if (plain != ranking.end()) {
    if (plain - ranking.begin() > 1) text += " and " + faster_than(result, winner, *plain);
  } else if (metric == Metric::time_to_target && std::ranges::any_of(result.runs, is_plain)) {
    text += "; gradient-sharing did not reach it";
  }
  std::vector<std::string> open;  // further back, where little is known of them
  for (const Place& place : ranking) {
    if (place.verdict.standing == Standing::undecided) open.push_back(label_of(result, place));
  }
  if (!open.empty())
    text += fmt::format("; too little is known of {} to tell {} apart from it", listed(open),
                        open.size() == 1 ? "it" : "them");
  return text + ".";
}

/// Where rounding decided which of the exact algorithms met the target when; empty where it did not.
std::string rounding_sentence(const Answer& answer) {
  if (answer.rounding_steps == 0) return {};
  const std::string apart = answer.rounding_steps < 0
                                ? "let one of them miss the target"
                                : fmt::format("moved the target by {:.0f} step{}", answer.rounding_steps,
                                              answer.rounding_steps < 1.5 ? "" : "s");
  return fmt::format(
      " Exact algorithms learn one trajectory, and rounding {}: each counts with the steps of the first.", apart);
}

/// Of the network that learned.
std::string target_sentence(const Result& result) {
  Answer learned;
  rank_by(result, Metric::time_to_target, learned);
  const std::vector<Place>& ranking = learned.ranking;
  if (!ranking.empty()) return winner_sentence(result, Metric::time_to_target, ranking) + rounding_sentence(learned);
  const RunResult* nearest = nullptr;
  std::size_t sharing = 0;
  std::size_t seeds = 1;
  const auto came_to = [](const RunResult& run) {
    return run.best_accuracies.empty() ? run.best_accuracy : *std::ranges::min_element(run.best_accuracies);
  };
  for (const RunResult& run : result.runs) {
    if (!run.spec.communicates) continue;
    ++sharing;
    seeds = std::max(seeds, run.arrivals.size());
    if (nearest == nullptr || came_to(run) > came_to(*nearest)) nearest = &run;
  }
  if (nearest == nullptr) return "No run here shares anything between workers: there is no winner to name.";
  return fmt::format("{} {}{}: {} came nearest with {}.",
                     sharing == 1 ? "The only run that shares did not reach" : "No run that shares reached",
                     accuracy_in_words(result.target_accuracy),
                     seeds > 1 ? fmt::format(" with every one of {} seeds", seeds) : "", nearest->spec.label,
                     human_percent(came_to(*nearest)));
}

/// Runs of which a step is timed, and whose number of steps is anybody's guess.
std::string unknown_steps_sentence(const Result& result, Metric metric, const std::vector<Place>& ranking) {
  std::vector<std::string> unknown;
  for (const RunResult& run : result.runs) {
    if (run.spec.communicates && run.at_scale && !run.at_scale->relative.ratio && run.step_seconds > 0)
      unknown.push_back(fmt::format("{} (a step: {})", run.spec.label, human_seconds(run.step_seconds)));
  }
  if (unknown.empty()) return {};
  std::string text = fmt::format("How many more steps than gradient sharing {} take{} is not known",
                                 fmt::join(unknown, ", "), unknown.size() == 1 ? "s" : "");
  if (metric == Metric::time_at_scale && !ranking.empty() && is_plain(result.runs[ranking[0].run]))
    text += fmt::format("; a step of {} takes {}", label_of(result, ranking[0]),
                        human_seconds(result.runs[ranking[0].run].step_seconds));
  return text + ".";
}

/// With relative steps known and none of the workload's own, who is first once they count.
std::string counted_sentence(const Result& result, const std::vector<Place>& by_step) {
  std::vector<Place> counted;
  for (Place place : by_step) {
    const RunResult& run = result.runs[place.run];
    if (!run.at_scale || !run.at_scale->relative.ratio) return {};
    place.seconds *= run.at_scale->relative.ratio->value;
    counted.push_back(place);
  }
  if (counted.size() < 2) return {};
  std::ranges::stable_sort(counted, {}, &Place::seconds);
  if (counted[1].seconds <= counted[0].seconds * (1 + estimate::kMargin)) return {};
  return fmt::format(
      "With the steps that each needs counted, {} is first: its relative steps times a step are {} less "
      "than those of {}.",
      label_of(result, counted[0]), times_in_words(counted[1].seconds / counted[0].seconds),
      label_of(result, counted[1]));
}

/// What the accuracies of some runs do not mean.
std::string divergence_sentence(const Result& result) {
  std::vector<std::string> diverged;
  for (const RunResult& run : result.runs) {
    if (run.divergence) diverged.push_back(run.spec.label);
  }
  if (diverged.empty()) return {};
  return listed(diverged) + " diverged: a smaller learning rate may keep the loss finite.";
}

void answer_by_step(const Result& result, Answer& answer) {
  if (answer.ranking.empty()) {
    answer.sentences.emplace_back("Nothing was learned (--timing-only): what is said is when, not how well.");
    return;
  }
  answer.sentences.push_back(winner_sentence(result, answer.metric, answer.ranking));
  if (!result.timing_only) {
    answer.sentences.push_back(
        fmt::format("How many steps {} needs is not known here, and so its time to accuracy is not.", answer.of));
    if (std::string counted = counted_sentence(result, answer.ranking); !counted.empty())
      answer.sentences.push_back(std::move(counted));
  }
}

}  // namespace

const char* to_string(Metric metric) {
  switch (metric) {
    case Metric::time_at_scale:
      return "time-at-scale";
    case Metric::time_per_step:
      return "time-per-step";
    case Metric::throughput:
      return "throughput";
    case Metric::time_to_target:
      return "time-to-target";
  }
  return "";
}

namespace {

Answer answer_of_runs(const Result& result) {
  Answer answer;
  const bool other = is_of_other_network(result);
  answer.of = other ? result.scale->workload : result.learned_on;
  const bool known = std::ranges::any_of(
      result.runs, [](const RunResult& run) { return run.spec.communicates && run.at_scale && run.at_scale->time; });
  answer.metric = other && known                ? Metric::time_at_scale
                  : other || result.timing_only ? Metric::time_per_step
                                                : Metric::time_to_target;
  rank_by(result, answer.metric, answer);
  if (answer.metric == Metric::time_to_target) {
    answer.sentences.push_back(target_sentence(result));
    return answer;
  }
  if (answer.metric == Metric::time_at_scale) {
    answer.sentences.push_back(winner_sentence(result, answer.metric, answer.ranking));
  } else {
    answer_by_step(result, answer);
  }
  if (std::string unknown = unknown_steps_sentence(result, answer.metric, answer.ranking); !unknown.empty())
    answer.sentences.push_back(std::move(unknown));
  if (result.timing_only) {
    if (std::string done = throughput_sentence(result); !done.empty()) answer.sentences.push_back(std::move(done));
  } else {
    answer.sentences.push_back(fmt::format("On the network that learned ({}), each step as long as one of {}: {}",
                                           result.learned_on, answer.of, target_sentence(result)));
  }
  return answer;
}

}  // namespace

Answer answer_to(const Result& result) {
  Answer answer = answer_of_runs(result);
  if (std::string diverged = divergence_sentence(result); !diverged.empty())
    answer.sentences.push_back(std::move(diverged));
  return answer;
}

std::string verdict(const Result& result) { return fmt::format("{}", fmt::join(answer_to(result).sentences, " ")); }

}  // namespace dadsim::report
