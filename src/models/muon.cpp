#include "models/muon.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/gradient_moments.hpp"
#include "models/kernels/array_kernels.hpp"
#include "models/optimizers.hpp"
#include "models/parameter_blocks.hpp"

namespace dadsim::models {
namespace {

using NewtonSchulz = spec::OptimizerSpec::NewtonSchulz;
using Coefficients = std::array<float, 3>;

Coefficients coefficients_of(NewtonSchulz kind, int step) {
  // muon.py of KellerJordan/Muon; newton_schulz of microsoft/dion, which MuLoCo (arXiv 2505.23725) uses too.
  constexpr Coefficients kFixed{3.4445F, -4.7750F, 2.0315F};
  constexpr std::array<Coefficients, kNewtonSchulzSteps> kTuned{{{4.0848F, -6.8946F, 2.9270F},
                                                                 {3.9505F, -6.3029F, 2.6377F},
                                                                 {3.7418F, -5.5913F, 2.3037F},
                                                                 {2.8769F, -3.1427F, 1.2046F},
                                                                 {2.8366F, -3.0525F, 1.2012F}}};
  return kind == NewtonSchulz::fixed ? kFixed : kTuned.at(static_cast<std::size_t>(step));
}

}  // namespace

Matrix orthogonalised(ConstBlock matrix, NewtonSchulz coefficients) {
  const bool tall = matrix.rows() > matrix.cols();
  Matrix x = tall ? Matrix(matrix.transpose()) : Matrix(matrix);
  x /= x.stableNorm() + 1e-7F;
  Matrix gram, polynomial, next;
  for (int step = 0; step < kNewtonSchulzSteps; ++step) {
    const auto [a, b, c] = coefficients_of(coefficients, step);
    gram.noalias() = x * x.transpose();
    polynomial = b * gram;
    polynomial.noalias() += c * gram * gram;
    next = a * x;
    next.noalias() += polynomial * x;
    x.swap(next);
  }
  return tall ? Matrix(x.transpose()) : x;
}

double muon_scale(spec::OptimizerSpec::MuonScale scale, Eigen::Index out, Eigen::Index in) {
  const double ratio = static_cast<double>(out) / static_cast<double>(in);
  switch (scale) {
    case spec::OptimizerSpec::MuonScale::tall:
      return std::sqrt(std::max(1.0, ratio));
    case spec::OptimizerSpec::MuonScale::spectral:
      return std::sqrt(ratio);
    case spec::OptimizerSpec::MuonScale::rms:  // Moonlight, arXiv 2502.16982
      return 0.2 * std::sqrt(static_cast<double>(std::max(out, in)));
  }
  throw std::logic_error("unknown scale of Muon");
}

namespace {

/// Muon (Jordan et al., 2024; KellerJordan/Muon). Hidden matrices W (spec::DeltaRelations::hidden_matrix):
///   m ← μ m + (1 − μ) g,   u = μ m + (1 − μ) g with Nesterov, else m          (m starts at 0)
///   W ← (1 − η λ) W − η · scale(W) · orthogonalised(u)
/// A gradient that is already an orthogonal step (Dion) replaces orthogonalised(u). All other parameters are updated by
/// AdamW with the learning rate adam_rate, on the same schedule.
class Muon final : public MomentsOptimizer {
 public:
  Muon(const spec::OptimizerSpec& spec, const Network& network)
      : MomentsOptimizer(spec, network), hidden_(spec::hidden_matrices(network.shape())) {}

  void update(Network& network, const Gradient& gradient, double learning_rate) override {
    moments_.begin_step(gradient);
    const double adam_rate = learning_rate * spec_.adam_rate / spec_.learning_rate;
    const auto momentum = static_cast<float>(spec_.momentum);
    for_parameter_tensors(network, gradient, [&](std::size_t l, Eigen::Index offset, auto w, auto g) {
      auto m = moments_.first(l).segment(offset, w.size());
      if (l < hidden_.size() && hidden_[l] && offset == 0) {
        const WeightsOf<float>& weights = network.layer(l);
        const Eigen::Map<const Matrix> of_matrix(g.data(), weights.out(), weights.in());
        Matrix step = of_matrix;
        if (!gradient.matrices[l].is_direction) {
          m = momentum * m + (1 - momentum) * g;
          if (spec_.nesterov)
            step.array().reshaped<Eigen::RowMajor>() = momentum * m + (1 - momentum) * g;
          else
            step.array().reshaped<Eigen::RowMajor>() = m;
          step = orthogonalised(step, spec_.coefficients);
        }
        const double scale = muon_scale(spec_.scale, weights.out(), weights.in());
        w = static_cast<float>(1 - learning_rate * spec_.weight_decay) * w -
            static_cast<float>(learning_rate * scale) * step.array().reshaped<Eigen::RowMajor>();
        return;
      }
      const AdamStep step = adam_step(std::min(l, moments_.matrices()), adam_rate);
      array_kernels().adam(step, w.size(), w.data(), g.data(), m.data(), moments_.second(l).data() + offset);
    });
  }

 private:
  std::vector<bool> hidden_;  ///< true: Muon takes the matrix; its m is the first moment, and its second moment stays 0
};

}  // namespace

OptimizerInfo muon_info() {
  return {make_kind<Muon>,
          // Hidden matrices: w, g, m read, m and u written; then w and the step read, w written. Others: as Adam.
          [](const spec::OptimizerSpec&) { return 7.0; },
          // Counts the operations of AdamW, without the products of Newton–Schulz; hidden matrices take two operations
          // less.
          [](const spec::OptimizerSpec& spec) {
            spec::OptimizerSpec adamw = spec;
            adamw.kind = spec::OptimizerSpec::Kind::adamw;
            return adam_info().flops(adamw);
          }};
}

}  // namespace dadsim::models
