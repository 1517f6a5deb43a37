#include "report/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/band_text.hpp"
#include "report/throughput_text.hpp"
#include "report/ties.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

using Place = Answer::Place;

/// The target as the scenario has it: "95 %", "97.25 %".
std::string accuracy_in_words(double accuracy) { return fmt::format("{:.6g} %", accuracy * 100); }

std::string time_in_words(const Place& place) {
  return place.low && place.high ? seconds_with_interval(place.seconds, *place.low, *place.high)
                                 : human_seconds(place.seconds);
}

const std::string& label_of(const Result& result, const Place& place) { return result.runs[place.run].spec.label; }

bool is_of_other_network(const Result& result) { return result.scale && !result.scale->workload.empty(); }

/// Of a run by the metric; none where it has none.
std::optional<Place> place_of(const Result& result, std::size_t i, Metric metric) {
  const RunResult& run = result.runs[i];
  Place place;
  place.run = i;
  if (metric == Metric::time_at_scale) {
    if (!run.at_scale || !run.at_scale->time) return std::nullopt;
    const estimate::Estimate& time = run.at_scale->time_band ? *run.at_scale->time_band : *run.at_scale->time;
    place.seconds = time.value;
    place.low = time.low;
    place.high = time.high;
    return place;
  }
  if (metric == Metric::time_per_step) {
    if (run.played || !(run.step_seconds > 0)) return std::nullopt;
    place.seconds = run.step_seconds;
  } else {
    if (run.arrivals.size() > 1) return over_seeds(run, i);
    if (!run.target_reached) return std::nullopt;
    place.seconds = run.target_seconds;
  }
  if (const auto factors = run.factors(); factors && place.seconds > 0) {
    place.low = place.seconds * factors->low;
    place.high = place.seconds * factors->high;
  }
  return place;
}

/// The ranking of an answer by a metric, and what it says of pairs.
void rank_by(const Result& result, Metric metric, Answer& answer) {
  std::vector<Place>& ranking = answer.ranking;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    if (!result.runs[i].spec.communicates) continue;
    if (const std::optional<Place> place = place_of(result, i, metric)) ranking.push_back(*place);
  }
  std::ranges::stable_sort(ranking, {}, &Place::seconds);
  if (metric == Metric::time_to_target) find_ties(result.runs, answer);
}

/// How many times as long another one takes than the first of the ranking, with what the errors of both allow. What is
/// wrong with the time of a step of both alike falls out. How many steps they take is off by itself, and counts by its
/// square: relative steps of each at scale, what seeds and evaluations leave open between them otherwise.
std::optional<RatioBand> ratio_between(const Result& result, Metric metric, const Place& first, const Place& other) {
  const RunResult& a = result.runs[first.run];
  const RunResult& b = result.runs[other.run];
  if (!a.step_band || !b.step_band || !(first.seconds > 0) || !(other.seconds > 0)) return std::nullopt;
  const estimate::Band band = estimate::ratio_band(b.step_band->parts, a.step_band->parts);
  const double ratio = other.seconds / first.seconds;
  double down = std::pow(std::log(band.low), 2);
  double up = std::pow(std::log(band.high), 2);
  const auto off = [](const std::optional<double>& end, double value) {
    return end && *end > 0 && value > 0 ? std::pow(std::log(*end / value), 2) : 0.0;
  };
  if (metric == Metric::time_to_target && other.of_first) {
    down += off(other.of_first->low, other.of_first->value);
    up += off(other.of_first->high, other.of_first->value);
  }
  if (metric == Metric::time_at_scale) {
    const estimate::Estimate& of_first = *a.at_scale->relative.ratio;
    const estimate::Estimate& of_other = *b.at_scale->relative.ratio;
    down += off(of_first.high, of_first.value) + off(of_other.low, of_other.value);
    up += off(of_first.low, of_first.value) + off(of_other.high, of_other.value);
  }
  return RatioBand{ratio, ratio * std::exp(-std::sqrt(down)), ratio * std::exp(std::sqrt(up))};
}

std::string faster_than(const Result& result, Metric metric, const Place& winner, const Place& other) {
  const std::string& label = label_of(result, other);
  if (winner.seconds == other.seconds) return fmt::format("as fast as {}", label);
  const std::string time = human_seconds(other.seconds);
  if (const std::optional<RatioBand> ratio = ratio_between(result, metric, winner, other)) {
    return fmt::format("{} ({:.2f} … {:.2f}) faster than {} ({})", times_in_words(ratio->ratio), ratio->low,
                       ratio->high, label, time);
  }
  if (winner.seconds == 0) return fmt::format("before {} ({})", label, time);
  return fmt::format("{} faster than {} ({})", times_in_words(other.seconds / winner.seconds), label, time);
}

/// What a run does in a time that follows: alone, and before others.
struct Deed {
  std::string one, first;
};

Deed deed_of(const Result& result, Metric metric) {
  if (metric == Metric::time_per_step) {
    const std::string& of =
        result.scale && !result.scale->workload.empty() ? result.scale->workload : result.learned_on;
    return {fmt::format("takes a step of {} in", of), fmt::format("takes the shortest step of {},", of)};
  }
  std::string what = "reaches " + accuracy_in_words(result.target_accuracy);
  if (metric == Metric::time_at_scale) {
    what = fmt::format("trains {}", result.scale->workload);
    if (!result.scale->known->target.empty()) what += " to " + result.scale->known->target;
  }
  return {what + " in", what + " first, in"};
}

/// Where the quickest run is not told apart from others by what the errors of both would have to be. Empty where it is
/// told apart from all. Runs that take exactly as long are no question of errors.
std::string tie_sentence(const Result& result, Metric metric, const std::vector<Place>& ranking) {
  std::string others;
  std::string ratios;
  for (std::size_t i = 1; i < ranking.size(); ++i) {
    const std::optional<RatioBand> ratio = ratio_between(result, metric, ranking[0], ranking[i]);
    if (!ratio || !ratio->open() || ratio->ratio == 1) continue;
    others += fmt::format("{}{}", others.empty() ? "" : ", ", label_of(result, ranking[i]));
    ratios +=
        fmt::format("{}{:.2f}; {:.2f} … {:.2f}", ratios.empty() ? "" : ", ", ratio->ratio, ratio->low, ratio->high);
  }
  if (others.empty()) return {};
  const std::string& winner = label_of(result, ranking[0]);
  return fmt::format("{} and {} cannot be told apart ({}): {} {} {}, {} in {}.", winner, others, ratios, winner,
                     deed_of(result, metric).one, time_in_words(ranking[0]), label_of(result, ranking[1]),
                     time_in_words(ranking[1]));
}

/// "A", "A and B", "A, B and C".
std::string listed(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

/// Where the quickest ties with others, over seeds and evaluations: who does, and who comes after them. Empty where it
/// ties with none.
std::string seeds_sentence(const Result& result, const std::vector<Place>& ranking) {
  std::vector<std::string> labels{label_of(result, ranking[0])};
  std::vector<std::string> times{human_seconds(ranking[0].seconds)};
  bool exactly = true;
  bool one_seed = false;
  std::size_t seeds = ranking[0].seeds;
  const Place* next = nullptr;
  for (std::size_t i = 1; i < ranking.size(); ++i) {
    const Place& place = ranking[i];
    if (!place.tied) {
      if (next == nullptr) next = &place;
      continue;
    }
    labels.push_back(label_of(result, place));
    times.push_back(human_seconds(place.seconds));
    if (place.of_first->value == 1) continue;
    exactly = false;
    const std::size_t both = std::min(place.seeds, ranking[0].seeds);
    one_seed = one_seed || both == 1;
    seeds = std::min(seeds, both);
  }
  if (labels.size() == 1) return {};
  std::string text = fmt::format("{} tie: they reach {} in {}, ", listed(labels),
                                 accuracy_in_words(result.target_accuracy), exactly ? times.front() : listed(times));
  if (exactly) {
    text += "at the same moment";
  } else if (one_seed) {
    text += "within the scatter of seeds (assumed: one was run) and of evaluations";
  } else {
    text += fmt::format("within the scatter of {} seeds and of evaluations", seeds);
  }
  if (next == nullptr) return text + ".";
  const std::optional<RatioBand> ratio = ratio_between(result, Metric::time_to_target, ranking[0], *next);
  if (ratio && ratio->open()) {
    return text + fmt::format("; nor can {} be told apart from {} ({:.2f}; {:.2f} … {:.2f}).", label_of(result, *next),
                              labels.front(), ratio->ratio, ratio->low, ratio->high);
  }
  return text +
         fmt::format("; {} is {}.", labels.front(), faster_than(result, Metric::time_to_target, ranking[0], *next));
}

bool is_plain(const RunResult& run) { return run.spec.algorithm == "gradient-sharing"; }

/// Who is first, and by how much; some run has such a time.
std::string winner_sentence(const Result& result, Metric metric, const std::vector<Place>& ranking) {
  if (std::string tie = seeds_sentence(result, ranking); !tie.empty()) return tie;
  if (std::string tie = tie_sentence(result, metric, ranking); !tie.empty()) return tie;
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
  text += ": " + faster_than(result, metric, winner, ranking[1]);
  const auto plain = std::ranges::find_if(ranking, [&](const Place& one) { return is_plain(result.runs[one.run]); });
  if (plain != ranking.end()) {
    if (plain - ranking.begin() > 1) text += " and " + faster_than(result, metric, winner, *plain);
  } else if (metric == Metric::time_to_target && std::ranges::any_of(result.runs, is_plain)) {
    text += "; gradient-sharing did not reach it";
  }
  return text + ".";
}

/// Of the network that learned.
std::string target_sentence(const Result& result) {
  Answer learned;
  rank_by(result, Metric::time_to_target, learned);
  const std::vector<Place>& ranking = learned.ranking;
  if (!ranking.empty()) return winner_sentence(result, Metric::time_to_target, ranking);
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
  return fmt::format(
      "With the steps that each needs counted, {} is first: its relative steps times a step are {} less "
      "than those of {}.",
      label_of(result, counted[0]), times_in_words(counted[1].seconds / counted[0].seconds),
      label_of(result, counted[1]));
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
    case Metric::time_to_target:
      return "time-to-target";
  }
  return "";
}

std::string times_in_words(double factor) {
  if (factor < 1.1) return fmt::format("{:.3f} times", factor);
  return factor < 10 ? fmt::format("{:.2f} times", factor) : fmt::format("{:.0f} times", factor);
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
  if (answer.metric == Metric::time_per_step) keep_those_with_counted_steps(result, answer.ranking);
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
