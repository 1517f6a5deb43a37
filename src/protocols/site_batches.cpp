#include "protocols/site_batches.hpp"

#include <algorithm>
#include <boost/random/bernoulli_distribution.hpp>

#include "algorithms/batches.hpp"
#include "support/random.hpp"

namespace dadsim::protocols {

SiteBatches::SiteBatches(How how, const spec::TrainingSpec& training, const models::Partition& partition,
                         std::size_t site, std::uint64_t seed)
    : how_(how), training_(training), samples_(partition.at(site)), site_(site), seed_(seed) {
  if (how == How::steps) steps_per_epoch_ = algorithms::Batches(training, partition, seed).steps_per_epoch();
}

SiteBatches::BatchRange SiteBatches::range(std::int64_t number) const {
  const auto samples = static_cast<std::int64_t>(samples_.size());
  if (how_ == How::passes || training_.batches == spec::TrainingSpec::Batches::equal) {
    const std::int64_t batch = std::min(training_.batch, samples);
    if (how_ == How::passes) {
      const std::int64_t count = (samples + batch - 1) / batch;
      const std::int64_t begin = number % count * batch;
      return {number / count, begin, std::min(samples, begin + batch)};
    }
    return {-1, number * batch, (number + 1) * batch};  // the last batch may extend into the next pass
  }
  const std::int64_t in_epoch = number % steps_per_epoch_;
  return {number / steps_per_epoch_, in_epoch * samples / steps_per_epoch_,
          (in_epoch + 1) * samples / steps_per_epoch_};
}

const std::vector<std::int32_t>& SiteBatches::order(std::int64_t pass) {
  if (training_.in_order) return samples_;
  if (pass_ != pass) order_ = algorithms::shuffled(samples_, seed_, site_, pass);
  pass_ = pass;
  return order_;
}

std::vector<std::int32_t> SiteBatches::drawn(std::int64_t number) const {
  RandomStream random(seed_, Purpose::privacy_sampling, static_cast<std::uint32_t>(site_),
                      static_cast<std::uint32_t>(number));
  const boost::random::bernoulli_distribution<double> taken(1.0 / static_cast<double>(per_pass()));
  std::vector<std::int32_t> batch;
  while (batch.empty() && !samples_.empty()) {
    for (const std::int32_t sample : samples_) {
      if (taken(random)) batch.push_back(sample);
    }
  }
  return batch;
}

std::vector<std::int32_t> SiteBatches::operator[](std::int64_t number) {
  if (by_chance()) return drawn(number);
  const BatchRange of = range(number);
  if (of.pass >= 0) {
    const auto& all = order(of.pass);
    return {all.begin() + of.begin, all.begin() + of.end};
  }
  std::vector<std::int32_t> batch;
  const auto samples = static_cast<std::int64_t>(samples_.size());
  for (std::int64_t i = of.begin; i < of.end; ++i) {
    batch.push_back(order(i / samples)[static_cast<std::size_t>(i % samples)]);
  }
  return batch;
}

std::int64_t SiteBatches::size(std::int64_t number) const {
  if (by_chance()) return static_cast<std::int64_t>(drawn(number).size());
  const BatchRange of = range(number);
  return of.end - of.begin;
}

std::int64_t SiteBatches::per_pass() const {
  const auto samples = static_cast<std::int64_t>(samples_.size());
  if (how_ == How::steps && training_.batches != spec::TrainingSpec::Batches::equal) return steps_per_epoch_;
  const std::int64_t batch = std::min(training_.batch, samples);
  return (samples + batch - 1) / batch;
}

}  // namespace dadsim::protocols
