#include "algorithms/pieces/factorise.hpp"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>

#include "models/gemm/work_count.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

/// Returns the largest magnitude, or 1 for a zero matrix: dividing by it keeps squares of entries from vanishing or
/// overflowing in fp32.
float magnitude_of(const models::ConstBlock& matrix) {
  const float largest = matrix.size() > 0 ? matrix.cwiseAbs().maxCoeff() : 0.0F;
  return largest > 0 ? largest : 1.0F;
}

/// Applies M = Δᵀ A (out × in) and M Mᵀ as operators, with M scaled to the order of 1.
class GradientProduct {
 public:
  GradientProduct(const models::ConstBlock& delta, const models::ConstBlock& input, FactoriseBranch branch)
      : in_(input.cols()),
        out_(delta.cols()),
        most_(std::min({delta.rows(), in_, out_})),
        scale_(magnitude_of(delta) * magnitude_of(input)),
        delta_(delta / magnitude_of(delta)),
        input_(input / magnitude_of(input)),
        branch_(branch) {
    if (branch_ == FactoriseBranch::gram) {
      models::Matrix gram(input.rows(), input.rows());
      gram.noalias() = models::counted(input_ * input_.transpose());
      left_.noalias() = models::counted(gram * delta_);  // (A Aᵀ) Δ: rows × out
    } else {
      product_.noalias() = models::counted(delta_.transpose() * input_);
      left_.noalias() = models::counted(product_ * product_.transpose());  // M Mᵀ: out × out
    }
  }

  /// Applies a given matrix M.
  explicit GradientProduct(const models::Matrix& matrix)
      : in_(matrix.cols()),
        out_(matrix.rows()),
        most_(std::min(in_, out_)),
        scale_(magnitude_of(matrix)),
        branch_(FactoriseBranch::explicit_),
        product_(matrix / scale_) {
    left_.noalias() = models::counted(product_ * product_.transpose());
  }

  Eigen::Index in() const { return in_; }
  Eigen::Index out() const { return out_; }
  /// Returns the largest number of components that M can have.
  Eigen::Index most() const { return most_; }

  /// Returns the divisor by which M is scaled.
  float scale() const { return scale_; }

  /// Returns M Mᵀ v.
  models::Vector apply_gram(const models::Vector& v) const {
    if (branch_ == FactoriseBranch::gram) {
      const models::Vector u = models::counted(delta_ * v);
      return models::counted(left_.transpose() * u);
    }
    return models::counted(left_ * v);
  }

  /// Returns Mᵀ v.
  models::Vector apply_transpose(const models::Vector& v) const {
    if (branch_ == FactoriseBranch::gram) {
      const models::Vector u = models::counted(delta_ * v);
      return models::counted(input_.transpose() * u);
    }
    return models::counted(product_.transpose() * v);
  }

 private:
  Eigen::Index in_, out_, most_;
  float scale_;
  models::Matrix delta_;
  models::Matrix input_;
  FactoriseBranch branch_;
  models::Matrix left_;
  models::Matrix product_;
};

/// Uses the power iteration and stopping rule of the code released with arXiv 2102.09631 (bbradt/edad, dad-torch), for
/// comparison with its published effective ranks; factorise() is the default. Components before the k-th are deflated,
///     v ← M Mᵀ v − Σ_{j<k} σ_j² b_j (b_jᵀ v),  v ← v ÷ ‖v‖,
/// from a start of numbers in [0, 1), `iterations` times; σ_k = ‖Mᵀ v‖, b_k = v, c_k = Mᵀ v ÷ σ_k. The search ends when
/// two consecutive directions are close, ‖b_k − b_{k−1}‖ < tolerance · ‖b_{k−1}‖ (the rank is exhausted and noise has
/// turned back to the direction before: both are dropped), when σ_k is zero or NaN, and at the cap. Two accidents of
/// the code are left out: it drops the last components of its list whatever ended the search, and it fails on a matrix
/// of zeros. FactorStop::released keeps the first, as in the code behind the published ranks (bbradt/edad at a93efcd):
/// it drops two at the cap, and one that counts if σ_k was zero.
Factors factorise_by_deflation(const GradientProduct& product, const FactoriseOptions& options, std::uint64_t seed,
                               std::uint32_t stream, std::uint32_t step) {
  const Eigen::Index out = product.out();
  const Eigen::Index most = std::min(static_cast<Eigen::Index>(options.cap), product.most());
  Factors factors{models::Matrix(most, out), models::Matrix(most, product.in())};
  Eigen::Index found = 0;
  bool dropped = false;
  if (most > 0) {
    models::Matrix directions(most, out);  // b_k as rows
    models::Vector squares(most);          // σ_k²
    RandomStream random(seed, Purpose::factor_start, stream, step);
    boost::random::uniform_01<float> uniform;
    while (found < most) {
      models::Vector v(out);
      for (float& x : v) x = uniform(random);
      const auto before = directions.topRows(found);
      for (std::int64_t i = 0; i < options.iterations; ++i) {
        models::Vector image = product.apply_gram(v);
        if (found > 0) {
          const models::Vector along = models::counted(before * v);
          const models::Vector scaled = squares.head(found).cwiseProduct(along);
          image.noalias() -= models::counted(before.transpose() * scaled);
        }
        v = image / image.norm();
      }
      const models::Vector image = product.apply_transpose(v);
      const float sigma = image.norm();
      if (!(sigma > 0)) break;  // the rank is exhausted, or sigma is NaN
      if (found >= 2) {
        const auto last = directions.row(found - 1).transpose();
        if ((v - last).norm() < static_cast<float>(options.tolerance) * last.norm()) {
          --found;  // the previous direction was already noise
          dropped = true;
          break;
        }
      }
      directions.row(found) = v.transpose();
      squares(found) = sigma * sigma;
      factors.left.row(found) = product.scale() * sigma * v.transpose();
      factors.right.row(found) = image.transpose() / sigma;
      ++found;
    }
  }
  // Drops the last two components tried, as the released code does: at the cap, two found ones; after a σ of zero,
  // which its list contains, one found component.
  if (options.stop == FactoriseOptions::FactorStop::released && !dropped) {
    found = std::max<Eigen::Index>(found - (found < options.cap ? 1 : 2), 0);
  }
  factors.left.conservativeResize(found, Eigen::NoChange);
  factors.right.conservativeResize(found, Eigen::NoChange);
  return factors;
}

/// Share of σ₁ below which a component is fp32 rounding noise, for any tolerance.
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
  if (options.stop != FactoriseOptions::FactorStop::share) {
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
        exhausted = !(norm > 0);  // also true for NaN
        if (!exhausted) v = image / norm;
      }
      if (exhausted) break;
      // Projects again, since rounding of the last projection is scaled up with v: directions stay orthonormal to ε.
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
  // Charges dropped components too, because they were searched for.
  const step::Expression rank = options.stop == FactoriseOptions::FactorStop::released ? kept + 2.0 : kept;
  const auto iterations = static_cast<double>(options.iterations);
  const step::Expression in = step::extent::in_with_bias();
  const step::Expression out = step::extent::out();
  // Keeping component k orthogonal costs 8(k−1)·out at its start, in each iteration and at its end: 4·rank²·out over
  // all components.
  const step::Expression orthogonal = 4.0 * (iterations + 2.0) * rank * rank * out;
  const bool fused = options.kernels == FactoriseOptions::FactorKernels::fused;
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
