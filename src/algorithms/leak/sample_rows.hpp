#pragma once

#include <cstdint>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/network.hpp"
#include "step/leak.hpp"

namespace dadsim::algorithms {

/// The input rows of the first matrix that multiplies rows, for any samples: what its network makes of them before it.
class SampleRows {
 public:
  SampleRows(const models::Dataset& data, const models::Partition& partition, const models::Network& network);

  /// Of that matrix.
  Eigen::Index inputs() const { return inputs_; }
  Eigen::Index outputs() const { return outputs_; }
  Eigen::Index rows_per_sample() const { return per_sample_; }
  /// Inputs of the last matrix that multiplies rows.
  Eigen::Index last_inputs() const { return last_inputs_; }
  std::size_t matrix() const { return matrix_; }  ///< its number in the network
  /// Whether a table is read in front of it: samples are symbols then.
  bool has_table() const { return table_; }

  /// Whether rows are samples as they are.
  bool are_samples() const { return as_they_are_; }
  /// Whether rows are images as they are.
  bool are_images() const { return as_they_are_ && data_.shape.height > 1 && data_.shape.width > 1; }
  /// That sample of a site, of which `share` was shown as `shown`; only where are_images().
  step::ShownImage image(std::int64_t step, std::size_t site, std::int32_t sample, double share,
                         std::vector<float> shown) const;

  /// Of samples of the training data, or of those that are held back.
  models::Matrix of(const std::vector<std::int32_t>& samples, const models::Network& network,
                    bool held_back = false) const;
  /// The mean row of a site, of 256 of its samples, evenly spread, where it has more.
  const models::Vector& mean(std::size_t site, const models::Network& network);
  /// The samples as they are.
  models::Matrix features(const std::vector<std::int32_t>& samples, bool held_back = false) const;

 private:
  const models::Dataset& data_;
  const models::Partition& partition_;
  std::size_t matrix_ = 0;
  Eigen::Index inputs_ = 0, outputs_ = 0, per_sample_ = 1, last_inputs_ = 0;
  bool table_ = false;
  bool as_they_are_ = false;  ///< rows are samples
  std::vector<models::Vector> means_;
};

/// One share is larger than another where it is so by more than rounding.
inline constexpr double kMoreShown = 1e-6;

/// Samples that a batch is compared with, as many as it has.
struct ControlSamples {
  std::vector<std::int32_t> of_site;    ///< of the same site, at random, not in the batch
  std::vector<std::int32_t> held_back;  ///< where it has no more: held-back ones, with the labels of the batch

  std::size_t size() const { return of_site.size() + held_back.size(); }
};
ControlSamples control_samples(const models::Dataset& data, const std::vector<std::int32_t>& site,
                               const std::vector<std::int32_t>& batch, std::uint64_t seed, std::size_t number,
                               std::int64_t step);
/// Their rows, one below the other.
models::Matrix rows_of(const ControlSamples& control, const SampleRows& rows, const models::Network& network);

}  // namespace dadsim::algorithms
