#include "algorithms/batches.hpp"

#include <algorithm>
#include <boost/random/bernoulli_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <stdexcept>

#include "support/random.hpp"

namespace dadsim::algorithms {

std::vector<std::int32_t> shuffled(const std::vector<std::int32_t>& samples, std::uint64_t seed, std::size_t site,
                                   std::int64_t pass) {
  std::vector<std::int32_t> order = samples;
  RandomStream random(seed, Purpose::shuffle, static_cast<std::uint32_t>(site), static_cast<std::uint32_t>(pass));
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    const std::size_t j = boost::random::uniform_int_distribution<std::size_t>(0, i)(random);
    std::swap(order[i], order[j]);
  }
  return order;
}

Batches::Batches(const spec::TrainingSpec& training, const models::Partition& partition, std::uint64_t seed)
    : training_(training),
      partition_(partition),
      seed_(seed),
      order_(partition.size()),
      order_pass_(partition.size(), -1) {
  const auto sites = static_cast<std::int64_t>(partition.size());
  std::int64_t total = 0;
  std::int64_t largest = 0;
  for (const auto& site : partition) {
    if (site.empty()) throw std::logic_error("a site without samples");
    total += static_cast<std::int64_t>(site.size());
    largest = std::max(largest, static_cast<std::int64_t>(site.size()));
  }
  const bool proportional = training.batches != spec::TrainingSpec::Batches::equal;
  const std::int64_t samples = proportional ? total : largest;
  const std::int64_t per_step = proportional ? sites * training.batch : training.batch;
  steps_per_epoch_ = (samples + per_step - 1) / per_step;
}

const std::vector<std::int32_t>& Batches::order(std::size_t site, std::int64_t pass) {
  if (training_.in_order) return partition_[site];
  if (order_pass_[site] != pass) {
    order_[site] = shuffled(partition_[site], seed_, site, pass);
    order_pass_[site] = pass;
  }
  return order_[site];
}

RunContext Batches::run_of(std::int64_t steps) const {
  RunContext run{.sites = partition_.size(), .batch = 0, .sampling_rate = 0, .sampled = false, .steps = steps};
  run.sampled = training_.batches == spec::TrainingSpec::Batches::poisson;
  for (const auto& site : partition_) {
    const auto samples = static_cast<double>(site.size());
    const double rows = training_.batches == spec::TrainingSpec::Batches::equal
                            ? std::min(static_cast<double>(training_.batch), samples)
                            : samples / static_cast<double>(steps_per_epoch_);
    run.batch += rows;
    run.rows.push_back(rows);
    run.rates.push_back(rows / samples);
    run.sampling_rate = std::max(run.sampling_rate, rows / samples);
  }
  return run;
}

std::vector<std::vector<std::int32_t>> Batches::drawn() const {
  std::vector<std::vector<std::int32_t>> batch(partition_.size());
  std::vector<RandomStream> streams;
  for (std::size_t site = 0; site < partition_.size(); ++site) {
    streams.emplace_back(seed_, Purpose::privacy_sampling, static_cast<std::uint32_t>(site),
                         static_cast<std::uint32_t>(step_));
  }
  const boost::random::bernoulli_distribution<double> taken(1.0 / static_cast<double>(steps_per_epoch_));
  for (bool empty = true; empty;) {
    for (std::size_t site = 0; site < partition_.size(); ++site) {
      for (const std::int32_t sample : partition_[site]) {
        if (taken(streams[site])) batch[site].push_back(sample);
      }
      empty = empty && batch[site].empty();
    }
  }
  return batch;
}

std::vector<std::vector<std::int32_t>> Batches::next() {
  if (training_.batches == spec::TrainingSpec::Batches::poisson) {
    std::vector<std::vector<std::int32_t>> batch = drawn();
    ++step_;
    return batch;
  }
  std::vector<std::vector<std::int32_t>> batch(partition_.size());
  const std::int64_t epoch = step_ / steps_per_epoch_;
  const std::int64_t in_epoch = step_ % steps_per_epoch_;
  for (std::size_t site = 0; site < partition_.size(); ++site) {
    const auto samples = static_cast<std::int64_t>(partition_[site].size());
    if (training_.batches == spec::TrainingSpec::Batches::proportional) {
      const auto& indices = order(site, epoch);
      batch[site].assign(indices.begin() + in_epoch * samples / steps_per_epoch_,
                         indices.begin() + (in_epoch + 1) * samples / steps_per_epoch_);
    } else {
      const std::int64_t rows = std::min(training_.batch, samples);
      for (std::int64_t i = step_ * rows; i < (step_ + 1) * rows; ++i) {
        batch[site].push_back(order(site, i / samples)[static_cast<std::size_t>(i % samples)]);
      }
    }
  }
  ++step_;
  return batch;
}

}  // namespace dadsim::algorithms
