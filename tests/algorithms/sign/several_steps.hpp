#pragma once

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <memory>
#include <vector>

#include "algorithms/registry.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/optimizer.hpp"
#include "support/random.hpp"

namespace dadsim::test {

/// Takes several steps of one algorithm on the same weights, each with other rows.
class SeveralSteps {
 public:
  SeveralSteps(algorithms::Algorithm& algorithm, spec::ExchangeMode mode, std::vector<int> rows,
               const spec::CompressSpec& compress = {})
      : algorithm_(algorithm), rows_(std::move(rows)), step_(network_, mode, kSeed, compress) {
    RandomStream random(kSeed, Purpose::test);
    boost::random::normal_distribution<float> normal;
    samples_.features.resize(1000, 12);
    for (float& x : samples_.features.reshaped()) x = normal(random);
    boost::random::uniform_int_distribution<std::int32_t> label(0, 4);
    for (Eigen::Index i = 0; i < samples_.features.rows(); ++i) samples_.labels.push_back(label(random));
  }

  algorithms::UpdateRule rule;
  bool repeats = false;  ///< every step uses the rows of the first

  /// Takes the next step; sites that are not in `attendees` miss it.
  algorithms::TrainingStep& next(const algorithms::Attendees* attendees = nullptr) {
    std::vector<std::vector<std::int32_t>> batch;
    if (repeats) next_sample_ = 0;
    for (std::size_t i = 0; i < (attendees == nullptr ? rows_.size() : attendees->sites.size()); ++i) {
      const std::size_t site = attendees == nullptr ? i : static_cast<std::size_t>(attendees->sites[i]);
      auto& own = batch.emplace_back();
      for (int row = 0; row < rows_[site]; ++row) own.push_back(next_sample_++ % 1000);
    }
    step_.begin(number_++, samples_, batch, attendees);
    step_.set_update_rule(rule);
    algorithm_.run(step_);
    step_.finish();
    return step_;
  }
  models::Network& network() { return network_; }
  /// Returns the gradient that all sites would apply without compression.
  models::LayerGradient exact(std::size_t l) const {
    return models::weight_gradient<float>(step_.deltas(l), step_.inputs(l), true);
  }
  const spec::ModelShape& shape() const { return network_.shape(); }

  /// Returns a site's part of the gradient of matrix l in the last step. The parts of all sites add up to the gradient
  /// of all samples.
  models::LayerGradient of_site(std::size_t site, std::size_t l) const {
    const models::WeightsOf<float>& weights = step_.weights(l);
    models::LayerGradient own{models::Matrix::Zero(weights.out(), weights.in()),
                              models::Vector::Zero(weights.bias.size())};
    if (step_.samples(site) > 0) own = models::weight_gradient<float>(step_.delta(site, l), step_.input(site, l), true);
    return own;
  }

  static constexpr std::uint64_t kSeed = 11;

 private:
  models::Network network_{
      12,
      {.name = "",
       .layers = {spec::DenseSpec{20, spec::Activation::tanh, true}, spec::DenseSpec{9, spec::Activation::tanh, true},
                  spec::DenseSpec{5, spec::Activation::identity, true}}},
      kSeed};
  models::Samples samples_;
  algorithms::Algorithm& algorithm_;
  std::vector<int> rows_;
  algorithms::TrainingStep step_;
  std::int64_t number_ = 0;
  std::int32_t next_sample_ = 0;
};

}  // namespace dadsim::test
