#include "algorithms/exact/gradient_sharing.hpp"

#include <memory>

#include "algorithms/methods.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

namespace {

/// Sums the gradients of all matrices with their biases as one row of numbers.
void share_whole_model(TrainingStep& step) {
  std::vector<TrainingStep::GradientOfSite> gradients(step.matrices());
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    gradients[l] = step.site_gradients(l);
    step.backpropagate(l);
  });
  const auto zero = [&](std::size_t l) {
    const models::WeightsOf<float>& weights = step.weights(l);
    return models::LayerGradient{models::Matrix::Zero(weights.out(), weights.in()),
                                 models::Vector::Zero(weights.bias.size())};
  };
  Eigen::Index numbers = 0;
  for (std::size_t l = 0; l < step.matrices(); ++l) {
    numbers += step.weights(l).weight.size() + step.weights(l).bias.size();
  }
  const auto row_of = [&](std::size_t site) {
    models::Matrix row(1, numbers);
    Eigen::Index at = 0;
    for (std::size_t l = 0; l < step.matrices(); ++l) {
      models::LayerGradient own = zero(l);
      gradients[l](site, own);
      row.middleCols(at, own.weight.size()) = own.weight.reshaped<Eigen::RowMajor>().transpose();
      at += own.weight.size();
      row.middleCols(at, own.bias.size()) = own.bias.transpose();
      at += own.bias.size();
    }
    return row;
  };
  step.at_all_layers([&] {
    const models::Matrix sum = step.exchange().sum_of_model(numbers, row_of).wait();
    Eigen::Index at = 0;
    for (std::size_t l = 0; l < step.matrices(); ++l) {
      models::LayerGradient& gradient = step.gradient(l) = zero(l);
      gradient.weight.reshaped<Eigen::RowMajor>() = sum.middleCols(at, gradient.weight.size()).transpose();
      at += gradient.weight.size();
      gradient.bias = sum.middleCols(at, gradient.bias.size()).transpose();
      at += gradient.bias.size();
    }
  });
}

/// Compresses each matrix and each bias vector separately; all are sent together.
void share_tensors(TrainingStep& step) {
  std::vector<TrainingStep::GradientOfSite> gradients(step.matrices());
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    gradients[l] = step.site_gradients(l);
    step.backpropagate(l);
  });
  Exchange& exchange = step.exchange();
  std::vector<Exchange::EncodedSum> sums(step.matrices());
  step.together([&](std::size_t l) { sums[l] = exchange.hand_over_tensors(gradients[l]); });
  if (exchange.mode() == spec::ExchangeMode::aggregator) {
    step.together([&](std::size_t l) { exchange.combine(sums[l]); });
  }
  step.together([&](std::size_t l) { step.gradient(l) = exchange.receive_tensors(sums[l]); });
}

}  // namespace

void GradientSharing::run(TrainingStep& step) {
  switch (step.exchange().scope()) {
    case spec::CompressSpec::Scope::layer:
      break;
    case spec::CompressSpec::Scope::tensor:
      share_tensors(step);
      return;
    case spec::CompressSpec::Scope::model:
      share_whole_model(step);
      return;
  }
  std::vector<Pending<models::LayerGradient>> sums(step.matrices());
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    sums[l] = step.exchange().sum(step.site_gradients(l));
    step.backpropagate(l);
  });
  step.backward_with_embeddings([&](std::size_t l) { step.gradient(l) = std::move(sums[l].wait()); });
}

SynchronousMethod gradient_sharing_method() {
  return {{.name = GradientSharing::kName,
           .family = "exact",
           .sends_gradients = true,
           .sums_gradients = true,
           .sums_in_buckets = true,
           .is_baseline = true,
           .exact = true},
          [](const spec::RunSpec&) { return std::make_unique<GradientSharing>(); }};
}

}  // namespace dadsim::algorithms
