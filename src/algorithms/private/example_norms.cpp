#include "algorithms/private/example_norms.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/cost.hpp"
#include "models/gemm/work_count.hpp"
#include "support/parallel.hpp"

namespace dadsim::algorithms {
namespace {

using Eigen::Index;

constexpr std::size_t kExamplesAtOnce = 16;

/// A block of rows over its largest magnitude, which is kept apart: squares of floats leave their range at 1e±19.
struct Normalised {
  models::Matrix rows;
  double scale = 0;
};

Normalised normalised(const models::ConstBlock& rows) {
  const float largest = rows.size() == 0 ? 0.0F : rows.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  if (!(largest > 0) || !std::isfinite(largest)) return {models::Matrix::Zero(rows.rows(), rows.cols()), largest};
  return {rows / largest, largest};
}

}  // namespace

ExampleNorms::ExampleNorms(const TrainingStep& step) {
  Index all = 0;
  for (std::size_t site = 0; site < step.sites(); ++site) all += step.samples(site);
  squares_.resize(static_cast<std::size_t>(all));
}

void ExampleNorms::add_product(const models::ConstBlock& u, const models::ConstBlock& v) {
  const Index rows = u.rows() / examples();
  const bool through_gram = rows * rows * (u.cols() + v.cols() + 1) <= (rows + 1) * u.cols() * v.cols();
  parallel_for_blocks(squares_.size(), kExamplesAtOnce, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto first = static_cast<Index>(i) * rows;
      const Normalised a = normalised(u.middleRows(first, rows));
      const Normalised b = normalised(v.middleRows(first, rows));
      double square = 0;
      if (rows == 1) {
        square = static_cast<double>(a.rows.squaredNorm()) * static_cast<double>(b.rows.squaredNorm());
      } else if (through_gram) {
        models::Matrix of_a(rows, rows), of_b(rows, rows);
        of_a.noalias() = models::counted(a.rows * a.rows.transpose());
        of_b.noalias() = models::counted(b.rows * b.rows.transpose());
        // A sum of products of either sign that is never negative but for rounding.
        square = std::max(0.0, of_a.cast<double>().cwiseProduct(of_b.cast<double>()).sum());
      } else {
        models::Matrix product(u.cols(), v.cols());
        product.noalias() = models::counted(a.rows.transpose() * b.rows);
        square = product.squaredNorm();
      }
      const double scale = a.scale * b.scale;
      squares_[i] += square * scale * scale;
    }
  });
}

void ExampleNorms::add_masked_product(const models::ConstBlock& u, const models::ConstBlock& v,
                                      const models::Matrix& mask) {
  const Index rows = u.rows() / examples();
  if (rows == 1) {
    // Of one row each, the squares of u_j v_k over the mask are (u ⊙ u)ᵀ S (v ⊙ v): one product for all examples.
    models::Matrix u2(u.rows(), u.cols()), v2(v.rows(), v.cols());
    std::vector<double> scales(squares_.size());
    parallel_for_blocks(squares_.size(), kExamplesAtOnce, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto row = static_cast<Index>(i);
        const Normalised a = normalised(u.row(row));
        const Normalised b = normalised(v.row(row));
        u2.row(row) = a.rows.cwiseAbs2();
        v2.row(row) = b.rows.cwiseAbs2();
        scales[i] = a.scale * b.scale;
      }
    });
    models::Matrix over_mask(u.rows(), v.cols());
    over_mask.noalias() = models::counted(u2 * mask);
    for (std::size_t i = 0; i < squares_.size(); ++i) {
      const auto row = static_cast<Index>(i);
      squares_[i] += static_cast<double>(over_mask.row(row).dot(v2.row(row))) * scales[i] * scales[i];
    }
    return;
  }
  parallel_for_blocks(squares_.size(), kExamplesAtOnce, [&](std::size_t begin, std::size_t end) {
    models::Matrix product(u.cols(), v.cols());
    for (std::size_t i = begin; i < end; ++i) {
      const auto first = static_cast<Index>(i) * rows;
      const Normalised a = normalised(u.middleRows(first, rows));
      const Normalised b = normalised(v.middleRows(first, rows));
      product.noalias() = models::counted(a.rows.transpose() * b.rows);
      const double scale = a.scale * b.scale;
      squares_[i] += static_cast<double>(product.cwiseProduct(mask).squaredNorm()) * scale * scale;
    }
  });
}

void ExampleNorms::add_sum(const models::ConstBlock& u) {
  const Index rows = u.rows() / examples();
  for (std::size_t i = 0; i < squares_.size(); ++i) {
    squares_[i] += u.middleRows(static_cast<Index>(i) * rows, rows).colwise().sum().cast<double>().squaredNorm();
  }
}

double ExampleNorms::norm(Index example) const {
  return std::sqrt(squares_[static_cast<std::size_t>(example)]) * static_cast<double>(examples());
}

models::Vector ExampleNorms::factors(double clip, double batch) const {
  models::Vector factors(examples());
  for (Index i = 0; i < examples(); ++i) {
    const double length = norm(i);
    const double clipped = !std::isfinite(length) ? 0.0 : length <= clip ? 1.0 : clip / length;
    factors(i) = static_cast<float>(clipped * static_cast<double>(examples()) / batch);
  }
  return factors;
}

models::Matrix scaled_rows(const models::ConstBlock& rows, const models::Vector& factors) {
  const Index per_example = factors.size() == 0 ? 0 : rows.rows() / factors.size();
  models::Matrix scaled(rows.rows(), rows.cols());
  for (Index i = 0; i < factors.size(); ++i) {
    scaled.middleRows(i * per_example, per_example) = factors(i) * rows.middleRows(i * per_example, per_example);
  }
  return scaled;
}

step::Work times(const step::Expression& times, const step::Work& work) {
  return {times * work.flops, times * work.bytes_moved, times * work.launches};
}

std::vector<step::Work> product_norm_work(const step::Expression& m, const step::Expression& n) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  const step::Expression t = rows_per_sample();
  return {{.flops = 2.0 * rows() * t * (m + n + 1.0),
           .bytes_moved = cost::kFloatBytes * (rows() * (m + n) + 4.0 * rows() * t),
           .launches = 3.0},
          {.flops = 2.0 * rows() * m * n + 2.0 * samples() * m * n,
           .bytes_moved = cost::kFloatBytes * (rows() * (m + n) + 2.0 * samples() * m * n),
           .launches = 2.0}};
}

step::Work masked_norm_work(const step::Expression& m, const step::Expression& n) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  return {.flops = 2.0 * rows() * m * n + rows() * m + 3.0 * rows() * n,
          .bytes_moved = cost::kFloatBytes * (2.0 * rows() * (m + n) + m * n),
          .launches = 4.0};
}

step::Work sum_norm_work(const step::Expression& m) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  return {.flops = (rows() + 2.0 * samples()) * m, .bytes_moved = cost::kFloatBytes * rows() * m, .launches = 2.0};
}

step::Work scale_rows_work(const step::Expression& m) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  return {.flops = rows() * m, .bytes_moved = cost::kFloatBytes * 2.0 * rows() * m, .launches = 1.0};
}

void ExampleNorms::add_layer(TrainingStep& step, std::size_t l) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  step.charge(step::Phase::weight_gradient, step::Role::workers, product_norm_work(out(), in()));
  step.charge(step::Phase::weight_gradient, step::Role::workers, {times(bias(), sum_norm_work(out()))});
  add_product(step.deltas(l), step.inputs(l));
  if (step.weights(l).has_bias()) add_sum(step.deltas(l));
}

models::Matrix clipped_deltas(TrainingStep& step, std::size_t l, const models::Vector& factors) {
  step.charge(step::Phase::weight_gradient, step::Role::workers, {scale_rows_work(step::extent::out())});
  step.charge(step::Phase::weight_gradient, step::Role::workers, {cost::weight_gradient(cost::Span::own_rows)});
  return scaled_rows(step.deltas(l), factors);
}

}  // namespace dadsim::algorithms
