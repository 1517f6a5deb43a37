#include "report/ties.hpp"

#include <algorithm>

#include "estimate/bands.hpp"
#include "estimate/comparison.hpp"

namespace dadsim::report {
namespace {

/// How many times as long `other` takes to the target as `first`, over the seeds that reach it with both.
std::optional<estimate::Estimate> ratio_over_seeds(const RunResult& first, const RunResult& other) {
  std::vector<estimate::Arrival> run;
  std::vector<estimate::Arrival> of;
  double sum = 0;
  for (std::size_t seed = 0; seed < std::min(first.arrivals.size(), other.arrivals.size()); ++seed) {
    if (!first.arrivals[seed] || !other.arrivals[seed]) continue;
    of.push_back(*first.arrivals[seed]);
    run.push_back(*other.arrivals[seed]);
    sum += of.back().at;
  }
  if (!(sum > 0)) return std::nullopt;
  return times_as_long(run, of, first.exact && other.exact);
}

}  // namespace

std::optional<Answer::Place> over_seeds(const RunResult& run, std::size_t i) {
  std::vector<estimate::Arrival> arrivals;
  for (const std::optional<estimate::Arrival>& one : run.arrivals) {
    if (!one) return std::nullopt;
    arrivals.push_back(*one);
  }
  const std::vector<estimate::Arrival> seconds(arrivals.size(), {1, 1});
  estimate::Estimate time = times_as_long(arrivals, seconds, false);
  if (const auto factors = run.factors(); factors && time.value > 0) time = with_band(time, *factors);
  Answer::Place place;
  place.run = i;
  place.seconds = time.value;
  place.low = time.low;
  place.high = time.high;
  place.seeds = arrivals.size();
  return place;
}

void find_ties(const std::vector<RunResult>& runs, Answer& answer) {
  for (std::size_t i = 1; i < answer.ranking.size(); ++i) {
    Answer::Place& place = answer.ranking[i];
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t of = answer.ranking[j].run;
      const std::optional<estimate::Estimate> times = ratio_over_seeds(runs[of], runs[place.run]);
      if (times) answer.pairs.push_back({place.run, of, *times});
      if (j > 0) continue;
      place.of_first = times;
      place.tied = times && (times->value == 1 || may_be_equal(*times));
    }
  }
}

}  // namespace dadsim::report
