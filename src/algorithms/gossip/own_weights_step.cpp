#include "algorithms/gossip/own_weights_step.hpp"

#include <utility>

#include "algorithms/batches.hpp"
#include "algorithms/cost.hpp"
#include "algorithms/exact/local_gradient.hpp"
#include "algorithms/learn.hpp"
#include "algorithms/site_weights.hpp"
#include "support/parallel.hpp"

namespace dadsim::algorithms {
namespace {

/// Returns a matrix and its biases, or all vectors, as one row.
template <class Matrices, class Vectors>
models::Matrix as_row(const Matrices& matrices, const Vectors& vectors, std::size_t block) {
  if (block < matrices.size()) {
    const auto& [weight, bias] = std::tie(matrices[block].weight, matrices[block].bias);
    models::Matrix row(1, weight.size() + bias.size());
    row.leftCols(weight.size()) = weight.template reshaped<Eigen::RowMajor>().transpose();
    row.rightCols(bias.size()) = bias.transpose();
    return row;
  }
  Eigen::Index size = 0;
  for (const models::Vector& vector : vectors) size += vector.size();
  models::Matrix row(1, size);
  Eigen::Index at = 0;
  for (const models::Vector& vector : vectors) {
    row.middleCols(at, vector.size()) = vector.transpose();
    at += vector.size();
  }
  return row;
}

/// Inverts as_row().
template <class Matrices, class Vectors>
void from_row(const models::Matrix& row, Matrices& matrices, Vectors& vectors, std::size_t block) {
  if (block < matrices.size()) {
    auto& weight = matrices[block].weight;
    weight.template reshaped<Eigen::RowMajor>() = row.leftCols(weight.size()).transpose();
    matrices[block].bias = row.rightCols(matrices[block].bias.size()).transpose();
    return;
  }
  Eigen::Index at = 0;
  for (models::Vector& vector : vectors) {
    vector = row.middleCols(at, vector.size()).transpose();
    at += vector.size();
  }
}

}  // namespace

void add(Field& a, const Field& b, float scale) {
  for (std::size_t block = 0; block < a.size(); ++block) {
    parallel_for(a[block].size(), [&](std::size_t site) { a[block][site] += scale * b[block][site]; });
  }
}

Field difference(Field a, const Field& b) {
  add(a, b, -1);
  return a;
}

OwnWeightsStep::OwnWeightsStep(const LearningProblem& problem, const spec::RunSpec& run)
    : samples_(problem.data.train),
      topology_(run.parameters, problem.partition.size(), problem.seed),
      exchange_(recorder_, (sites_.push_back(std::make_unique<OwnSite>(problem)), sites_.front()->network.shape()),
                spec::ExchangeMode::peer, run.compress, problem.seed),
      update_(cost::update(problem.training.optimizer)),
      worth_(site_factors(run.weights, problem.training, problem.partition)),
      seed_(problem.seed),
      steps_(budget_in_steps(problem.training,
                             Batches(problem.training, problem.partition, problem.seed).steps_per_epoch())) {
  while (sites_.size() < problem.partition.size()) sites_.push_back(std::make_unique<OwnSite>(problem));
  for (std::size_t m = 0; m < matrices(); ++m) {
    if (!network(0).layer(m).embedding) last_layer_ = m;
  }
}

void OwnWeightsStep::set_leak_meter(ExchangeLeak* meter) {
  meter_ = meter;
  exchange_.tap().set_observer(meter);
}

void OwnWeightsStep::begin(std::int64_t number, double rate, const std::vector<std::vector<std::int32_t>>& batch,
                           const Attendees* attendees) {
  number_ = number;
  among_attendees_.reset();
  there_.clear();
  sites_change_ = sites_change_ || attendees != nullptr;
  rows_of_all_ = 0;
  for (const auto& site : batch) rows_of_all_ += static_cast<float>(site.size());
  rate_ = rate;
  batch_ = batch;
  if (attendees != nullptr && attendees->sites.size() < sites()) {
    there_.assign(sites(), false);
    for (const std::int32_t site : attendees->sites) there_[static_cast<std::size_t>(site)] = true;
    among_attendees_ = round_among(topology_.at(number), attendees->sites);
    for (std::size_t site = 0; site < sites(); ++site) {
      if (!there_[site]) batch_[site].clear();
    }
  }
  std::vector<std::int32_t> samples;
  for (const auto& site : batch_) samples.push_back(static_cast<std::int32_t>(site.size()));
  recorder_.begin(std::move(samples));
  exchange_.begin_step(number);
  loss_ = 0;
}

Eigen::Index OwnWeightsStep::size(std::size_t block) const {
  const models::ParametersOf<float>& parameters = network(0).parameters();
  return as_row(parameters.matrices, parameters.vectors, block).size();
}

Field OwnWeightsStep::weights() const {
  Field x(blocks(), std::vector<models::Matrix>(sites()));
  parallel_for(sites(), [&](std::size_t i) {
    const models::ParametersOf<float>& parameters = network(i).parameters();
    for (std::size_t b = 0; b < blocks(); ++b) x[b][i] = as_row(parameters.matrices, parameters.vectors, b);
  });
  return x;
}

void OwnWeightsStep::set_weights(const Field& x) {
  parallel_for(sites(), [&](std::size_t i) {
    models::ParametersOf<float>& parameters = network(i).parameters();
    for (std::size_t b = 0; b < blocks(); ++b) from_row(x[b][i], parameters.matrices, parameters.vectors, b);
  });
}

Field OwnWeightsStep::zeros() const {
  Field x(blocks());
  for (std::size_t b = 0; b < blocks(); ++b) x[b].assign(sites(), models::Matrix::Zero(1, size(b)));
  return x;
}

models::Gradient OwnWeightsStep::gradient_of(const OwnSite& site, std::size_t i) const {
  models::Gradient gradient = site.step.gradient();
  const float worth = worth_.empty() ? 1.0F : worth_[i];
  const float share = worth * static_cast<float>(sites()) * static_cast<float>(batch_[i].size()) / rows_of_all_;
  if (share != 1.0F) {
    for (models::LayerGradient& layer : gradient.matrices) {
      layer.weight *= share;
      layer.bias *= share;
    }
    for (models::Vector& vector : gradient.vectors) vector *= share;
  }
  return gradient;
}

Field OwnWeightsStep::gradients() const {
  Field g = zeros();
  parallel_for(sites(), [&](std::size_t i) {
    if (batch_[i].empty()) return;
    const models::Gradient gradient = gradient_of(*sites_[i], i);
    for (std::size_t b = 0; b < blocks(); ++b) g[b][i] = as_row(gradient.matrices, gradient.vectors, b);
  });
  return g;
}

void OwnWeightsStep::compute_gradients() {
  parallel_for(sites(), [&](std::size_t i) {
    OwnSite& site = *sites_[i];
    if (batch_[i].empty()) return;
    site.step.begin(number_, samples_, {batch_[i]});
    site.step.set_sharing(false);
    LocalGradient().run(site.step);
    site.step.finish();
  });
  // Records the operations of one site, because every site has the same structure.
  std::size_t all = 0;
  for (const auto& batch : batch_) all += batch.size();
  bool recorded = false;
  for (std::size_t i = 0; i < sites(); ++i) {
    if (batch_[i].empty()) continue;
    loss_ += sites_[i]->step.loss() * static_cast<float>(batch_[i].size()) / static_cast<float>(all);
    const step::StepStructure structure = sites_[i]->step.recorder().take().first;
    if (!std::exchange(recorded, true)) recorder_.append(structure);
  }
  if (meter_ != nullptr) meter_->passed(batch_, [this](std::size_t site) { return sites_[site]->step.input(0, 0); });
}

void OwnWeightsStep::charge_update() {
  recorder_.begin_sweep(step::Over::layers_backward, true);
  for (std::size_t m = matrices(); m-- > 0;) {
    recorder_.begin_group(static_cast<std::int32_t>(m));
    for (const step::ComputeOp& op : update_) recorder_.add(op);
  }
}

void OwnWeightsStep::update(OwnSite& site, const models::Gradient& gradient) {
  site.optimizer->update(site.network, gradient, rate_);
}

void OwnWeightsStep::apply_gradients() {
  charge_update();
  parallel_for(sites(), [&](std::size_t i) {
    if (batch_[i].empty()) return;
    update(*sites_[i], gradient_of(*sites_[i], i));
    sites_[i]->network.update_running_statistics(sites_[i]->step.tape());
  });
}

Field OwnWeightsStep::move_by_gradients() {
  const Field before = weights();
  apply_gradients();
  return difference(weights(), before);
}

Field OwnWeightsStep::apply(const Field& directions) {
  charge_update();
  Field moved = weights();
  parallel_for(sites(), [&](std::size_t i) {
    OwnSite& site = *sites_[i];
    models::Gradient direction;
    for (const auto& matrix : site.network.parameters().matrices) {
      direction.matrices.push_back({models::Matrix(matrix.out(), matrix.in()), models::Vector(matrix.bias.size())});
    }
    for (const auto& vector : site.network.parameters().vectors) direction.vectors.emplace_back(vector.size());
    for (std::size_t b = 0; b < blocks(); ++b) {
      from_row(directions[b][i], direction.matrices, direction.vectors, b);
    }
    if (is_there(i)) update(site, direction);
    if (!batch_[i].empty()) site.network.update_running_statistics(site.step.tape());
    const models::ParametersOf<float>& parameters = site.network.parameters();
    for (std::size_t b = 0; b < blocks(); ++b) {
      moved[b][i] = as_row(parameters.matrices, parameters.vectors, b) - moved[b][i];
    }
  });
  return moved;
}

void OwnWeightsStep::for_each_block(const std::function<void(std::size_t block)>& body) {
  recorder_.begin_sweep(step::Over::layers_backward, true);
  for (std::size_t m = matrices(); m-- > 0;) {
    recorder_.begin_group(static_cast<std::int32_t>(m));
    body(m);
  }
  // Counts parameters outside the matrices, of this network or of the timed workload.
  recorder_.begin_sweep(step::Over::other_layers);
  recorder_.begin_group(-1);
  body(matrices());
}

OwnWeightsStep::Sending OwnWeightsStep::send(const std::function<NeighbourMessage(std::size_t block)>& message) {
  Sending sending(blocks());
  for_each_block([&](std::size_t b) { sending[b] = exchange_.neighbours(round().graph, message(b)); });
  return sending;
}

OwnWeightsStep::Sending OwnWeightsStep::send(const Field& field) {
  return send([&](std::size_t b) {
    return NeighbourMessage{{{step::extent::parameters(), [&field, b](std::size_t site, std::size_t) {
                                return models::ConstBlock(field[b][site]);
                              }}}};
  });
}

void OwnWeightsStep::receive(Sending& sending, const Passes& per_number, const Body& body) {
  receive_all(sending, per_number, [&](std::size_t b, const Arrivals& arrivals) {
    parallel_for(sites(), [&](std::size_t i) { body(b, i, arrivals[i]); });
  });
}

void OwnWeightsStep::receive_all(Sending& sending, const Passes& per_number,
                                 const std::function<void(std::size_t block, const Arrivals& arrivals)>& body) {
  for_each_block([&](std::size_t b) {
    const Arrivals& arrivals = sending[b].wait();
    charge_here(step::Phase::add, per_number);
    body(b, arrivals);
  });
}

const Arrived* OwnWeightsStep::delivered(std::size_t site, const Arrivals& arrivals) const {
  const auto& to = round().graph->to[site];
  if (to.empty()) return nullptr;
  for (const Arrived& arrived : arrivals[static_cast<std::size_t>(to.front())]) {
    if (arrived.sender == static_cast<std::int32_t>(site)) return &arrived;
  }
  return nullptr;
}

void OwnWeightsStep::charge_here(step::Phase phase, const Passes& per_number) {
  recorder_.add(step::ComputeOp{phase,
                                step::Role::workers,
                                {{.flops = per_number.flops * step::extent::parameters(),
                                  .bytes_moved = 4.0 * per_number.floats * step::extent::parameters(),
                                  .launches = per_number.launches}}});
}

void OwnWeightsStep::charge(step::Phase phase, const Passes& per_number) {
  for_each_block([&](std::size_t) { charge_here(phase, per_number); });
}

void OwnWeightsStep::average(Field& x) {
  std::vector<std::size_t> who;
  for (std::size_t i = 0; i < sites(); ++i) {
    if (is_there(i)) who.push_back(i);
  }
  const auto sum_of = [&](std::size_t b) {
    models::Matrix sum = x[b][who.front()];
    for (std::size_t k = 1; k < who.size(); ++k) sum += x[b][who[k]];
    return sum;
  };
  const auto set = [&](std::size_t b, const models::Matrix& sum) {
    const models::Matrix mean = sum / static_cast<float>(who.size());
    for (const std::size_t i : who) x[b][i] = mean;
  };
  std::vector<Pending<models::Matrix>> sums(matrices());
  recorder_.begin_sweep(step::Over::layers_backward, true);
  for (std::size_t m = matrices(); m-- > 0;) {
    recorder_.begin_group(static_cast<std::int32_t>(m));
    sums[m] = exchange_.sum_as_it_is(step::extent::parameters(), sum_of(m), [&](std::size_t i) {
      return is_there(i) ? x[m][i] : models::Matrix(models::Matrix::Zero(1, size(m)));
    });
  }
  const models::Matrix rest = sum_of(matrices());
  const std::int32_t serial = exchange_.sum_other_layers({rest.transpose()}, {}, true);
  recorder_.add(step::WaitOp{step::Role::workers, serial});
  recorder_.begin_sweep(step::Over::layers_backward, true);
  for (std::size_t m = matrices(); m-- > 0;) {
    recorder_.begin_group(static_cast<std::int32_t>(m));
    set(m, sums[m].wait());
  }
  set(matrices(), rest);
}

void OwnWeightsStep::pull(models::Matrix& x, const models::Matrix& own, std::size_t site,
                          const std::vector<Arrived>& arrived, double scale, std::size_t part) const {
  const auto& weights = round().mixing.from[site];
  std::vector<gossip::Weighed<float>> others;
  for (std::size_t k = 0; k < arrived.size(); ++k) others.push_back({weights[k].second, &arrived[k].parts[part]});
  gossip::pull(x, own, others, scale);
}

OwnWeightsStep::Passes OwnWeightsStep::pull_passes() const {
  const auto neighbours = static_cast<double>(round().most_received);
  return {.flops = 2.0 * neighbours + 1.0, .floats = neighbours + 2.0, .launches = neighbours + 1.0};
}

}  // namespace dadsim::algorithms
