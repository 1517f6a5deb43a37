#pragma once

#include <cstdint>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/network.hpp"
#include "step/leak.hpp"

namespace dadsim::algorithms {

/// Input rows of the first matrix that multiplies rows, computed from samples by the layers before it.
class SampleRows {
 public:
  SampleRows(const models::Dataset& data, const models::Partition& partition, const models::Network& network);

  /// Returns the number of inputs of the first matrix that multiplies rows.
  Eigen::Index inputs() const { return inputs_; }
  Eigen::Index outputs() const { return outputs_; }
  Eigen::Index rows_per_sample() const { return per_sample_; }
  /// Returns the number of inputs of the last matrix that multiplies rows.
  Eigen::Index last_inputs() const { return last_inputs_; }
  std::size_t matrix() const { return matrix_; }  ///< number of the first matrix in the network
  /// Returns whether a table precedes the first matrix that multiplies rows, so that samples are symbols.
  bool has_table() const { return table_; }

  /// Returns whether rows are unchanged samples.
  bool are_samples() const { return as_they_are_; }
  /// Returns whether rows are unchanged images.
  bool are_images() const { return as_they_are_ && data_.shape.height > 1 && data_.shape.width > 1; }
  /// Returns the image of a site's sample, with `share` of it revealed as `shown`. *Requires* are_images().
  step::ShownImage image(std::int64_t step, std::size_t site, std::int32_t sample, double share,
                         std::vector<float> shown) const;

  /// Returns the rows of samples of the training data, or of the held-back data.
  models::Matrix of(const std::vector<std::int32_t>& samples, const models::Network& network,
                    bool held_back = false) const;
  /// Returns the mean row of a site, over at most 256 evenly spread samples.
  const models::Vector& mean(std::size_t site, const models::Network& network);
  /// Returns the unchanged samples.
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

/// Difference above which one share counts as larger than another, beyond rounding.
inline constexpr double kMoreShown = 1e-6;

/// Samples that a batch is compared with; as many as the batch has.
struct ControlSamples {
  std::vector<std::int32_t> of_site;    ///< random samples of the same site outside the batch
  std::vector<std::int32_t> held_back;  ///< held-back samples with the labels of the batch, if the site has too few
                                        ///< others

  std::size_t size() const { return of_site.size() + held_back.size(); }
};
ControlSamples control_samples(const models::Dataset& data, const std::vector<std::int32_t>& site,
                               const std::vector<std::int32_t>& batch, std::uint64_t seed, std::size_t number,
                               std::int64_t step);
/// Returns the rows of control samples, stacked.
models::Matrix rows_of(const ControlSamples& control, const SampleRows& rows, const models::Network& network);

}  // namespace dadsim::algorithms
