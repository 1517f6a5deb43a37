#include "estimate/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "estimate/seed_scatter.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::estimate {
namespace {

double sum(const std::vector<Arrival>& arrivals, double Arrival::*of) {
  double total = 0;
  for (const Arrival& arrival : arrivals) total += arrival.*of;
  return total;
}

std::vector<double> ends(const std::vector<Arrival>& arrivals) {
  std::vector<double> values;
  for (const Arrival& arrival : arrivals) values.push_back(arrival.at);
  return values;
}

/// Returns |ln(end ÷ value)|; 0 if `value` is 0 or less.
double reach(double value, double end) { return value > 0 ? std::abs(std::log(end / value)) : 0; }

/// Uncertainty of a ratio, downwards and upwards, as logarithms.
struct VerdictFactors {
  double down = 0, up = 0;
  double sum() const { return down + up; }
};

/// Returns the ends of an interval as factors; an unknown end is unbounded.
VerdictFactors factors_of(const Estimate& estimate) {
  if (!estimate.low && !estimate.high) return {};
  const double infinite = std::numeric_limits<double>::infinity();
  const auto log_of = [&](const std::optional<double>& end) {
    return end && *end > 0 && estimate.value > 0 ? std::abs(std::log(*end / estimate.value)) : infinite;
  };
  return {log_of(estimate.low), log_of(estimate.high)};
}

VerdictFactors band_factors(const Contender& first, const Contender& other) {
  if (first.parts.empty() || other.parts.empty()) return {};
  const Band band = ratio_band(other.parts, first.parts);
  return {-std::log(band.low), std::log(band.high)};
}

/// Returns a run's own scatter over seeds; 0 for exact runs, which learn the same with equal seeds.
double own_scatter(const Contender& run) { return run.exact ? 0 : run.scatter; }

/// Returns the arrivals for seeds that both runs have, each at least one step after the previous evaluation.
std::pair<std::vector<Arrival>, std::vector<Arrival>> common_arrivals(const Contender& other, const Contender& first) {
  std::pair<std::vector<Arrival>, std::vector<Arrival>> both;
  const auto refined = [](Arrival arrival, double step_seconds) {
    arrival.after = std::min(arrival.at, arrival.after + step_seconds);
    return arrival;
  };
  for (std::size_t seed = 0; seed < std::min(first.arrivals.size(), other.arrivals.size()); ++seed) {
    if (!first.arrivals[seed] || !other.arrivals[seed]) continue;
    both.first.push_back(refined(*other.arrivals[seed], other.step_seconds));
    both.second.push_back(refined(*first.arrivals[seed], first.step_seconds));
  }
  return both;
}

/// Ratio of the learned times, with separate uncertainties from seeds and from evaluations.
struct LearnedVerdict {
  Estimate ratio;
  VerdictFactors seeds, evaluations;
};

LearnedVerdict learned_ratio(const Contender& first, const Contender& other) {
  const auto [run, of] = common_arrivals(other, first);
  LearnedVerdict learned{{other.seconds / first.seconds, {}, {}}, {}, {}};
  double sum = 0;
  for (const Arrival& arrival : of) sum += arrival.at;
  if (run.empty() || !(sum > 0)) return learned;
  const bool together = first.exact && other.exact;
  learned.ratio = times_as_long(run, of, together, std::hypot(own_scatter(first), own_scatter(other)));
  if (together) {
    learned.ratio.low.reset();
    learned.ratio.high.reset();
    return learned;
  }
  // Splits the interval into the uncertainties of evaluations and of seeds.
  double earliest_run = 0, latest_run = 0, earliest_of = 0;
  for (const Arrival& arrival : run) earliest_run += arrival.after;
  for (const Arrival& arrival : run) latest_run += arrival.at;
  for (const Arrival& arrival : of) earliest_of += arrival.after;
  learned.evaluations = factors_of({learned.ratio.value, earliest_run / sum,
                                    earliest_of > 0 ? std::optional(latest_run / earliest_of) : std::nullopt});
  const VerdictFactors whole = factors_of(learned.ratio);
  const auto rest = [](double all, double part) { return all > part ? std::sqrt(all * all - part * part) : 0; };
  learned.seeds = {rest(whole.down, learned.evaluations.down), rest(whole.up, learned.evaluations.up)};
  return learned;
}

}  // namespace

double seed_scatter(std::string_view kind) {
  static const auto kScatter = [] {
    const FactTable table(tables::kSeedScatter, {"kind", "scatter", "here", "least", "most", "date", "source"});
    std::map<std::string, double, std::less<>> scatter;
    for (const FactTable::Row& row : table.rows()) scatter[row.text("kind")] = row.number("scatter");
    return scatter;
  }();
  const auto found = kScatter.find(kind);
  return found == kScatter.end() ? kScatter.at("unknown") : found->second;
}

Estimate times_as_long(const std::vector<Arrival>& run, const std::vector<Arrival>& of, bool learn_the_same,
                       double scatter) {
  Estimate ratio = ratio_of_means(ends(run), ends(of));
  if (learn_the_same) return ratio;
  const double least = sum(run, &Arrival::after) / sum(of, &Arrival::at);
  const double earliest = sum(of, &Arrival::after);
  const bool bounded = earliest > 0;
  const double most = bounded ? sum(run, &Arrival::at) / earliest : 0;
  if (run.size() == 1) {
    const double chance = chance_of(scatter);
    ratio.low = least > 0 ? ratio.value * std::exp(-std::hypot(reach(ratio.value, least), chance)) : 0;
    if (bounded) ratio.high = ratio.value * std::exp(std::hypot(reach(ratio.value, most), chance));
    return ratio;
  }
  ratio.low = std::min(ratio.low.value_or(0), least);  // if seeds scatter without bounds, the ratio is unbounded
  if (ratio.high && bounded) ratio.high = std::max(*ratio.high, most);
  if (!bounded) ratio.high.reset();
  return ratio;
}

WouldTell would_tell_of(std::string_view name) {
  const auto what = spec::parse<WouldTell>(name);
  if (!what) throw std::logic_error(fmt::format("'{}' would tell nothing", name));
  return *what;
}

double align_exact(std::vector<Contender>& contenders) {
  double moved = 0;
  bool missed = false;
  std::size_t seeds = 0;
  for (const Contender& one : contenders) seeds = std::max(seeds, one.arrivals.size());
  // Without recorded steps, uses time ÷ mean step.
  const auto steps_of = [](const Contender& one, const Arrival& arrival) {
    return arrival.steps > 0 ? arrival.steps : arrival.at / one.step_seconds;
  };
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    const auto counts = [&](const Contender& one) {
      return one.exact && one.step_seconds > 0 && seed < one.arrivals.size();
    };
    double least = std::numeric_limits<double>::infinity();
    double share = 0;  // time of the previous evaluation ÷ arrival time, of the first run to arrive
    for (const Contender& one : contenders) {
      if (!counts(one) || !one.arrivals[seed] || steps_of(one, *one.arrivals[seed]) >= least) continue;
      least = steps_of(one, *one.arrivals[seed]);
      share = one.arrivals[seed]->at > 0 ? one.arrivals[seed]->after / one.arrivals[seed]->at : 0;
    }
    if (!std::isfinite(least)) continue;
    for (Contender& one : contenders) {
      if (!counts(one)) continue;
      std::optional<Arrival>& arrival = one.arrivals[seed];
      const double own = arrival ? steps_of(one, *arrival) : 0;
      // Two means of equal steps are treated as equal if they differ by less than half a step.
      if (arrival && own - least < 0.5) continue;
      missed = missed || !arrival;
      moved = std::max(moved, own - least);
      const double at = arrival ? arrival->at * least / own : least * one.step_seconds;
      arrival = Arrival{at * share, at, least};
    }
  }
  for (Contender& one : contenders) {
    if (!one.exact || one.arrivals.empty() || !(moved > 0 || missed)) continue;
    if (!std::ranges::all_of(one.arrivals, [](const auto& arrival) { return arrival.has_value(); })) continue;
    one.seconds = 0;
    for (const auto& arrival : one.arrivals) one.seconds += arrival->at / static_cast<double>(one.arrivals.size());
  }
  return missed ? -1 : moved;
}

Verdict decide(const Contender& first, const Contender& other) {
  Verdict verdict;
  if (!(first.seconds > 0)) {  // a run that starts at the target takes no time, so no ratio is defined
    verdict.ratio = {other.seconds > 0 ? std::numeric_limits<double>::infinity() : 1, {}, {}};
    verdict.standing = other.seconds > 0 ? Standing::behind : Standing::equal;
    return verdict;
  }
  VerdictFactors seeds, evaluations;
  Estimate& ratio = verdict.ratio;
  if (!first.arrivals.empty() && !other.arrivals.empty()) {
    const LearnedVerdict learned = learned_ratio(first, other);
    ratio = learned.ratio;
    seeds = learned.seeds;
    evaluations = learned.evaluations;
  } else if (first.by_seed.size() > 1 && first.by_seed.size() == other.by_seed.size()) {
    ratio = ratio_of_means(other.by_seed, first.by_seed);
    seeds = factors_of({ratio.value, ratio.low.value_or(0), ratio.high});
  } else {
    ratio = {other.seconds / first.seconds, {}, {}};
    for (const auto& [run, against] : {std::pair{&other, false}, {&first, true}}) {
      if (!run->relative) continue;
      VerdictFactors one = factors_of(*run->relative);
      if (!run->relative->low && !run->relative->high) one.down = one.up = chance_of(own_scatter(*run));  // one seed
      seeds.down = std::hypot(seeds.down, against ? one.up : one.down);
      seeds.up = std::hypot(seeds.up, against ? one.down : one.up);
    }
  }
  const VerdictFactors band = band_factors(first, other);
  const double down = std::sqrt(seeds.down * seeds.down + evaluations.down * evaluations.down + band.down * band.down);
  const double up = std::sqrt(seeds.up * seeds.up + evaluations.up * evaluations.up + band.up * band.up);
  const bool known = down > 0 || up > 0;
  ratio.low = known ? std::optional(ratio.value * std::exp(-down)) : std::nullopt;
  ratio.high = known && std::isfinite(up) ? std::optional(ratio.value * std::exp(up)) : std::nullopt;
  const double low = ratio.low.value_or(ratio.value);
  const double high = known ? ratio.high.value_or(std::numeric_limits<double>::infinity()) : ratio.value;
  if (low >= 1 / (1 + kMargin) && high <= 1 + kMargin) {
    verdict.standing = Standing::equal;
  } else if (low <= 1 && high >= 1) {
    verdict.standing = Standing::undecided;
    const double most = std::max({seeds.down, evaluations.down, band.down});
    verdict.would_tell = most == evaluations.down ? WouldTell::evaluations
                         : most == seeds.down     ? WouldTell::seeds
                                                  : WouldTell::calibration;
  } else {
    verdict.standing = Standing::behind;
  }
  return verdict;
}

}  // namespace dadsim::estimate
