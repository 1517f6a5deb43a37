#include "algorithms/step/training_step.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/gemm/work_count.hpp"

namespace dadsim::algorithms {
namespace {

/// Returns the rows of a site without samples.
models::ConstBlock no_rows(Eigen::Index columns) {
  static const float kNothing = 0;
  return Eigen::Map<const models::Matrix, 0, Eigen::OuterStride<>>(&kNothing, 0, columns,
                                                                   Eigen::OuterStride<>(columns));
}

}  // namespace

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
  frozen_.resize(network.layers());
  own_gradients_.resize(network.layers());
}

TrainingStep::TrainingStep(const models::Network& network, spec::ExchangeMode mode, const LearningProblem& problem,
                           const spec::CompressSpec& compress)
    : TrainingStep(network, mode, problem.seed, compress) {
  label_smoothing_ = static_cast<float>(problem.training.label_smoothing);
}

void TrainingStep::set_networks(std::vector<const models::Network*> of_sites) {
  networks_ = std::move(of_sites);
  tapes_ = std::vector<models::Tape>(networks_.size());
}

const models::Tape& TrainingStep::stacked() const {
  if (!networks_.empty()) throw std::logic_error("the rows of sites with networks of their own are not stacked");
  return tape_;
}

void TrainingStep::for_each_pass(
    const std::function<void(const models::Network& network, models::Tape& tape, Eigen::Index first,
                             Eigen::Index samples, std::size_t site)>& body) {
  if (networks_.empty()) return body(network_, tape_, 0, offsets_.back(), 0);
  for (std::size_t site = 0; site < sites(); ++site) {
    if (samples(site) > 0) body(*networks_.at(site), tapes_[site], offsets_[site], samples(site), site);
  }
}

void TrainingStep::begin(std::int64_t number, const models::Samples& samples,
                         const std::vector<std::vector<std::int32_t>>& batch, const Attendees* attendees) {
  number_ = number;
  if (attendees != nullptr) {
    attendees_ = attendees->sites;
    all_sites_ = attendees->all;
    site_weights_ = attendees->factors;
  }
  offsets_.assign(1, 0);
  std::vector<std::int32_t> samples_per_site;
  for (const auto& site : batch) {
    samples_per_site.push_back(static_cast<std::int32_t>(site.size()));
    offsets_.push_back(offsets_.back() + samples_per_site.back());
  }
  if (offsets_.back() == 0) throw std::logic_error("a step without samples");
  std::vector<std::int32_t> all;
  for (const auto& site : batch) all.insert(all.end(), site.begin(), site.end());
  // Gathers samples where the forward pass reads them.
  for_each_pass([&](const models::Network&, models::Tape& tape, Eigen::Index first, Eigen::Index count, std::size_t) {
    if (tape.values.empty()) tape.values.resize(1);
    tape.inputs().resize(count, samples.features.cols());
    for (Eigen::Index row = 0; row < count; ++row) {
      tape.inputs().row(row) = samples.features.row(all[static_cast<std::size_t>(first + row)]);
    }
  });
  labels_.clear();
  for (const auto& site : batch) {
    for (const std::int32_t sample : site) {
      const auto first = samples.labels.begin() + sample * samples.labels_per_sample;
      labels_.insert(labels_.end(), first, first + samples.labels_per_sample);
    }
  }
  recorder_.begin(std::move(samples_per_site));
  exchange_.begin_step(number, attendees_);
  ranks_ = {};
  frozen_.assign(frozen_.size(), false);
  for (auto& of_sites : own_gradients_) of_sites.clear();
  passed_ = false;
  stage_ = 0;
  rest_ = -1;
  rest_left_ = false;
  as_it_is_ = directions_ = false;
  transform_non_matrix_parameters_ = nullptr;
}

std::optional<spec::Activation> TrainingStep::chained(std::size_t l) const {
  // Excludes matrices with a table between them, through which Δ does not pass.
  if (l + 1 >= layers_ || matrix_[l + 1] != matrix_[l] + 1) return std::nullopt;
  return network_.chained(matrix_[l]);
}

void TrainingStep::forward() {
  recorder_.begin_sweep(step::Over::layers_forward);
  for (std::size_t l = 0; l < layers_; ++l) {
    recorder_.begin_group(static_cast<std::int32_t>(l));
    charge(step::Phase::forward, step::Role::workers, {cost::forward(cost::Span::own_rows)}, false, true);
  }
  for_each_pass([&](const models::Network& network, models::Tape& tape, Eigen::Index, Eigen::Index, std::size_t) {
    models::Pass pass{.training = true, .seed = seed_, .step = static_cast<std::uint32_t>(number_)};
    if (networks_.empty()) pass.sites = offsets_;
    network.forward(tape.inputs(), pass, tape);
  });
  at_last_layer([&] { charge(step::Phase::loss, step::Role::workers, {cost::loss()}); });
  loss_ = 0;
  for_each_pass([&](const models::Network& network, models::Tape& tape, Eigen::Index first, Eigen::Index count,
                    std::size_t) { loss_ += loss_of(network, tape, first, count); });
}

float TrainingStep::loss_of(const models::Network& network, models::Tape& tape) const {
  return loss_of(network, tape, 0, offsets_.back());
}

float TrainingStep::loss_of(const models::Network& network, models::Tape& tape, Eigen::Index first,
                            Eigen::Index count) const {
  std::vector<float> weights;
  if (!site_weights_.empty()) {
    const auto per_sample = static_cast<Eigen::Index>(labels_.size()) / offsets_.back();
    for (std::size_t site = 0; site < sites(); ++site) {
      weights.insert(weights.end(), static_cast<std::size_t>(samples(site) * per_sample), site_weights_.at(site));
    }
  }
  const auto labels = static_cast<std::size_t>(labels_.size() / static_cast<std::size_t>(offsets_.back()));
  const auto from = static_cast<std::size_t>(first) * labels;
  const auto size = static_cast<std::size_t>(count) * labels;
  const std::span<const float> of_pass =
      weights.empty() ? std::span<const float>() : std::span<const float>(weights).subspan(from, size);
  return network.loss(std::span<const std::int32_t>(labels_).subspan(from, size), static_cast<float>(labels_.size()),
                      tape, of_pass, label_smoothing_);
}

void TrainingStep::skip_non_matrix_parameters() {
  rest_left_ = true;
  gradient_.vectors.clear();
  for (const models::Vector& vector : network_.parameters().vectors) {
    gradient_.vectors.push_back(models::Vector::Zero(vector.size()));
  }
  for (std::size_t l = layers_; l < matrices(); ++l) {
    gradient(l).weight.setZero(weights(l).out(), weights(l).in());
  }
}

void TrainingStep::backward(const std::function<void(std::size_t l)>& body) { sweep(false, body); }

void TrainingStep::backward_with_embeddings(const std::function<void(std::size_t l)>& body) { sweep(true, body); }

void TrainingStep::stage_of_buckets(const std::function<void(std::size_t l)>& body) { sweep(true, body, ++stage_); }

void TrainingStep::together(const std::function<void(std::size_t l)>& body) { sweep(true, body, step::kTogether); }

void TrainingStep::sweep(bool embeddings, const std::function<void(std::size_t l)>& body, std::int32_t stage) {
  std::vector<std::size_t> order(embeddings ? matrices() : layers_);
  for (std::size_t l = 0; l < order.size(); ++l) order[l] = l;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return matrix_[a] > matrix_[b]; });
  recorder_.begin_sweep(step::Over::layers_backward, embeddings, stage);
  for (const std::size_t l : order) {
    // Groups are numbered among the matrices that the sweep goes over, in the order of the forward pass.
    recorder_.begin_group(static_cast<std::int32_t>(embeddings ? matrix_[l] : l));
    body(l);
  }
  if (passed_ && rest_ < 0) sum_non_matrix_parameters(embeddings);
}

void TrainingStep::at_last_layer(const std::function<void()>& body) {
  recorder_.begin_sweep(step::Over::last_layer);
  recorder_.begin_group(-1);
  body();
}

void TrainingStep::at_all_layers(const std::function<void()>& body) {
  recorder_.begin_sweep(step::Over::all_layers, true);
  recorder_.begin_group(-1);
  body();
}

void TrainingStep::backpropagate(std::size_t l) {
  charge(step::Phase::backpropagate, step::Role::workers, {cost::backpropagate(cost::Span::own_rows)}, true, true);
  for_each_pass([&](const models::Network& network, models::Tape& tape, Eigen::Index, Eigen::Index, std::size_t) {
    network.backpropagate(matrix_[l], tape);
  });
  if (l == 0) passed_ = true;
}

void TrainingStep::backpropagate_where_needed(std::size_t l) {
  charge(step::Phase::backpropagate, step::Role::workers,
         {cost::only_where(step::extent::delta_needed_below(), cost::backpropagate(cost::Span::own_rows))}, true, true);
  if (needs_delta_below(l)) network_.backpropagate(matrix_[l], tape_);
  if (l == 0) passed_ = true;
}

bool TrainingStep::needs_delta_below(std::size_t l) const {
  const spec::ModelShape& shape = network_.shape();
  std::size_t matrix = 0;
  for (std::size_t position = 0; position < shape.layers.size(); ++position) {
    if (!shape.layers[position].has_matrix() || matrix++ != matrix_[l]) continue;
    return spec::delta_relations(shape, position).needed_below;
  }
  throw std::logic_error("no such matrix");
}

TrainingStep::GradientOfSite TrainingStep::site_gradients(std::size_t l) {
  charge(step::Phase::weight_gradient, step::Role::workers, {cost::weight_gradient(cost::Span::own_rows)});
  return [this, l](std::size_t site, models::LayerGradient& sum) { add_gradient(site, l, sum); };
}

void TrainingStep::add_gradient(std::size_t site, std::size_t l, models::LayerGradient& sum) const {
  if (samples(site) == 0) return;
  if (is_embedding(l)) {
    const bool own = !networks_.empty();
    network_.add_embedding_gradient(matrix_[l], own ? tapes_[site] : tape_, own ? 0 : offsets_[site], samples(site),
                                    sum.weight);
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
    for_each_pass([&](const models::Network&, models::Tape& tape, Eigen::Index, Eigen::Index count, std::size_t) {
      network_.add_embedding_gradient(matrix_[l], tape, 0, count, sum.weight);
    });
    return;
  }
  network_.weight_gradient(matrix_[l], stacked(), sum);
}

void TrainingStep::form_gradient_of_rows(std::size_t l, const models::Matrix& deltas, const models::Matrix& inputs) {
  charge(step::Phase::weight_gradient, step::Role::workers, {cost::weight_gradient(cost::Span::all_rows)});
  models::weight_gradient<float>(deltas, inputs, weights(l).has_bias(), gradient(l));
}

models::Matrix TrainingStep::preactivations_of_rows(std::size_t l, spec::Activation activation,
                                                    const models::Matrix& inputs) {
  charge(step::Phase::forward, step::Role::workers,
         {cost::only_where(step::extent::delta_follows(), cost::forward(cost::Span::all_rows))});
  models::Matrix pre_activation;
  models::forward_rows<float>(weights(l), activation, inputs, &pre_activation);
  return pre_activation;
}

models::Matrix TrainingStep::backpropagate_rows(std::size_t l, const models::Matrix& deltas) {
  charge(step::Phase::backpropagate, step::Role::workers,
         {cost::only_where(step::extent::delta_follows_below(), cost::backpropagate(cost::Span::all_rows))}, true,
         true);
  models::Matrix below;
  if (l > 0 && chained(l - 1)) below = models::counted(deltas * weights(l).weight);
  return below;
}

void TrainingStep::charge(step::Phase phase, step::Role who, std::vector<step::Work> branches, bool except_first_layer,
                          bool every_layer) {
  recorder_.add(step::ComputeOp{phase, who, std::move(branches), except_first_layer, every_layer});
}

void TrainingStep::charge(const std::vector<step::ComputeOp>& ops) {
  for (const step::ComputeOp& op : ops) recorder_.add(op);
}

models::ConstBlock TrainingStep::of_site(std::size_t site, const models::RowsOf<float>& all) const {
  const Eigen::Index per_sample = all.rows() / offsets_.back();
  return all.middleRows(offsets_[site] * per_sample, samples(site) * per_sample);
}

models::ConstBlock TrainingStep::input(std::size_t site, std::size_t l) const {
  if (!networks_.empty()) {
    if (samples(site) == 0) return no_rows(weights(l).in());
    return network_.input(matrix_[l], tapes_[site]);
  }
  return of_site(site, inputs(l));
}

models::ConstBlock TrainingStep::delta(std::size_t site, std::size_t l) const {
  if (!networks_.empty()) {
    if (samples(site) == 0) return no_rows(weights(l).out());
    return network_.delta(matrix_[l], tapes_[site]);
  }
  return of_site(site, deltas(l));
}

void TrainingStep::keep_gradients(std::size_t l) {
  charge(step::Phase::weight_gradient, step::Role::workers, {cost::weight_gradient(cost::Span::own_rows)});
  gradient(l) = {};
  own_gradients_[l].assign(sites(), {});
  for (std::size_t site = 0; site < sites(); ++site) {
    if (samples(site) == 0) continue;
    models::LayerGradient& own = own_gradients_[l][site];
    if (networks_.empty()) {
      models::weight_gradient<float>(delta(site, l), input(site, l), weights(l).has_bias(), own);
    } else {
      network_.weight_gradient(matrix_[l], tapes_[site], own);
    }
    // Rescales to the site's own mean: Δ has the weight N_s ÷ ΣN of the site, and the site's worth.
    const float worth = site_weights_.empty() ? 1.0F : site_weights_.at(site);
    const float scale = static_cast<float>(offsets_.back()) / (worth * static_cast<float>(samples(site)));
    own.weight *= scale;
    own.bias *= scale;
  }
}

void TrainingStep::replace_deltas(std::size_t l, const models::Matrix& rows) {
  for (std::size_t site = 0; site < sites(); ++site) {
    if (samples(site) == 0) continue;
    const models::RowsOf<float> delta = networks_.empty() ? deltas(l) : network_.delta(matrix_[l], tapes_[site]);
    if (networks_.empty() || delta.rows() != rows.rows() || delta.cols() != rows.cols()) {
      throw std::logic_error("the Δ of sites with own networks needs as many rows as before");
    }
    // Writes to rows in the tape, which this object owns.
    Eigen::Map<models::Matrix>(const_cast<float*>(delta.data()), rows.rows(), rows.cols()) = rows;
  }
}

void TrainingStep::freeze(std::size_t l) {
  frozen_[l] = true;
  gradient(l) = {};
}

std::vector<std::int32_t> TrainingStep::symbols(std::size_t site, std::size_t l) const {
  const models::ConstBlock own = of_site(site, network_.embedding_symbols(matrix_[l], tape_));
  std::vector<std::int32_t> symbols;
  for (Eigen::Index row = 0; row < own.rows(); ++row) symbols.push_back(static_cast<std::int32_t>(own(row, 0)));
  return symbols;
}

models::ConstBlock TrainingStep::table_delta(std::size_t site, std::size_t l) const {
  return of_site(site, network_.embedding_deltas(matrix_[l], tape_));
}

void TrainingStep::sum_non_matrix_parameters(bool embeddings_seen_to) {
  // Takes vector gradients as sums over sites, since they are linear in the rows of the sites.
  gradient_.vectors.clear();
  for_each_pass([&](const models::Network&, models::Tape& tape, Eigen::Index, Eigen::Index, std::size_t) {
    if (gradient_.vectors.empty()) {
      gradient_.vectors = tape.vector_gradients;
      return;
    }
    for (std::size_t v = 0; v < gradient_.vectors.size(); ++v) gradient_.vectors[v] += tape.vector_gradients[v];
  });
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
  if (rest_left_) return;
  if (rest_ < 0) throw std::logic_error("the algorithm has not run the backward pass");
  if (!sharing_) return;
  recorder_.begin_sweep(step::Over::other_layers);
  recorder_.begin_group(-1);
  recorder_.add(step::WaitOp{step::Role::workers, rest_});
  exchange_.remember_uncompressed(step::extent::parameters(), gradient_.vectors);
  if (!transform_non_matrix_parameters_) return;
  charge(step::Phase::update, step::Role::workers, {work_of_the_rest_});
  for (std::size_t v = 0; v < gradient_.vectors.size(); ++v) transform_non_matrix_parameters_(v, gradient_.vectors[v]);
}

void TrainingStep::transform_non_matrix_parameters(std::function<void(std::size_t v, models::Vector& sum)> make,
                                                   step::Work work) {
  transform_non_matrix_parameters_ = std::move(make);
  work_of_the_rest_ = std::move(work);
}

}  // namespace dadsim::algorithms
