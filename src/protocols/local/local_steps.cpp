#include "protocols/local/local_steps.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/site_weights.hpp"
#include "spec/islands.hpp"

namespace dadsim::protocols {

LocalSteps::LocalSteps(const Setting& setting)
    : setting_(setting),
      factors_(algorithms::site_factors(setting.run.weights, setting.training(), setting.learning.problem().partition)),
      period_(setting.value(kPeriod)),
      steps_(setting.learning.budget()) {
  if (const std::int64_t rounds = setting.value(kRounds); rounds > 0) steps_ = rounds * period_;
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
