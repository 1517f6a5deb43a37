#include "algorithms/training_step.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/gemm/work_count.hpp"

namespace dadsim::algorithms {

TrainingStep::TrainingStep(const models::Network& network, spec::ExchangeMode mode, std::uint64_t seed,
                           const spec::CompressSpec& compress)
    : network_(network), exchange_(recorder_, network.shape(), mode, compress, seed), seed_(seed) {
  for (const bool embedding : {false, true}) {
    for (std::size_t m = 0; m < network.layers(); ++m) {
      if (network.layer(m).embedding == embedding) matrix_.push_back(m);
    }
    if (!embedding) layers_ = matrix_.size();
  }
  gradient_.matrices.resize(network.layers());
}

void TrainingStep::begin(std::int64_t number, const models::Samples& samples,
                         const std::vector<std::vector<std::int32_t>>& batch) {
  number_ = number;
  offsets_.assign(1, 0);
  std::vector<std::int32_t> samples_per_site;
  for (const auto& site : batch) {
    samples_per_site.push_back(static_cast<std::int32_t>(site.size()));
    offsets_.push_back(offsets_.back() + samples_per_site.back());
  }
  if (offsets_.back() == 0) throw std::logic_error("a step without samples");
  // Gathered where the forward pass looks for it.
  if (tape_.values.empty()) tape_.values.resize(1);
  models::Matrix& inputs = tape_.inputs();
  inputs.resize(offsets_.back(), samples.features.cols());
  labels_.clear();
  Eigen::Index row = 0;
  for (const auto& site : batch) {
    for (const std::int32_t sample : site) {
      inputs.row(row++) = samples.features.row(sample);
      const auto first = samples.labels.begin() + sample * samples.labels_per_sample;
      labels_.insert(labels_.end(), first, first + samples.labels_per_sample);
    }
  }
  recorder_.begin(std::move(samples_per_site));
  exchange_.begin_step(number);
  ranks_ = {};
  passed_ = false;
  rest_ = -1;
}

std::optional<spec::Activation> TrainingStep::chained(std::size_t l) const {
  // A table between two matrices would not be passed by Δ.
  if (l + 1 >= layers_ || matrix_[l + 1] != matrix_[l] + 1) return std::nullopt;
  return network_.chained(matrix_[l]);
}

void TrainingStep::forward() {
  recorder_.begin_sweep(step::Over::layers_forward);
  for (std::size_t l = 0; l < layers_; ++l) {
    recorder_.begin_group(static_cast<std::int32_t>(l));
    charge(step::Phase::forward, step::Role::workers, {cost::forward(cost::Span::own_rows)}, false, true);
  }
  const models::Pass pass{
      .training = true, .sites = offsets_, .seed = seed_, .step = static_cast<std::uint32_t>(number_)};
  network_.forward(tape_.inputs(), pass, tape_);
  at_last_layer([&] { charge(step::Phase::loss, step::Role::workers, {cost::loss()}); });
  std::vector<float> weights;
  if (!site_weights_.empty()) {
    const auto per_sample = static_cast<Eigen::Index>(labels_.size()) / offsets_.back();
    for (std::size_t site = 0; site < sites(); ++site) {
      weights.insert(weights.end(), static_cast<std::size_t>(samples(site) * per_sample), site_weights_.at(site));
    }
  }
  loss_ = network_.loss(labels_, static_cast<float>(labels_.size()), tape_, weights);
}

void TrainingStep::backward(const std::function<void(std::size_t l)>& body) { sweep(false, body); }

void TrainingStep::backward_with_embeddings(const std::function<void(std::size_t l)>& body) { sweep(true, body); }

void TrainingStep::sweep(bool embeddings, const std::function<void(std::size_t l)>& body) {
  std::vector<std::size_t> order(embeddings ? matrices() : layers_);
  for (std::size_t l = 0; l < order.size(); ++l) order[l] = l;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return matrix_[a] > matrix_[b]; });
  recorder_.begin_sweep(step::Over::layers_backward, embeddings);
  for (const std::size_t l : order) {
    // Groups are numbered among the matrices that the sweep goes over, in the order of the forward pass.
    recorder_.begin_group(static_cast<std::int32_t>(embeddings ? matrix_[l] : l));
    body(l);
  }
  if (passed_ && rest_ < 0) sum_the_rest(embeddings);
}

void TrainingStep::at_last_layer(const std::function<void()>& body) {
  recorder_.begin_sweep(step::Over::last_layer);
  recorder_.begin_group(-1);
  body();
}

void TrainingStep::backpropagate(std::size_t l) {
  charge(step::Phase::backpropagate, step::Role::workers, {cost::backpropagate(cost::Span::own_rows)}, true, true);
  network_.backpropagate(matrix_[l], tape_);
  if (l == 0) passed_ = true;
}

TrainingStep::GradientOfSite TrainingStep::site_gradients(std::size_t l) {
  charge(step::Phase::weight_gradient, step::Role::workers, {cost::weight_gradient(cost::Span::own_rows)});
  return [this, l](std::size_t site, models::LayerGradient& sum) { add_gradient(site, l, sum); };
}

void TrainingStep::add_gradient(std::size_t site, std::size_t l, models::LayerGradient& sum) const {
  if (samples(site) == 0) return;
  if (is_embedding(l)) {
    network_.add_embedding_gradient(matrix_[l], tape_, offsets_[site], samples(site), sum.weight);
    return;
  }
  const models::ConstBlock d = delta(site, l);
  sum.weight.noalias() += models::counted(d.transpose() * input(site, l));
  if (sum.bias.size() > 0) sum.bias += d.colwise().sum().transpose();
}

void TrainingStep::form_gradient(std::size_t l) {
  charge(step::Phase::weight_gradient, step::Role::workers, {cost::weight_gradient(cost::Span::own_rows)});
  form_own_gradient(l);
}

void TrainingStep::form_own_gradient(std::size_t l) {
  models::LayerGradient& sum = gradient(l);
  if (is_embedding(l)) {
    sum.weight.setZero(weights(l).out(), weights(l).in());
    network_.add_embedding_gradient(matrix_[l], tape_, 0, offsets_.back(), sum.weight);
    return;
  }
  models::weight_gradient<float>(deltas(l), inputs(l), weights(l).has_bias(), sum);
}

void TrainingStep::form_gradient_of_rows(std::size_t l, const models::Matrix& deltas, const models::Matrix& inputs) {
  charge(step::Phase::weight_gradient, step::Role::workers, {cost::weight_gradient(cost::Span::all_rows)});
  models::weight_gradient<float>(deltas, inputs, weights(l).has_bias(), gradient(l));
}

models::Matrix TrainingStep::preactivations_of_rows(std::size_t l, spec::Activation activation,
                                                    const models::Matrix& inputs) {
  charge(step::Phase::forward, step::Role::workers, {cost::forward(cost::Span::all_rows)});
  models::Matrix pre_activation;
  models::forward_rows<float>(weights(l), activation, inputs, &pre_activation);
  return pre_activation;
}

models::Matrix TrainingStep::backpropagate_rows(std::size_t l, const models::Matrix& deltas) {
  charge(step::Phase::backpropagate, step::Role::workers, {cost::backpropagate(cost::Span::all_rows)}, true, true);
  models::Matrix below;
  if (l > 0) below = models::counted(deltas * weights(l).weight);
  return below;
}

void TrainingStep::charge(step::Phase phase, step::Role who, std::vector<step::Work> branches, bool except_first_layer,
                          bool every_layer) {
  recorder_.add(step::ComputeOp{phase, who, std::move(branches), except_first_layer, every_layer});
}

models::ConstBlock TrainingStep::input(std::size_t site, std::size_t l) const {
  const models::RowsOf<float> all = inputs(l);
  const Eigen::Index per_sample = all.rows() / offsets_.back();
  return all.middleRows(offsets_[site] * per_sample, samples(site) * per_sample);
}

models::ConstBlock TrainingStep::delta(std::size_t site, std::size_t l) const {
  const models::RowsOf<float> all = deltas(l);
  const Eigen::Index per_sample = all.rows() / offsets_.back();
  return all.middleRows(offsets_[site] * per_sample, samples(site) * per_sample);
}

void TrainingStep::sum_the_rest(bool embeddings_seen_to) {
  // Linear in the rows of the sites, and so summed over them already.
  gradient_.vectors = tape_.vector_gradients;
  std::vector<const models::Matrix*> embeddings;
  if (!embeddings_seen_to) {
    for (std::size_t l = layers_; l < matrices(); ++l) {
      form_own_gradient(l);
      embeddings.push_back(&gradient(l).weight);
    }
  }
  rest_ = sharing_ ? exchange_.sum_other_layers(gradient_.vectors, embeddings, embeddings_seen_to) : 0;
}

void TrainingStep::finish() {
  if (rest_ < 0) throw std::logic_error("an algorithm that has not gone through the backward pass");
  if (!sharing_) return;
  recorder_.begin_sweep(step::Over::other_layers);
  recorder_.begin_group(-1);
  recorder_.add(step::WaitOp{step::Role::workers, rest_});
}

}  // namespace dadsim::algorithms
