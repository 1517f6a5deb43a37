#include "protocols/local/local_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "algorithms/site_weights.hpp"
#include "spec/islands.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::protocols {

LocalSteps::LocalSteps(const Setting& setting)
    : setting_(setting),
      factors_(algorithms::site_factors(setting.run.weights, setting.training(), setting.learning.problem().partition)),
      later_{{0, setting.value(kPeriod)}},
      steps_(setting.learning.budget()) {
  if (const auto periods = setting.parameters().find(kPeriods.name); periods != setting.parameters().end()) {
    std::ranges::copy(read_periods(periods->second).value(), std::back_inserter(later_));
    by_rate_ = setting.value(kPeriodByRate);
  }
  if (const std::int64_t rounds = setting.value(kRounds); rounds > 0) {
    steps_ = 0;
    for (std::int64_t round = 0; round < rounds; ++round) steps_ += period_from(steps_);
  }
  remark_on_idle_periods();
  for (std::size_t site = 0; site < setting.sites; ++site)
    batches_.push_back(setting.learning.batches(SiteBatches::How::steps, site));
}

std::vector<spec::ParameterSpec> LocalSteps::parameters(const char* period) {
  return {
      kPeriod.with_default(period),
      kRounds,
      spec::kIslands,
  };
}

std::optional<std::vector<LocalSteps::LaterPeriod>> LocalSteps::read_periods(const std::string& text) {
  const auto most = static_cast<std::int64_t>(kPeriod.maximum);
  std::vector<LaterPeriod> list;
  if (text == "none") return list;
  for (const std::string& word : words_of(text)) {
    const std::vector<std::string_view> two = split_at(word, ':');
    const auto from = parse_whole<std::int64_t>(two[0], list.empty() ? 1 : list.back().first + 1, most);
    const auto steps = parse_whole<std::int64_t>(two.back(), 1, most);
    if (two.size() != 2 || !from || !steps) return std::nullopt;
    list.emplace_back(*from, *steps);
  }
  return list;
}

std::size_t LocalSteps::listed_at(std::int64_t first) const {
  const auto next = std::ranges::upper_bound(later_, first, {}, &LaterPeriod::first);
  return static_cast<std::size_t>(std::distance(later_.begin(), next)) - 1;
}

double LocalSteps::rate_from(std::int64_t first) const {
  const double warm_up =
      setting_.training().schedule.warm_up_epochs * static_cast<double>(setting_.learning.steps_per_epoch());
  return setting_.learning.rate(std::max(first, static_cast<std::int64_t>(std::ceil(warm_up))));
}

std::int64_t LocalSteps::period_from(std::int64_t first) const {
  const std::int64_t listed = later_[listed_at(first)].second;
  if (by_rate_ == 0) return listed;
  return std::max(listed,
                  static_cast<std::int64_t>(std::min(std::pow(by_rate_ / rate_from(first), 2), kPeriod.maximum)));
}

void LocalSteps::remark_on_idle_periods() const {
  if (later_.size() == 1 && by_rate_ == 0) return;
  std::vector<bool> used(later_.size(), false);
  used.front() = true;  // `period` may be followed by a list from the first step on
  bool by_rate = false;
  double least = std::numeric_limits<double>::infinity();  // α from which a round is longer
  for (std::int64_t first = 0; first < steps_; first += period_from(first)) {
    const std::size_t place = listed_at(first);
    used[place] = true;
    by_rate = by_rate || period_from(first) > later_[place].second;
    if (by_rate_ > 0)
      least = std::min(least, rate_from(first) * std::sqrt(static_cast<double>(later_[place].second + 1)));
  }
  for (std::size_t place = 0; place < later_.size(); ++place) {
    if (!used[place])
      setting_.log.remarks.push_back(
          fmt::format("periods=\"{}:{}\" needs a round that begins there, in a run of {} steps; remove it, or use an "
                      "earlier step",
                      later_[place].first, later_[place].second, steps_));
  }
  if (by_rate_ > 0 && !by_rate)
    setting_.log.remarks.push_back(fmt::format(
        "period-by-rate=\"{:g}\" needs {:.3g} or more to lengthen a round beyond `period`; remove it, or use "
        "as much",
        by_rate_, 1.01 * least));
}

Value LocalSteps::with_state_of(const Value& weights, const Value& own) const {
  return setting_.learning.history().make("weights with the state of", {weights, own}, [](History::Inputs in) {
    Datum result = *in[1];
    std::ranges::copy(in[0]->numbers, result.numbers.begin());
    return result;
  });
}

Value LocalSteps::train(std::size_t worker, const Value& own, std::int64_t first, std::int64_t count) const {
  return setting_.learning.train(own, {.site = worker,
                                       .batches = SiteBatches::How::steps,
                                       .first = first,
                                       .steps = count,
                                       .schedule_step = first,
                                       .data_version = setting_.learning.data_version(worker, setting_.loop.now()),
                                       .keeps_state = true});
}

double LocalSteps::samples(std::size_t worker, std::int64_t first, std::int64_t count) const {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(batches_[worker].size(first + i));
  return sum;
}

double LocalSteps::weight(std::size_t worker, std::int64_t first, std::int64_t count) const {
  return (factors_.empty() ? 1.0 : static_cast<double>(factors_[worker])) * samples(worker, first, count);
}

world::Work LocalSteps::begin_training(std::size_t worker, std::int64_t first, std::int64_t count) const {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < count; ++i) sizes.push_back(batches_[worker].size(first + i));
  setting_.log.samples += samples(worker, first, count);
  return setting_.sizing.training(sizes, first);
}

world::Work share_of(world::Work work, double share) {
  for (world::Work::Piece& piece : work.pieces) piece.times *= share;
  return work;
}

Value weighted_mean(Learning& learning, const std::vector<Value>& values, std::vector<double> weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= all;
  return learning.weighted_sum(values, weights);
}

}  // namespace dadsim::protocols
