#pragma once

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/run_of.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/gemm/work_count.hpp"
#include "schedule/schedule.hpp"
#include "support/random.hpp"

namespace dadsim::test {

/// One step of one algorithm on random data, and all results that laws check.
struct OneStep {
  struct Setup {
    std::vector<std::int64_t> widths{12, 20, 9, 5};  ///< units: features, hidden layers, classes
    spec::Activation activation = spec::Activation::relu;
    bool bias = true;
    std::vector<std::int32_t> rows{6, 6};  ///< samples per site
    spec::ExchangeMode exchange = spec::ExchangeMode::aggregator;
    spec::ParameterValues parameters;  ///< values of some parameters; the others have their defaults
    spec::CompressSpec compress;
    std::vector<spec::ShareRule> share;
    std::uint64_t seed = 7;
    std::vector<std::size_t> site_order;  ///< permutation of the sites' data; empty: unchanged
    bool zero_inputs = false;
    std::optional<spec::ModelSpec> model;  ///< replaces `widths`, `activation` and `bias`; its samples have the shape
                                           ///< `sample`
    spec::SampleShape sample{};
  };

  models::Gradient gradient;
  step::StepStructure structure;
  step::StepSizes sizes;
  spec::ModelShape shape;
  std::vector<double> uplink_bytes;
  double downlink_bytes = 0;
  algorithms::StepRanks ranks;
  double multiply_adds = 0;  ///< multiply-adds of all executed matrix products

  OneStep(const std::string& algorithm, const Setup& setup) {
    const algorithms::SynchronousMethod& info = algorithms::algorithm_registry().at(algorithm);
    const spec::SampleShape sample = setup.model ? setup.sample : spec::SampleShape{1, 1, setup.widths.front()};
    models::Network network(sample, setup.model ? *setup.model : mlp(setup), setup.seed);
    RandomStream random(setup.seed, Purpose::test);
    boost::random::normal_distribution<float> normal;
    // Biases of 0 and gains of 1 would hide mistakes, so both are drawn.
    for (models::WeightsOf<float>& weights : network.parameters().matrices) {
      for (float& b : weights.bias) b = 0.1F * normal(random);
    }
    for (models::Vector& vector : network.parameters().vectors) {
      for (float& x : vector) x += 0.1F * normal(random);
    }
    shape = network.shape();

    const auto total = std::accumulate(setup.rows.begin(), setup.rows.end(), 0);
    const auto draw = [&](std::int64_t count) {
      return boost::random::uniform_int_distribution<std::int32_t>(0, static_cast<std::int32_t>(count) - 1)(random);
    };
    models::Samples samples;
    samples.features.resize(total, sample.size());
    for (float& x : samples.features.reshaped()) {
      x = sample.vocabulary > 0 ? static_cast<float>(draw(sample.vocabulary)) : normal(random);
    }
    if (setup.zero_inputs) samples.features.setZero();
    samples.labels_per_sample = network.output_shape().positions();
    for (std::int64_t i = 0; i < total * samples.labels_per_sample; ++i) {
      samples.labels.push_back(draw(network.output_shape().channels));
    }

    std::vector<std::size_t> order = setup.site_order;
    if (order.empty()) {
      order.resize(setup.rows.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
    }
    std::vector<std::vector<std::int32_t>> rows_of(setup.rows.size());
    std::int32_t next = 0;
    for (std::size_t site = 0; site < rows_of.size(); ++site) {
      for (std::int32_t i = 0; i < setup.rows[site]; ++i) rows_of[site].push_back(next++);
    }
    std::vector<std::vector<std::int32_t>> batch;
    for (const std::size_t site : order) batch.push_back(rows_of[site]);
    if (info.sharing == algorithms::Sharing::pooled) {
      std::vector<std::vector<std::int32_t>> all(1);
      for (const auto& site : batch) all[0].insert(all[0].end(), site.begin(), site.end());
      batch = std::move(all);
    }

    algorithms::TrainingStep step(network, setup.exchange, setup.seed, setup.compress);
    step.begin(0, samples, batch);
    spec::RunSpec run = run_of(algorithm, setup.exchange, setup.parameters);
    run.share = setup.share;
    const std::unique_ptr<algorithms::Algorithm> instance = make_algorithm(info, run);
    const std::uint64_t before = models::multiply_adds_done();
    algorithms::run_step(info, *instance, step);
    multiply_adds = static_cast<double>(models::multiply_adds_done() - before);
    gradient = step.gradient();
    uplink_bytes = step.exchange().uplink_bytes();
    downlink_bytes = step.exchange().downlink_bytes();
    ranks = step.ranks();
    std::tie(structure, sizes) = step.recorder().take();
  }

  /// Returns the largest difference to another gradient, relative to the largest entry of the other's layer.
  double relative_difference(const OneStep& other) const {
    double worst = 0;
    const auto compare = [&](const auto& ours, const auto& theirs, double scale) {
      worst = ours.size() != theirs.size() ? 1e9
              : ours.size() == 0           ? worst
                                           : std::max(worst, (ours - theirs).cwiseAbs().maxCoeff() / scale);
    };
    for (std::size_t l = 0; l < gradient.matrices.size(); ++l) {
      const models::LayerGradient& theirs = other.gradient.matrices[l];
      const double scale = theirs.weight.cwiseAbs().maxCoeff();
      compare(gradient.matrices[l].weight, theirs.weight, scale);
      compare(gradient.matrices[l].bias, theirs.bias, scale);
    }
    for (std::size_t v = 0; v < gradient.vectors.size(); ++v) {
      const models::Vector& theirs = other.gradient.vectors[v];
      compare(gradient.vectors[v], theirs, theirs.cwiseAbs().maxCoeff());
    }
    return worst;
  }

  /// Recorded bytes per worker: sent by collectives, and by the aggregator to each worker.
  struct Recorded {
    std::vector<double> over;
    double down = 0;
  };
  Recorded recorded(const spec::ModelShape& timed, double sample_scale = 1) const {
    const schedule::Schedule schedule = schedule::instantiate(structure, sizes, shape, timed, sample_scale);
    Recorded bytes{std::vector<double>(schedule.workers, 0.0), 0};
    for (const schedule::Task& task : schedule.tasks) {
      if (const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what)) {
        if (collective->kind == step::CollectiveKind::broadcast) {
          bytes.down += collective->bytes[0];
        } else {
          // In an all-to-all, a worker sends these bytes to every other worker.
          const bool to_all = collective->kind == step::CollectiveKind::all_to_all;
          const double times = to_all ? static_cast<double>(schedule.workers - 1) : 1.0;
          for (std::size_t w = 0; w < schedule.workers; ++w) bytes.over[w] += times * collective->bytes[w];
        }
      }
    }
    return bytes;
  }
  Recorded recorded() const { return recorded(shape); }

 private:
  static spec::ModelSpec mlp(const Setup& setup) {
    spec::ModelSpec model;
    for (std::size_t l = 1; l < setup.widths.size(); ++l) {
      const bool last = l + 1 == setup.widths.size();
      model.layers.push_back(
          spec::DenseSpec{setup.widths[l], last ? spec::Activation::identity : setup.activation, setup.bias});
    }
    return model;
  }
};

}  // namespace dadsim::test
