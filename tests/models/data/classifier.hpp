#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/uniform.hpp"

namespace dadsim::test {

/// Trains softmax(B relu(A x + a) + b) with `hidden` units on `train` (0: softmax(B x + b)), with Adam at 10⁻³ and
/// batches of 32. Returns its accuracy on `test`. Shares no code with the library's networks, so that the measured
/// difficulty of a data set does not depend on them.
inline double accuracy_of_classifier(const models::Samples& train, const models::Samples& test, std::int64_t classes,
                                     std::int64_t hidden, std::uint32_t epochs) {
  struct Layer {
    models::Matrix weight, first, second;  ///< out × (in + 1) with the bias in the last column; Adam's two moments
    Layer(std::int64_t in, std::int64_t out, RandomStream& random)
        : weight(models::Matrix::NullaryExpr(out, in + 1,
                                             [&] {
                                               const double bound = std::sqrt(6.0 / static_cast<double>(in));
                                               return static_cast<float>(models::uniform(random, -bound, bound));
                                             })),
          first(models::Matrix::Zero(out, in + 1)),
          second(models::Matrix::Zero(out, in + 1)) {}
    models::Matrix forward(const models::Matrix& x) const {
      return (x * weight.leftCols(weight.cols() - 1).transpose()).rowwise() + weight.col(weight.cols() - 1).transpose();
    }
    void update(const models::Matrix& x, const models::Matrix& delta, double step) {
      models::Matrix gradient(weight.rows(), weight.cols());
      gradient.leftCols(weight.cols() - 1).noalias() = delta.transpose() * x;
      gradient.col(weight.cols() - 1) = delta.colwise().sum().transpose();
      first = 0.9F * first + 0.1F * gradient;
      second = 0.999F * second + 0.001F * gradient.cwiseProduct(gradient);
      const auto scale = static_cast<float>(1e-3 * std::sqrt(1 - std::pow(0.999, step)) / (1 - std::pow(0.9, step)));
      weight.array() -= scale * first.array() / (second.array().sqrt() + 1e-8F);
    }
  };
  RandomStream random(1, Purpose::test);
  std::vector<Layer> layers;
  if (hidden > 0) layers.emplace_back(train.features.cols(), hidden, random);
  layers.emplace_back(hidden > 0 ? hidden : train.features.cols(), classes, random);

  constexpr std::size_t kBatch = 32;
  std::vector<std::size_t> order(train.labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  models::Matrix x(kBatch, train.features.cols());
  double step = 0;
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    models::shuffle(std::span(order), random);
    for (std::size_t begin = 0; begin + kBatch <= order.size(); begin += kBatch) {
      for (std::size_t i = 0; i < kBatch; ++i) {
        x.row(static_cast<Eigen::Index>(i)) = train.features.row(static_cast<Eigen::Index>(order[begin + i]));
      }
      models::Matrix middle = x;
      if (hidden > 0) middle = layers[0].forward(x).cwiseMax(0.0F);
      models::Matrix delta = layers.back().forward(middle);
      for (std::size_t i = 0; i < kBatch; ++i) {
        auto row = delta.row(static_cast<Eigen::Index>(i));
        row = (row.array() - row.maxCoeff()).exp();
        row /= row.sum();
        row(train.labels[order[begin + i]]) -= 1;
      }
      delta /= static_cast<float>(kBatch);
      ++step;
      if (hidden > 0) {
        const models::Matrix below = (delta * layers[1].weight.leftCols(hidden)).cwiseProduct(middle.cwiseSign());
        layers[1].update(middle, delta, step);
        layers[0].update(x, below, step);
      } else {
        layers[0].update(x, delta, step);
      }
    }
  }
  models::Matrix middle = test.features;
  if (hidden > 0) middle = layers[0].forward(middle).cwiseMax(0.0F);
  const models::Matrix scores = layers.back().forward(middle);
  std::int64_t right = 0;
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    Eigen::Index best = 0;
    scores.row(i).maxCoeff(&best);
    right += best == test.labels[static_cast<std::size_t>(i)];
  }
  return static_cast<double>(right) / static_cast<double>(test.size());
}

}  // namespace dadsim::test
