#include "algorithms/power_sgd.hpp"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <utility>

#include "algorithms/gradient_sharing.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

/// What is left of a column below this share of its length is rounding noise of fp32.
constexpr float kNoise = 1e-6F;
constexpr double kFloat = 4.0;  // bytes

step::Expression weights() { return step::extent::in() * step::extent::out(); }

/// What a layer has beside its matrix: its biases.
step::Expression beside_matrix() { return step::extent::parameters() + -1.0 * weights(); }

/// M = G + E and P = M Q.
step::Work project_work(const step::Expression& rank) {
  return {.flops = weights() + 2.0 * rank * weights(),
          .bytes_moved = kFloat * (4.0 * weights() + rank * (step::extent::in() + step::extent::out())),
          .launches = 2.0};
}

/// P̂ from P: per column two passes of two products with the columns before it, a norm and a division. Q = Mᵀ P̂.
step::Work project_back_work(const step::Expression& rank) {
  const step::Expression gram_schmidt = 4.0 * rank * rank * step::extent::out();
  return {.flops = gram_schmidt + 2.0 * rank * weights(),
          .bytes_moved = kFloat * (0.5 * gram_schmidt + weights() + rank * (step::extent::in() + step::extent::out())),
          .launches = 6.0 * rank + 1.0};
}

/// G = P̂ Qᵀ and E = M − G.
step::Work reconstruct_work(const step::Expression& rank) {
  return {.flops = 2.0 * rank * weights() + weights(),
          .bytes_moved = kFloat * (4.0 * weights() + rank * (step::extent::in() + step::extent::out())),
          .launches = 2.0};
}

}  // namespace

void draw_missing_columns(models::Matrix& basis, std::uint64_t seed, std::uint32_t layer, std::uint32_t step) {
  RandomStream random(seed, Purpose::factor_start, layer, step);
  boost::random::normal_distribution<float> normal;
  for (auto column : basis.colwise()) {
    if (!column.isZero(0)) continue;
    for (float& x : column) x = normal(random);
  }
}

void orthonormalise(models::Matrix& columns) {
  for (Eigen::Index k = 0; k < columns.cols(); ++k) {
    models::Vector v = columns.col(k);
    const auto before = columns.leftCols(k);
    const float length = v.stableNorm();
    for (int pass = 0; pass < 2; ++pass) {
      const models::Vector projections = before.transpose() * v;
      v.noalias() -= before * projections;
    }
    const float left = v.stableNorm();
    if (left <= kNoise * length) {
      columns.col(k).setZero();
    } else {
      columns.col(k) = v / left;
    }
  }
}

Eigen::Index PowerSgd::rank(const TrainingStep& step, std::size_t layer) const {
  const models::WeightsOf<float>& weights = step.weights(layer);
  return std::min({static_cast<Eigen::Index>(options_.rank), weights.in(), weights.out()});
}

models::Matrix PowerSgd::project(const TrainingStep& step, std::size_t layer) {
  LayerState& state = layers_[layer];
  const models::Matrix& gradient = step.gradient(layer).weight;
  if (state.memory.size() == 0) {
    state.memory.setZero(gradient.rows(), gradient.cols());
    state.basis.setZero(gradient.cols(), rank(step, layer));
  }
  state.memory += gradient;
  if (options_.start == Start::random) state.basis.setZero();
  draw_missing_columns(state.basis, step.seed(), static_cast<std::uint32_t>(layer),
                       static_cast<std::uint32_t>(step.number()));
  return state.memory * state.basis;
}

void PowerSgd::run(TrainingStep& step) {
  if (step.number() < options_.uncompressed_steps) {
    GradientSharing().run(step);
    return;
  }
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  layers_.resize(step.matrices());
  Exchange& exchange = step.exchange();
  std::vector<Pending<models::Matrix>> biases(step.matrices());
  std::vector<Pending<models::Matrix>> p(step.matrices());
  std::vector<Pending<models::Matrix>> q(step.matrices());

  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    models::LayerGradient& gradient = step.gradient(l);
    step.record_weight_gradient();
    step.form_weight_gradient(l);
    biases[l] = exchange.sum(beside_matrix(), gradient.bias);
    step.backpropagate(l);
  });

  const std::int32_t slot = step.recorder().add_ranks({static_cast<std::int32_t>(options_.rank)});
  const step::Expression r = matrix_rank(slot);
  step.backward_with_embeddings([&](std::size_t l) {
    step.gradient(l).bias = biases[l].wait().reshaped();
    step.compute(step::Phase::factorise, step::Role::workers, {project_work(r)});
    p[l] = exchange.sum(r * out(), project(step, l));
  });
  std::vector<models::Matrix> directions(step.matrices());  // P̂
  step.backward_with_embeddings([&](std::size_t l) {
    directions[l] = std::move(p[l].wait());
    step.compute(step::Phase::factorise, step::Role::workers, {project_back_work(r)});
    orthonormalise(directions[l]);
    q[l] = exchange.sum(r * in(), layers_[l].memory.transpose() * directions[l]);
  });
  step.backward_with_embeddings([&](std::size_t l) {
    LayerState& state = layers_[l];
    state.basis = std::move(q[l].wait());
    step.compute(step::Phase::weight_gradient, step::Role::workers, {reconstruct_work(r)});
    models::Matrix& gradient = step.gradient(l).weight;
    gradient.noalias() = directions[l] * state.basis.transpose();
    state.memory -= gradient;
  });
}

AlgorithmInfo power_sgd_info() {
  return {
      .name = "power-sgd",
      .description =
          "Sites share one step of subspace iteration on the sum of their gradients and keep the error for the next "
          "step.",
      .source = "Vogels, Karimireddy, Jaggi, PowerSGD, NeurIPS 2019, arXiv 1905.13727",
      .payload = "r(p + q), and the q biases",
      .sharing = Sharing::one_network,
      .exact = false,
      .parameters = {{.name = "rank",
                      .type = spec::ParameterSpec::Type::integer,
                      .minimum = 1,
                      .maximum = 65536,
                      .default_value = "2",
                      .choices = {},
                      .description = "components of every matrix, as far as it has as many rows and columns"},
                     {.name = "start",
                      .type = spec::ParameterSpec::Type::choice,
                      .minimum = 0,
                      .maximum = 0,
                      .default_value = "warm",
                      .choices = {"warm", "random"},
                      .description = "warm: from the directions of the step before; random: from directions drawn "
                                     "anew in every step"},
                     {.name = "uncompressed-steps",
                      .type = spec::ParameterSpec::Type::integer,
                      .minimum = 0,
                      .maximum = 1e9,
                      .default_value = "0",
                      .choices = {},
                      .description = "steps of gradient sharing before the first that compresses"}},
      .make =
          [](const spec::ParameterValues& values) {
            return std::make_unique<PowerSgd>(PowerSgd::Options{
                .rank = std::stoll(values.at("rank")),
                .start = values.at("start") == "random" ? PowerSgd::Start::random : PowerSgd::Start::warm,
                .uncompressed_steps = std::stoll(values.at("uncompressed-steps"))});
          },
      // The memory of the error, P and Q.
      .state =
          [](const spec::ParameterValues& values) {
            return estimate::AlgorithmState{
                weights() + step::extent::matrix_rank(0) * (step::extent::in() + step::extent::out()),
                static_cast<std::int32_t>(std::stoll(values.at("rank"))), true};
          }};
}

}  // namespace dadsim::algorithms
