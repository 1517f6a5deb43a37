#pragma once

#include <cstdint>
#include <vector>

#include "models/data/dataset.hpp"
#include "spec/specification.hpp"

namespace dadsim::protocols {

/// The batches of one site, by number, in the order of algorithms::Batches. A batch depends on its number alone, so
/// participants may ask in any order. With batches="poisson" a batch takes every sample independently, with chance 1 ÷
/// (batches of a pass); an empty batch is drawn again. Not thread-safe.
class SiteBatches {
 public:
  enum class How : std::uint8_t {
    steps,   ///< batch t equals the site's batch in step t of synchronous training
    passes,  ///< `batch` samples each; the last batch of a pass may have fewer (McMahan et al., FedAvg)
  };
  SiteBatches(How how, const spec::TrainingSpec& training, const models::Partition& partition, std::size_t site,
              std::uint64_t seed);

  /// Returns the indices of the samples of batch `number`, from 0.
  std::vector<std::int32_t> operator[](std::int64_t number);
  /// Returns the number of samples in batch `number`.
  std::int64_t size(std::int64_t number) const;
  /// Returns the mean number of samples per batch.
  double expected() const { return static_cast<double>(samples_.size()) / static_cast<double>(per_pass()); }
  /// Returns the number of batches in a pass over the site's samples; the mean, if batches of synchronous training have
  /// varying sizes.
  std::int64_t per_pass() const;

 private:
  struct BatchRange {
    std::int64_t pass, begin, end;
  };
  BatchRange range(std::int64_t number) const;
  bool by_chance() const { return training_.batches == spec::TrainingSpec::Batches::poisson; }
  std::vector<std::int32_t> drawn(std::int64_t number) const;
  const std::vector<std::int32_t>& order(std::int64_t pass);

  How how_;
  spec::TrainingSpec training_;
  const std::vector<std::int32_t>& samples_;
  std::size_t site_;
  std::uint64_t seed_;
  std::int64_t steps_per_epoch_ = 1;  ///< steps per epoch of synchronous training
  std::vector<std::int32_t> order_;
  std::int64_t pass_ = -1;  ///< pass that `order_` belongs to
};

}  // namespace dadsim::protocols
