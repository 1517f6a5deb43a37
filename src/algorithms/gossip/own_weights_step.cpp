#include "algorithms/gossip/own_weights_step.hpp"

#include <utility>

#include "algorithms/cost.hpp"
#include "algorithms/local_gradient.hpp"
#include "support/parallel.hpp"

namespace dadsim::algorithms {
namespace {

/// x_i ← W_ii x_i + Σ_j W_ij x_j: every neighbour's numbers are read once and added.
step::Work mixing_work(std::size_t most_neighbours) {
  const auto neighbours = static_cast<double>(most_neighbours);
  return {.flops = (2.0 * neighbours + 1.0) * step::extent::parameters(),
          .bytes_moved = 4.0 * (neighbours + 2.0) * step::extent::parameters(),
          .launches = neighbours + 1.0};
}

}  // namespace

OwnWeightsStep::OwnWeightsStep(const LearningProblem& problem, const spec::RunSpec& run)
    : samples_(problem.data.train),
      graph_(std::make_shared<const step::Neighbours>(
          graphs().at(run.parameters.at("graph")).make(problem.partition.size(), problem.seed))),
      weights_(mixing_weights(*graph_)),
      exchange_(recorder_, (sites_.push_back(std::make_unique<Site>(problem)), sites_.front()->network.shape()),
                spec::ExchangeMode::peer, run.compress, problem.seed),
      update_(cost::update(models::update_floats_per_parameter(problem.training.optimizer),
                           models::update_flops_per_parameter(problem.training.optimizer))) {
  while (sites_.size() < problem.partition.size()) sites_.push_back(std::make_unique<Site>(problem));
  for (const auto& senders : weights_.from) most_neighbours_ = std::max(most_neighbours_, senders.size());
}

void OwnWeightsStep::begin(std::int64_t number, double rate, const std::vector<std::vector<std::int32_t>>& batch) {
  number_ = number;
  rate_ = rate;
  batch_ = batch;
  std::vector<std::int32_t> samples;
  for (const auto& site : batch) samples.push_back(static_cast<std::int32_t>(site.size()));
  recorder_.begin(std::move(samples));
  exchange_.begin_step(number);
  loss_ = 0;
}

void OwnWeightsStep::compute_gradients() {
  parallel_for(sites(), [&](std::size_t i) {
    Site& site = *sites_[i];
    if (batch_[i].empty()) return;
    site.step.begin(number_, samples_, {batch_[i]});
    site.step.set_sharing(false);
    LocalGradient().run(site.step);
    site.step.finish();
  });
  // Every site records the same structure for its own rows.
  std::size_t all = 0;
  for (const auto& batch : batch_) all += batch.size();
  bool recorded = false;
  for (std::size_t i = 0; i < sites(); ++i) {
    if (batch_[i].empty()) continue;
    loss_ += sites_[i]->step.loss() * static_cast<float>(batch_[i].size()) / static_cast<float>(all);
    const step::StepStructure structure = sites_[i]->step.recorder().take().first;
    if (!std::exchange(recorded, true)) recorder_.append(structure);
  }
}

void OwnWeightsStep::apply_gradients() {
  std::size_t all = 0;
  for (const auto& batch : batch_) all += batch.size();
  for_each_matrix(step::Over::layers_backward, [&](std::size_t) {
    recorder_.add(step::ComputeOp{step::Phase::update, step::Role::workers, {update_}, false, true});
  });
  parallel_for(sites(), [&](std::size_t i) {
    Site& site = *sites_[i];
    if (batch_[i].empty()) return;
    models::Gradient gradient = site.step.gradient();
    const float share = static_cast<float>(sites()) * static_cast<float>(batch_[i].size()) / static_cast<float>(all);
    if (share != 1.0F) {
      for (models::LayerGradient& layer : gradient.matrices) {
        layer.weight *= share;
        layer.bias *= share;
      }
      for (models::Vector& vector : gradient.vectors) vector *= share;
    }
    site.optimizer->update(site.network, gradient, rate_);
    site.network.update_running_statistics(site.step.tape());
  });
}

models::Matrix OwnWeightsStep::row_of(const Site& site, std::size_t matrix) const {
  const models::WeightsOf<float>& weights = site.network.layer(matrix);
  models::Matrix row(1, weights.weight.size() + weights.bias.size());
  row.leftCols(weights.weight.size()) = weights.weight.reshaped<Eigen::RowMajor>().transpose();
  row.rightCols(weights.bias.size()) = weights.bias.transpose();
  return row;
}

models::Matrix OwnWeightsStep::rest_of(const Site& site) const {
  Eigen::Index size = 0;
  for (const models::Vector& vector : site.network.parameters().vectors) size += vector.size();
  models::Matrix row(1, size);
  Eigen::Index at = 0;
  for (const models::Vector& vector : site.network.parameters().vectors) {
    row.middleCols(at, vector.size()) = vector.transpose();
    at += vector.size();
  }
  return row;
}

void OwnWeightsStep::for_each_matrix(step::Over over, const std::function<void(std::size_t matrix)>& body) {
  recorder_.begin_sweep(over, true);
  for (std::size_t m = sites_.front()->network.layers(); m-- > 0;) {
    recorder_.begin_group(static_cast<std::int32_t>(m));
    body(m);
  }
}

void OwnWeightsStep::send_weights() {
  const std::size_t matrices = sites_.front()->network.layers();
  sent_.assign(matrices, {});
  received_.clear();
  received_.resize(matrices);
  const auto send = [&](std::vector<models::Matrix>& own) {
    return exchange_.neighbours(graph_, step::extent::parameters(),
                                [&](std::size_t site) { return models::ConstBlock(own[site]); });
  };
  for_each_matrix(step::Over::layers_backward, [&](std::size_t m) {
    for (const auto& site : sites_) sent_[m].push_back(row_of(*site, m));
    received_[m] = send(sent_[m]);
  });
  sent_rest_.clear();
  if (sites_.front()->network.parameters().vectors.empty()) return;
  for (const auto& site : sites_) sent_rest_.push_back(rest_of(*site));
  recorder_.begin_sweep(step::Over::other_layers);
  recorder_.begin_group(-1);
  received_rest_ = send(sent_rest_);
}

models::Matrix OwnWeightsStep::mixed(std::size_t site, const models::Matrix& own, const models::Matrix& sent,
                                     const std::vector<models::Matrix>& received) const {
  // Σ_j W_ij x_j = x_i + Σ_j W_ij (x_j − x_i): sites that agree stay as they are to the bit. What a gradient has
  // changed since the weights were sent is not mixed.
  models::Matrix sum = own;
  for (std::size_t k = 0; k < received.size(); ++k) sum += weights_.from[site][k].second * (received[k] - sent);
  return sum;
}

void OwnWeightsStep::mix() {
  const step::Work work = mixing_work(most_neighbours_);
  for_each_matrix(step::Over::layers_backward, [&](std::size_t m) {
    const auto& received = received_[m].wait();
    recorder_.add(step::ComputeOp{step::Phase::add, step::Role::workers, {work}});
    parallel_for(sites(), [&](std::size_t i) {
      const models::Matrix row = mixed(i, row_of(*sites_[i], m), sent_[m][i], received[i]);
      models::WeightsOf<float>& weights = sites_[i]->network.layer(m);
      weights.weight.reshaped<Eigen::RowMajor>() = row.leftCols(weights.weight.size()).transpose();
      weights.bias = row.rightCols(weights.bias.size()).transpose();
    });
  });
  if (sent_rest_.empty()) return;
  recorder_.begin_sweep(step::Over::other_layers);
  recorder_.begin_group(-1);
  const auto& received = received_rest_.wait();
  recorder_.add(step::ComputeOp{step::Phase::add, step::Role::workers, {work}});
  for (std::size_t i = 0; i < sites(); ++i) {
    const models::Matrix row = mixed(i, rest_of(*sites_[i]), sent_rest_[i], received[i]);
    Eigen::Index at = 0;
    for (models::Vector& vector : sites_[i]->network.parameters().vectors) {
      vector = row.middleCols(at, vector.size()).transpose();
      at += vector.size();
    }
  }
}

}  // namespace dadsim::algorithms
