#include "algorithms/training_step.hpp"

#include <stdexcept>

namespace dadsim {

TrainingStep::TrainingStep(const Network& network, const ModelShape& shape, Topology topology, std::uint64_t seed)
    : network_(network), exchange_(recorder_, shape, topology), seed_(seed), gradient_(network.layers()) {}

void TrainingStep::begin(std::int64_t number, const Samples& samples,
                         const std::vector<std::vector<std::int32_t>>& batch) {
  number_ = number;
  offsets_.assign(1, 0);
  std::vector<std::int32_t> rows_per_site;
  for (const auto& site : batch) {
    rows_per_site.push_back(static_cast<std::int32_t>(site.size()));
    offsets_.push_back(offsets_.back() + rows_per_site.back());
  }
  if (offsets_.back() == 0) throw std::logic_error("a step without rows");
  // Gathered where the forward pass looks for it.
  tape_.activations.resize(layers() + 1);
  Matrix& inputs = tape_.activations.front();
  inputs.resize(offsets_.back(), samples.features.cols());
  labels_.clear();
  for (const auto& site : batch) {
    for (const std::int32_t sample : site) {
      inputs.row(static_cast<Eigen::Index>(labels_.size())) = samples.features.row(sample);
      labels_.push_back(samples.labels[static_cast<std::size_t>(sample)]);
    }
  }
  recorder_.begin(std::move(rows_per_site));
  exchange_.begin_step();
  ranks_ = {};
}

void TrainingStep::forward() {
  recorder_.begin_sweep(Over::layers_forward);
  for (std::size_t l = 0; l < layers(); ++l) {
    recorder_.begin_group(static_cast<std::int32_t>(l));
    compute(Phase::forward, Role::workers, {cost::forward(cost::Span::own_rows)}, false, true);
  }
  network_.forward(inputs(0), tape_);
  at_last_layer([&] { compute(Phase::loss, Role::workers, {cost::loss()}); });
  loss_ = network_.loss(labels_, static_cast<float>(inputs(0).rows()), tape_);
}

void TrainingStep::backward(const std::function<void(std::size_t layer)>& body) {
  recorder_.begin_sweep(Over::layers_backward);
  for (std::size_t l = layers(); l-- > 0;) {
    recorder_.begin_group(static_cast<std::int32_t>(l));
    body(l);
  }
}

void TrainingStep::at_last_layer(const std::function<void()>& body) {
  recorder_.begin_sweep(Over::last_layer);
  recorder_.begin_group(-1);
  body();
}

void TrainingStep::propagate(std::size_t layer) {
  compute(Phase::propagate, Role::workers, {cost::propagate(cost::Span::own_rows)}, true, true);
  if (layer > 0) network_.propagate(layer, tape_);
}

void TrainingStep::record_weight_gradient() {
  compute(Phase::weight_gradient, Role::workers, {cost::weight_gradient(cost::Span::own_rows)});
}

void TrainingStep::add_weight_gradient(std::size_t site, std::size_t layer, LayerGradient& sum) const {
  if (rows(site) == 0) return;
  const ConstBlock d = delta(site, layer);
  sum.weight.noalias() += d.transpose() * input(site, layer);
  if (sum.bias.size() > 0) sum.bias += d.colwise().sum().transpose();
}

void TrainingStep::compute(Phase phase, Role who, std::vector<Work> branches, bool except_first_layer,
                           bool every_layer) {
  recorder_.add(ComputeOp{phase, who, std::move(branches), except_first_layer, every_layer});
}

ConstBlock TrainingStep::input(std::size_t site, std::size_t layer) const {
  return tape_.activations[layer].middleRows(offset(site), rows(site));
}

ConstBlock TrainingStep::delta(std::size_t site, std::size_t layer) const {
  return tape_.deltas[layer].middleRows(offset(site), rows(site));
}

}  // namespace dadsim
