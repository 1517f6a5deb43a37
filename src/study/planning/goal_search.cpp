#include "study/planning/goal_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace dadsim::study {
namespace {

bool is_range(const spec::AllowedChange& change) { return change.varied.values.empty(); }

/// Returns `count` of the numbers, evenly spread, including both ends.
std::vector<double> spread(const std::vector<double>& numbers, std::size_t count) {
  if (numbers.size() <= count) return numbers;
  std::vector<double> some;
  for (std::size_t i = 0; i < count; ++i) some.push_back(numbers[i * (numbers.size() - 1) / (count - 1)]);
  return some;
}

/// Returns at most kTriedOfTheRange indices of the ascending numbers, evenly spread, including both ends.
std::vector<std::size_t> evenly_spread(const std::vector<double>& numbers) {
  std::set<std::size_t> indices;
  const double from = numbers.front();
  const double to = numbers.back();
  for (std::size_t i = 0; i < kTriedOfTheRange; ++i) {
    const double share = static_cast<double>(i) / (kTriedOfTheRange - 1);
    const double number = from > 0 ? from * std::pow(to / from, share) : from + share * (to - from);
    const auto above = std::ranges::lower_bound(numbers, number);
    indices.insert(std::min(static_cast<std::size_t>(above - numbers.begin()), numbers.size() - 1));
  }
  indices.insert(0);
  indices.insert(numbers.size() - 1);
  return {indices.begin(), indices.end()};
}

/// Returns the searched values of each change, as settings.
std::vector<std::vector<report::Change>> searched_of(const spec::GoalSpec& goal, const spec::AllowedChange* bisected) {
  std::vector<std::vector<report::Change>> searched;
  for (const spec::AllowedChange& change : goal.allowed) {
    if (&change == bisected) continue;
    std::vector<report::Change>& values = searched.emplace_back();
    for (std::size_t i = 0; i < change.varied.values.size(); ++i)
      values.push_back({change.varied.path, change.varied.at(i)});
    if (!is_range(change)) continue;
    for (const double number : spread(numbers_of(change.varied), kTriedOfARange))
      values.push_back({change.varied.path, change.varied.with(number)});
  }
  return searched;
}

const spec::AllowedChange* bisected_of(const spec::GoalSpec& goal) {
  const auto found = std::ranges::find_if(goal.allowed, is_range);
  return found == goal.allowed.end() ? nullptr : &*found;
}

/// Search over the numbers of the first range, for one choice of the other values and one run.
class Search {
 public:
  Search(const spec::GoalSpec& goal, std::vector<report::Change> choices, std::string label, const Evaluate& evaluate)
      : goal_(goal), evaluate_(evaluate) {
    answer_.run = std::move(label);
    answer_.choices = std::move(choices);
  }

  /// Returns the preference of the answer: its index in the list of numbers, the most preferred first.
  std::size_t preference() const { return preference_; }

  report::GoalAnswer run(const spec::AllowedChange* bisected) {
    if (bisected == nullptr) {
      answer_.trial = trial({});
      answer_.met = meets(goal_, answer_.trial);
      return std::move(answer_);
    }
    varied_ = &bisected->varied;
    numbers_ = numbers_of(*varied_);
    grid_ = evenly_spread(numbers_);
    // The most preferred number comes first.
    if (!bisected->prefers_least) {
      std::ranges::reverse(numbers_);
      std::ranges::reverse(grid_);
      for (std::size_t& index : grid_) index = numbers_.size() - 1 - index;
    }
    search();
    for (auto& [index, trial] : trials_)
      answer_.tried.push_back({numbers_[index], varied_->with(numbers_[index]), std::move(trial)});
    std::ranges::sort(answer_.tried, {}, &report::Tried::number);
    return std::move(answer_);
  }

 private:
  using Test = bool (*)(const spec::GoalSpec&, const report::Trial&);

  void search() {
    for (const std::size_t index : grid_) at(index);
    const std::optional<std::size_t> first = first_that(report::meets);
    if (!first) return take(best_of_tried(), false);
    take(*first, true);
    if (*first > 0) {
      answer_.neighbour = change(*first - 1);
      answer_.neighbour_trial = at(*first - 1);
    }
    find_misses_beyond(*first);
    if (!answer_.trial.band) return;
    const auto text = [&](std::size_t index) { return varied_->with(numbers_[index]); };
    if (const auto may = first_that(report::may_meet)) answer_.may = text(*may);
    if (const auto safe = first_that(report::surely_meets)) answer_.safe = text(*safe);
  }

  bool is(Test test, std::size_t index) { return test(goal_, at(index)); }

  /// Returns the last number with the same test result as `from`, searching towards `other`, which has the opposite
  /// result.
  std::size_t last_like(Test test, std::size_t from, std::size_t other) {
    const bool passes = is(test, from);
    while (other - from > 1) {
      const std::size_t middle = from + (other - from) / 2;
      (is(test, middle) == passes ? from : other) = middle;
    }
    return from;
  }

  /// Returns the index of the most preferred number that passes: the first of the grid that does, or a better one found
  /// by bisection between it and its predecessor in the grid.
  std::optional<std::size_t> first_that(Test test) {
    for (std::size_t i = 0; i < grid_.size(); ++i) {
      if (!is(test, grid_[i])) continue;
      return i == 0 ? grid_[0] : last_like(test, grid_[i - 1], grid_[i]) + 1;
    }
    return std::nullopt;
  }

  /// Finds the ranges of numbers beyond index `met` that miss the goal. *Requires* that the number at `met` meets it.
  void find_misses_beyond(std::size_t met) {
    std::size_t before = met;     // index in the grid, or the answer
    std::size_t missed_from = 0;  // index at which the current miss begins; 0: none
    for (const std::size_t index : grid_) {
      if (index <= met) continue;
      const bool meets_it = is(report::meets, index);
      if (!meets_it && missed_from == 0) missed_from = last_like(report::meets, before, index) + 1;
      if (meets_it && missed_from > 0) {
        add_misses(missed_from, last_like(report::meets, before, index));
        missed_from = 0;
      }
      before = index;
    }
    if (missed_from > 0) add_misses(missed_from, numbers_.size() - 1);
  }

  void add_misses(std::size_t from, std::size_t to) {
    answer_.misses_again.push_back(
        {varied_->with(numbers_[from]), varied_->with(numbers_[to]), to + 1 == numbers_.size()});
  }

  std::size_t best_of_tried() const {
    std::size_t best = trials_.begin()->first;
    for (const auto& [index, trial] : trials_) {
      if (better(trial, trials_.at(best))) best = index;
    }
    return best;
  }

  bool better(const report::Trial& a, const report::Trial& b) const {
    if (a.reached != b.reached) return a.reached;
    return a.reached ? excess(goal_, a) < excess(goal_, b) : a.accuracy > b.accuracy;
  }

  const report::Trial& at(std::size_t index) {
    const auto known = trials_.find(index);
    return known != trials_.end() ? known->second : trials_.emplace(index, trial({change(index)})).first->second;
  }

  report::Trial trial(const std::vector<report::Change>& more) const {
    std::vector<std::string> assignments;
    for (const report::Change& choice : answer_.choices) assignments.push_back(choice.assignment());
    for (const report::Change& one : more) assignments.push_back(one.assignment());
    return evaluate_(assignments, answer_.run);
  }

  report::Change change(std::size_t index) const { return {varied_->path, varied_->with(numbers_[index])}; }

  void take(std::size_t index, bool met) {
    answer_.answer = change(index);
    answer_.trial = at(index);
    answer_.met = met;
    preference_ = index;
  }

  const spec::GoalSpec& goal_;
  const Evaluate& evaluate_;
  const spec::VariedPath* varied_ = nullptr;
  std::vector<double> numbers_;
  std::vector<std::size_t> grid_;  ///< indices of the numbers tried first, ascending
  std::map<std::size_t, report::Trial> trials_;
  report::GoalAnswer answer_;
  std::size_t preference_ = 0;
};

}  // namespace

std::vector<double> numbers_of(const spec::VariedPath& range) {
  constexpr double kMostWhole = 100'000;  // above this, whole numbers are also limited to three digits
  std::vector<double> numbers{range.from};
  if (range.whole && range.to - range.from <= kMostWhole) {
    for (auto number = static_cast<std::int64_t>(std::floor(range.from)) + 1; static_cast<double>(number) < range.to;
         ++number) {
      numbers.push_back(static_cast<double>(number));
    }
  } else if (range.from > 0) {
    constexpr int kLeast = 100;
    constexpr int kMost = 999;  // three digits
    for (int exponent = static_cast<int>(std::floor(std::log10(range.from))) - 2; std::pow(10.0, exponent) < range.to;
         ++exponent) {
      for (int digits = kLeast; digits <= kMost; ++digits) {
        // Parsed from decimal digits, because a product would have a rounding error.
        const double number = std::stod(fmt::format("{}e{}", digits, exponent));
        if (range.whole && number != std::floor(number)) continue;
        if (number > range.from && number < range.to) numbers.push_back(number);
      }
    }
  } else {
    constexpr int kParts = 1000;
    for (int i = 1; i < kParts; ++i) numbers.push_back(range.from + (range.to - range.from) * i / kParts);
  }
  if (range.to > range.from) numbers.push_back(range.to);
  return numbers;
}

std::size_t count_choices(const spec::GoalSpec& goal) {
  std::size_t count = 1;
  for (const std::vector<report::Change>& values : searched_of(goal, bisected_of(goal))) {
    count *= std::max<std::size_t>(values.size(), 1);
    if (count > kMostChoices) return kMostChoices + 1;
  }
  return count;
}

std::vector<std::vector<report::Change>> choices_of(const spec::GoalSpec& goal) {
  const std::vector<std::vector<report::Change>> searched = searched_of(goal, bisected_of(goal));
  std::vector<std::vector<report::Change>> choices(count_choices(goal));
  for (std::size_t choice = 0; choice < choices.size(); ++choice) {
    std::size_t rest = choice;
    for (const std::vector<report::Change>& values : searched) {
      choices[choice].push_back(values[rest % values.size()]);
      rest /= values.size();
    }
  }
  return choices;
}

std::vector<report::GoalAnswer> search_goal(const spec::GoalSpec& goal, const std::vector<std::string>& labels,
                                            const Evaluate& evaluate,
                                            const std::function<void(std::size_t, std::size_t)>& progress) {
  const spec::AllowedChange* bisected = bisected_of(goal);
  const std::vector<std::vector<report::Change>> made = choices_of(goal);
  const std::size_t choices = made.size();
  struct Ranked {
    report::GoalAnswer answer;
    std::size_t preference;
  };
  std::vector<Ranked> ranked;
  for (std::size_t choice = 0; choice < choices; ++choice) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      Search search(goal, made[choice], labels[i], evaluate);
      report::GoalAnswer answer = search.run(bisected);
      ranked.push_back({std::move(answer), search.preference()});
      if (progress) progress(choice * labels.size() + i + 1, choices * labels.size());
    }
  }
  std::ranges::stable_sort(ranked, [&](const Ranked& a, const Ranked& b) {
    return report::is_better(goal, a.answer, a.preference, b.answer, b.preference);
  });
  std::vector<report::GoalAnswer> answers;
  answers.reserve(ranked.size());
  for (Ranked& one : ranked) answers.push_back(std::move(one.answer));
  if (!goal.against) report::settle_ties(goal, answers);
  report::mark_front(goal, answers);
  return answers;
}

}  // namespace dadsim::study
