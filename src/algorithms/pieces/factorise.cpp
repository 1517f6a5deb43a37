#include "algorithms/pieces/factorise.hpp"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "algorithms/pieces/deflate.hpp"
#include "algorithms/pieces/gradient_product.hpp"
#include "models/gemm/work_count.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

/// Below this share of σ₁ a component is rounding noise of fp32, whatever the tolerance says.
constexpr float kNoise = 1e-6F;

void orthogonalise(const models::Matrix& directions, Eigen::Index count, models::Vector& v) {
  if (count == 0) return;
  const auto before = directions.topRows(count);
  for (int pass = 0; pass < 2; ++pass) {
    const models::Vector projections = models::counted(before * v);
    v.noalias() -= models::counted(before.transpose() * projections);
  }
}

Factors components_of(const GradientProduct& product, const FactoriseOptions& options, std::uint64_t seed,
                      std::uint32_t stream, std::uint32_t step) {
  if (options.stop != FactoriseOptions::Stop::share) {
    return factorise_by_deflation(product, options, seed, stream, step);
  }
  const Eigen::Index out = product.out();
  const Eigen::Index most = std::min(static_cast<Eigen::Index>(options.cap), product.most());
  Factors factors{models::Matrix(most, out), models::Matrix(most, product.in())};
  Eigen::Index found = 0;
  if (most > 0) {
    const float tolerance = std::max(static_cast<float>(options.tolerance), kNoise);
    models::Matrix directions(most, out);  // b_k as rows
    RandomStream random(seed, Purpose::factor_start, stream, step);
    boost::random::normal_distribution<float> normal;
    float largest = 0;
    while (found < most) {
      models::Vector v(out);
      for (float& x : v) x = normal(random);
      orthogonalise(directions, found, v);
      v.normalize();
      bool exhausted = false;
      for (std::int64_t i = 0; i < options.iterations && !exhausted; ++i) {
        models::Vector image = product.apply_gram(v);
        orthogonalise(directions, found, image);
        const float norm = image.norm();
        exhausted = !(norm > 0);  // also where a NaN came in
        if (!exhausted) v = image / norm;
      }
      if (exhausted) break;
      // Rounding of the last projection matters once v is scaled up again: keep the directions orthonormal to ε.
      orthogonalise(directions, found, v);
      v.normalize();
      const models::Vector image = product.apply_transpose(v);
      const float sigma = image.norm();
      largest = std::max(largest, sigma);
      if (!(sigma > 0) || sigma <= tolerance * largest) break;
      directions.row(found) = v.transpose();
      factors.left.row(found) = product.scale() * sigma * v.transpose();
      factors.right.row(found) = image.transpose() / sigma;
      ++found;
    }
  }
  factors.left.conservativeResize(found, Eigen::NoChange);
  factors.right.conservativeResize(found, Eigen::NoChange);
  return factors;
}

}  // namespace

Factors factorise(const models::ConstBlock& delta, const models::ConstBlock& input, const FactoriseOptions& options,
                  std::uint64_t seed, std::uint32_t stream, std::uint32_t step) {
  return factorise(delta, input, options, seed, stream, step,
                   cheaper_branch(delta.rows(), input.cols(), delta.cols(), options));
}

Factors factorise(const models::ConstBlock& delta, const models::ConstBlock& input, const FactoriseOptions& options,
                  std::uint64_t seed, std::uint32_t stream, std::uint32_t step, FactoriseBranch branch) {
  if (std::min({delta.rows(), delta.cols(), input.cols()}) == 0) {
    return {models::Matrix(0, delta.cols()), models::Matrix(0, input.cols())};
  }
  return components_of(GradientProduct(delta, input, branch), options, seed, stream, step);
}

Factors factorise_matrix(const models::Matrix& matrix, const FactoriseOptions& options, std::uint64_t seed,
                         std::uint32_t stream, std::uint32_t step) {
  return components_of(GradientProduct(matrix), options, seed, stream, step);
}

std::vector<step::Work> factorise_work(const step::Expression& rows, const step::Expression& kept,
                                       const FactoriseOptions& options) {
  // Dropped components were searched for, and are charged.
  const step::Expression rank = options.stop == FactoriseOptions::Stop::released ? kept + 2.0 : kept;
  const auto iterations = static_cast<double>(options.iterations);
  const step::Expression in = step::extent::in_with_bias();
  const step::Expression out = step::extent::out();
  // Keeping component k orthogonal costs 8(k−1)·out at its start, in each iteration and at its end: 4·rank²·out over
  // all components.
  const step::Expression orthogonal = 4.0 * (iterations + 2.0) * rank * rank * out;
  const bool fused = options.kernels == FactoriseOptions::Kernels::fused;
  const step::Expression kernels = 2.0 + rank * (fused ? 1.0 : 6.0 * iterations + 6.0);
  const step::Work gram{.flops = 2.0 * rows * rows * (in + out) + 4.0 * iterations * rank * rows * out +
                                 2.0 * rank * rows * (in + out) + orthogonal,
                        .bytes_moved = 4.0 * (rows * in + 2.0 * rows * out + 2.0 * iterations * rank * rows * out +
                                              rank * rows * (in + out) + rank * (in + out)),
                        .launches = kernels};
  const step::Work explicit_product{
      .flops = 2.0 * rows * in * out + 2.0 * out * out * in + 2.0 * iterations * rank * out * out +
               2.0 * rank * in * out + orthogonal,
      .bytes_moved = 4.0 * (rows * (in + out) + 2.0 * in * out + out * out + iterations * rank * out * out +
                            rank * in * out + rank * (in + out)),
      .launches = kernels};
  return {gram, explicit_product};
}

FactoriseBranch cheaper_branch(std::int64_t rows, std::int64_t in, std::int64_t out, const FactoriseOptions& options) {
  const spec::LayerShape shape = spec::dense_shape("", in, out, false);
  const step::StepSizes sizes;
  const auto rank = static_cast<double>(std::min({options.cap, rows, in, out}));
  const std::vector<step::Work> work = factorise_work(static_cast<double>(rows), rank, options);
  const step::Scope scope{&shape, &sizes, -1};
  return work[0].flops.evaluate(scope) <= work[1].flops.evaluate(scope) ? FactoriseBranch::gram
                                                                        : FactoriseBranch::explicit_;
}

}  // namespace dadsim::algorithms
