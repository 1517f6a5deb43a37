#include "algorithms/power_sgd.hpp"

#include <utility>

#include "algorithms/gradient_sharing.hpp"

namespace dadsim::algorithms {

models::Matrix PowerSgd::memory(std::size_t layer) const {
  models::Matrix sum = layers_[layer].memory.front();
  for (std::size_t i = 1; i < layers_[layer].memory.size(); ++i) sum += layers_[layer].memory[i];
  return sum;
}

Gradients PowerSgd::gradients_of_sites(TrainingStep& step, std::size_t l, models::Matrix& biases) const {
  Gradients gradients;
  if (!step.exchange().compresses()) {
    step.form_gradient(l);
    biases = step.gradient(l).bias;
    gradients.push_back(std::move(step.gradient(l).weight));
    return gradients;
  }
  const models::WeightsOf<float>& weights = step.weights(l);
  const TrainingStep::GradientOfSite add_to = step.site_gradients(l);
  biases.setZero(weights.bias.size(), 1);
  for (std::size_t site = 0; site < step.sites(); ++site) {
    models::LayerGradient own{models::Matrix::Zero(weights.out(), weights.in()),
                              models::Vector::Zero(weights.bias.size())};
    add_to(site, own);
    biases += own.bias;
    gradients.push_back(std::move(own.weight));
  }
  return gradients;
}

void PowerSgd::run(TrainingStep& step) {
  if (step.number() < options_.uncompressed_steps) {
    GradientSharing().run(step);
    return;
  }
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  layers_.resize(step.matrices());
  const SubspaceOptions options{options_.rank, options_.start == Start::random};
  Exchange& exchange = step.exchange();
  std::vector<Gradients> gradients(step.matrices());
  std::vector<Pending<models::Matrix>> biases(step.matrices()), p(step.matrices()), q(step.matrices());

  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    models::Matrix own;
    gradients[l] = gradients_of_sites(step, l, own);
    biases[l] = exchange.sum_as_it_is(beside_matrix(), std::move(own));
    step.backpropagate(l);
  });

  const step::Expression r = matrix_rank(step.recorder().add_slot({static_cast<std::int32_t>(options_.rank)}));
  step.backward_with_embeddings([&](std::size_t l) {
    step.gradient(l).bias = biases[l].wait().reshaped();
    p[l] = exchange.sum(r * out(), project(step, l, std::move(gradients[l]), layers_[l], options, r));
  });
  std::vector<models::Matrix> columns(step.matrices());  // P̂
  step.backward_with_embeddings([&](std::size_t l) {
    columns[l] = std::move(p[l].wait());
    q[l] = exchange.sum(r * in(), project_back(step, columns[l], layers_[l], r));
  });
  step.backward_with_embeddings([&](std::size_t l) {
    layers_[l].basis = std::move(q[l].wait());
    step.gradient(l).weight = reconstruct(step, columns[l], layers_[l], r);
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
      .lossless = {{"rank", "65536"}},
      // The memory of the error, P and Q.
      .state =
          [](const spec::ParameterValues& values) {
            return estimate::AlgorithmState{
                step::extent::in() * step::extent::out() +
                    step::extent::matrix_rank(0) * (step::extent::in() + step::extent::out()),
                static_cast<std::int32_t>(std::stoll(values.at("rank"))), true};
          }};
}

}  // namespace dadsim::algorithms
