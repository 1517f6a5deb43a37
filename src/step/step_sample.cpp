#include "step/step_sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace dadsim::step {

StepSample::StepSample(std::vector<SampledStep> steps, std::size_t most) : steps_(std::move(steps)) {
  if (most < 3) throw std::invalid_argument("a sample needs at least three steps");
  const std::size_t count = steps_.size();
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return std::pair(steps_[i].bytes, steps_[i].flops); });

  std::vector<double> before{0};  // steps of the run before each position in order_
  for (const std::size_t i : order_) before.push_back(before.back() + steps_[i].occurrences);
  std::vector<bool> is_picked(count);
  std::size_t left = std::min(most, count);
  const auto pick = [&](std::size_t place) {
    if (is_picked[place]) return;
    is_picked[place] = true;
    --left;
  };
  const auto first = static_cast<std::size_t>(std::ranges::find(order_, std::size_t{0}) - order_.begin());
  if (count > 0) {
    pick(first);
    pick(0);
    pick(count - 1);
  }
  // A gap between picked positions. The gap with the largest number of steps of the run comes first; on a tie, the
  // widest. Steps of the run, positions in the gap, last position before the gap.
  using Gap = std::tuple<double, std::size_t, std::size_t>;
  std::priority_queue<Gap> gaps;
  const auto open = [&](std::size_t below, std::size_t above) {
    if (above > below + 1) gaps.emplace(before[above] - before[below + 1], above - below - 1, below);
  };
  if (count > 0) {
    open(0, first);
    open(first, count - 1);
  }
  while (left > 0 && !gaps.empty()) {
    const auto [full, places, below] = gaps.top();
    gaps.pop();
    const std::size_t above = below + places + 1;
    const double half = before[below + 1] + full / 2;
    std::size_t middle = below + 1;
    while (middle + 1 < above && before[middle + 1] <= half) ++middle;
    if (full <= 0) middle = below + (places + 1) / 2;
    pick(middle);
    open(below, middle);
    open(middle, above);
  }

  for (std::size_t place = 0; place < count; ++place) {
    if (!is_picked[place]) continue;
    by_size_.push_back(place);
    picked_.push_back(order_[place]);
  }
  std::ranges::sort(picked_);
  for (const std::size_t place : by_size_) {
    rank_of_.push_back(static_cast<std::size_t>(std::ranges::lower_bound(picked_, order_[place]) - picked_.begin()));
  }

  of_.resize(count);
  weights_.resize(picked_.size());
  for (std::size_t place = 0, next = 0; place < count; ++place) {
    if (place > by_size_[next]) ++next;
    Between& of = of_[order_[place]];
    of.above = rank_of_[next];
    of.below = is_picked[place] ? of.above : rank_of_[next - 1];
    of.share = is_picked[place] ? 0 : share_between(by_size_[next - 1], by_size_[next], place);
    weights_[of.below] += (1 - of.share) * steps_[order_[place]].occurrences;
    weights_[of.above] += of.share * steps_[order_[place]].occurrences;
  }
}

double StepSample::share_between(std::size_t below, std::size_t above, std::size_t place) const {
  const SampledStep& a = steps_[order_[below]];
  const SampledStep& b = steps_[order_[above]];
  const SampledStep& at = steps_[order_[place]];
  if (a.bytes < b.bytes) return (at.bytes - a.bytes) / (b.bytes - a.bytes);
  if (a.flops < b.flops) return (at.flops - a.flops) / (b.flops - a.flops);
  return static_cast<double>(place - below) / static_cast<double>(above - below);
}

std::vector<double> StepSample::interpolate(const std::vector<double>& picked) const {
  std::vector<double> seconds;
  seconds.reserve(of_.size());
  for (const Between& of : of_)
    seconds.push_back((1 - of.share) * picked.at(of.below) + of.share * picked.at(of.above));
  return seconds;
}

StepSample::Error StepSample::error(const std::vector<double>& picked) const {
  // Model: seconds are piecewise linear in a step's bytes, plus noise of standard deviation s. The error at a left-out
  // step includes its own noise and that of both neighbours, weighted as in the interpolation.
  double squares = 0;  // sum of squared errors
  double noise = 0;    // squared errors, each scaled to an estimate of s²
  double count = 0;
  for (std::size_t i = 1; i + 1 < by_size_.size(); ++i) {
    const double share = share_between(by_size_[i - 1], by_size_[i + 1], by_size_[i]);
    const double off =
        (1 - share) * picked.at(rank_of_[i - 1]) + share * picked.at(rank_of_[i + 1]) - picked.at(rank_of_[i]);
    squares += off * off;
    noise += off * off / (1 + share * share + (1 - share) * (1 - share));
    ++count;
  }
  double steps = 0;
  double seconds = 0;
  double variance = 0;  // variance of the sum over the run, in s²
  for (std::size_t i = 0; i < of_.size(); ++i) {
    const double occurrences = steps_[i].occurrences;
    const bool is_picked = of_[i].below == of_[i].above;
    steps += occurrences;
    if (!is_picked) variance += occurrences * occurrences;
  }
  for (std::size_t i = 0; i < picked_.size(); ++i) {
    const double for_others = weights_[i] - steps_[picked_[i]].occurrences;
    variance += for_others * for_others;
    seconds += weights_[i] * picked.at(i);
  }
  if (count == 0 || seconds <= 0) return {};
  return {.step = std::sqrt(squares / count) * steps / seconds, .mean = std::sqrt(noise / count * variance) / seconds};
}

}  // namespace dadsim::step
