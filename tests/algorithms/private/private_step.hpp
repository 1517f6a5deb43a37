#pragma once

#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/one_step.hpp"

namespace dadsim::test {

inline constexpr spec::ExchangeMode kPeer = spec::ExchangeMode::peer;
inline constexpr spec::ExchangeMode kAggregator = spec::ExchangeMode::aggregator;

/// Returns all values that a step releases, as one vector in double precision.
inline std::vector<double> flattened(const models::Gradient& gradient) {
  std::vector<double> all;
  for (const models::LayerGradient& layer : gradient.matrices) {
    for (const float x : layer.weight.reshaped()) all.push_back(x);
    for (const float x : layer.bias) all.push_back(x);
  }
  return all;
}

inline double norm_of(const std::vector<double>& numbers) {
  return std::sqrt(std::inner_product(numbers.begin(), numbers.end(), numbers.begin(), 0.0));
}

inline spec::ModelSpec lenet_in_small() {
  return {.name = "convolutional",
          .layers = {spec::ConvolutionSpec{.filters = 4, .kernel = 3, .stride = 1, .padding = 1}, spec::PoolSpec{},
                     spec::ConvolutionSpec{.filters = 5, .kernel = 3, .stride = 1, .padding = 0},
                     spec::DenseSpec{.units = 4, .activation = spec::Activation::identity}}};
}

inline spec::ModelSpec gru_in_small() {
  return {.name = "recurrent",
          .layers = {spec::RecurrentSpec{.cell = spec::RecurrentSpec::Cell::gru, .units = 6, .bias = true},
                     spec::SelectSpec{.last = true},
                     spec::DenseSpec{.units = 4, .activation = spec::Activation::identity}}};
}

/// A network whose examples have one row, a few rows, or many.
struct PrivateNetwork {
  std::string name;
  spec::SampleShape sample;
  spec::ModelSpec model;
};
inline std::vector<PrivateNetwork> private_networks() {
  const spec::ModelSpec mlp{
      .name = "dense",
      .layers = {spec::DenseSpec{30, spec::Activation::tanh, true}, spec::DenseSpec{20, spec::Activation::relu, false},
                 spec::DenseSpec{4, spec::Activation::identity, true}}};
  return {{"dense", {1, 1, 25}, mlp},
          {"convolutional", {.height = 8, .width = 8, .channels = 3}, lenet_in_small()},
          {"recurrent", {.height = 1, .width = 9, .channels = 5}, gru_in_small()}};
}

/// A step over drawn examples of any size; the algorithm gets no facts about the run.
struct PrivateStep {
  models::Network network;
  models::Samples samples;
  algorithms::TrainingStep step;
  std::vector<std::vector<std::int32_t>> batch;

  PrivateStep(const PrivateNetwork& of, std::vector<std::int32_t> rows, float size, spec::ExchangeMode mode = kPeer,
              std::uint64_t seed = 5)
      : network(of.sample, of.model, 3), step(network, mode, seed) {
    RandomStream random(9, Purpose::test);
    boost::random::normal_distribution<float> normal;
    const auto all = std::accumulate(rows.begin(), rows.end(), 0);
    samples.features.resize(all, of.sample.size());
    for (float& x : samples.features.reshaped()) x = size * normal(random);
    std::int32_t next = 0;
    for (const std::int32_t count : rows) {
      auto& site = batch.emplace_back();
      for (std::int32_t i = 0; i < count; ++i) {
        site.push_back(next);
        samples.labels.push_back(next++ % 4);
      }
    }
  }
  models::Gradient run(const std::string& algorithm, const spec::ParameterValues& given, std::int64_t number = 0) {
    const algorithms::SynchronousMethod& info = algorithms::algorithm_registry().at(algorithm);
    const std::unique_ptr<algorithms::Algorithm> instance = make_algorithm(info, given);
    step.begin(number, samples, batch);
    algorithms::run_step(info, *instance, step);
    return step.gradient();
  }
  /// Returns the gradient that the step would apply for this example alone.
  models::Gradient of_example(std::int32_t example, const std::string& algorithm, const spec::ParameterValues& given) {
    const auto all = std::exchange(batch, {{example}});
    const models::Gradient gradient = run(algorithm, given);
    batch = all;
    return gradient;
  }
};

}  // namespace dadsim::test
