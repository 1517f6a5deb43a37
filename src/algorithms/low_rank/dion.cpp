#include "algorithms/low_rank/dion.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "algorithms/cost.hpp"
#include "algorithms/methods.hpp"
#include "algorithms/pieces/subspace.hpp"
#include "models/gemm/work_count.hpp"

namespace dadsim::algorithms {
namespace {

using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper

constexpr float kLeastLength = 1e-8F;  // added to the length of a column of R

/// r, and 1 where P and R are sent.
step::Expression rank_of_share(double fraction) { return kept_of(fraction, min({in(), out()})); }
step::Expression sends_factors(double fraction) {
  return hidden_matrix() * exceeds(weights_of_matrix(), rank_of_share(fraction) * (in() + out()));
}

/// Numbers of a matrix and of both factors, read or written once.
step::Expression matrix_and_factors(const step::Expression& r) { return weights_of_matrix() + r * (in() + out()); }
step::Expression gram_schmidt_flops(const step::Expression& r, const step::Expression& rows) {
  return 4.0 * r * r * rows;
}

/// Work of M + G and of P = M Q.
step::Work momentum_work(const step::Expression& r) {
  return {.flops = (1.0 + 2.0 * r) * weights_of_matrix(),
          .bytes_moved = cost::kFloatBytes * (3.0 * weights_of_matrix() + matrix_and_factors(r)),
          .launches = 2.0};
}

/// Work of an orthonormal P (as in subspace.cpp) and of R = Mᵀ P.
step::Work rows_work(const step::Expression& r) {
  return {.flops = gram_schmidt_flops(r, out()) + 2.0 * r * weights_of_matrix(),
          .bytes_moved = cost::kFloatBytes * (0.5 * gram_schmidt_flops(r, out()) + matrix_and_factors(r)),
          .launches = 6.0 * r + 1.0};
}

/// Work of M − (1 − μ) P Rᵀ, of Q from R, and of P Qᵀ.
step::Work direction_work(const step::Expression& r, Dion::Columns columns) {
  const bool each = columns == Dion::Columns::normalised;
  const step::Expression orthonormal = gram_schmidt_flops(r, in());
  return {.flops = (4.0 * r + 2.0) * weights_of_matrix() + (each ? 3.0 * r * in() : orthonormal),
          .bytes_moved = cost::kFloatBytes * (weights_of_matrix() + 2.0 * matrix_and_factors(r) +
                                              (each ? 3.0 * r * in() : 0.5 * orthonormal)),
          .launches = 3.0 + (each ? step::Expression(2.0) : 6.0 * r)};
}

/// One matrix within a step.
struct DionMatrix {
  models::Matrix beside;   ///< biases, and the gradient itself if it travels whole
  models::Matrix columns;  ///< P, out × r
  models::Matrix rows;     ///< R, in × r
  Pending<models::Matrix> beside_sum, p, r;
};

}  // namespace

Eigen::Index Dion::rank_of(const TrainingStep& step, std::size_t l) const {
  const models::WeightsOf<float>& weights = step.weights(l);
  return step::kept_entries(options_.fraction, std::min(weights.in(), weights.out()), 1);
}

bool Dion::is_compressed(const TrainingStep& step, std::size_t l) const {
  const models::WeightsOf<float>& weights = step.weights(l);
  return layers_[l].is_hidden && weights.in() * weights.out() > rank_of(step, l) * (weights.in() + weights.out());
}

template <class Body>
void Dion::for_momenta(TrainingStep& step, std::size_t l, const Body& body) {
  std::vector<models::Matrix>& momentum = layers_[l].momentum;
  if (momentum.size() == 1) return body(momentum.front(), 1.0F);
  Eigen::Index all = 0;
  for (std::size_t site = 0; site < step.sites(); ++site) all += step.samples(site);
  for (std::size_t site = 0; site < step.sites(); ++site) {
    body(momentum[step.among_all(site)], static_cast<float>(step.samples(site)) / static_cast<float>(all));
  }
}

models::Matrix Dion::add_gradients(TrainingStep& step, std::size_t l) {
  MatrixState& state = layers_[l];
  const models::WeightsOf<float>& weights = step.weights(l);
  const bool apart = step.sites_change() && is_compressed(step, l);
  if (state.is_hidden && state.momentum.empty())
    state.momentum.assign(apart ? step.all_sites() : 1, models::Matrix::Zero(weights.out(), weights.in()));
  if (apart) {
    const TrainingStep::GradientOfSite add_to = step.site_gradients(l);
    models::LayerGradient sum{models::Matrix(), models::Vector::Zero(weights.bias.size())};
    for (std::size_t site = 0; site < step.sites(); ++site) {
      sum.weight.setZero(weights.out(), weights.in());
      add_to(site, sum);
      state.momentum[step.among_all(site)] += sum.weight;
    }
    return sum.bias;
  }
  step.form_gradient(l);
  const models::LayerGradient& sum = step.gradient(l);
  if (state.is_hidden) state.momentum.front() += sum.weight;
  if (is_compressed(step, l)) return sum.bias;
  models::Matrix beside(sum.bias.size() + sum.weight.size(), 1);
  beside << sum.bias, sum.weight.reshaped<Eigen::RowMajor>();
  return beside;
}

void Dion::run(TrainingStep& step) {
  if (layers_.empty()) layers_ = states_of(step);
  Exchange& exchange = step.exchange();
  std::vector<DionMatrix> matrices(step.matrices());
  const step::Expression r = rank_of_share(options_.fraction);
  const step::Expression compressed = sends_factors(options_.fraction);
  const auto charge = [&](step::Phase phase, const step::Work& work) {
    step.charge(phase, step::Role::workers, {cost::only_where(hidden_matrix(), work)});
  };
  const auto part = [&](std::size_t l, const std::function<models::Matrix(const models::Matrix& of_site)>& make) {
    const FollowedSites& followed = layers_[l].followed;
    return followed.known() ? Exchange::PartOfSum([&followed, make](std::size_t s) { return make(followed[s]); })
                            : nullptr;
  };
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    matrices[l].beside = add_gradients(step, l);
    if (is_compressed(step, l)) layers_[l].followed.add_gradients(step, l);
    step.backpropagate(l);
  });
  step.stage_of_buckets([&](std::size_t l) {
    DionMatrix& m = matrices[l];
    MatrixState& state = layers_[l];
    charge(step::Phase::factorise, momentum_work(r));
    if (state.is_hidden) {
      if (state.basis.size() == 0) state.basis.setZero(step.weights(l).in(), rank_of(step, l));
      draw_missing_columns(state.basis, step.seed(), static_cast<std::uint32_t>(l),
                           static_cast<std::uint32_t>(step.number()));
      m.columns.setZero(step.weights(l).out(), state.basis.cols());
      for_momenta(step, l, [&](const models::Matrix& momentum, float) {
        m.columns.noalias() += models::counted(momentum * state.basis);
      });
    }
    const bool sends = is_compressed(step, l);
    m.beside_sum =
        exchange.sum_as_it_is(beside_matrix() + (1.0 - compressed) * weights_of_matrix(), std::move(m.beside),
                              [&](std::size_t s) { return beside_of_site(step, l, s, !sends); });
    m.p = exchange.sum_as_it_is(compressed * r * out(), sends ? m.columns : models::Matrix(),
                                part(l, [&](const auto& m_s) { return models::Matrix(m_s * state.basis); }));
  });
  step.stage_of_buckets([&](std::size_t l) {
    DionMatrix& m = matrices[l];
    const bool sends = is_compressed(step, l);
    models::Matrix& sum = m.p.wait();
    if (sends) m.columns = std::move(sum);
    charge(step::Phase::factorise, rows_work(r));
    if (layers_[l].is_hidden) {
      orthonormalise(m.columns);
      m.rows.setZero(step.weights(l).in(), m.columns.cols());
      for_momenta(step, l, [&](const models::Matrix& momentum, float) {
        m.rows.noalias() += models::counted(momentum.transpose() * m.columns);
      });
    }
    m.r = exchange.sum_as_it_is(compressed * r * in(), sends ? m.rows : models::Matrix(),
                                part(l, [&](const auto& m_s) { return models::Matrix(m_s.transpose() * m.columns); }));
  });
  const auto kept = static_cast<float>(1 - step.update_rule().optimizer.momentum);
  step.stage_of_buckets([&](std::size_t l) {
    DionMatrix& m = matrices[l];
    MatrixState& state = layers_[l];
    models::LayerGradient& gradient = step.gradient(l);
    models::Matrix& sum = m.r.wait();
    if (is_compressed(step, l)) m.rows = std::move(sum);
    charge(step::Phase::merge, direction_work(r, options_.columns));
    const models::Matrix& beside = m.beside_sum.wait();
    gradient.bias = beside.topRows(step.weights(l).bias.size()).reshaped();
    gradient.is_direction = state.is_hidden;
    if (!state.is_hidden) {
      gradient.weight = beside.bottomRows(beside.rows() - gradient.bias.size())
                            .reshaped<Eigen::RowMajor>(step.weights(l).out(), step.weights(l).in());
      return;
    }
    const models::Matrix taken = kept * models::counted(m.columns * m.rows.transpose());
    for_momenta(step, l, [&](models::Matrix& momentum, float share) { momentum -= share * taken; });
    state.followed.take_off(step, taken);
    state.basis = std::move(m.rows);
    if (options_.columns == Columns::orthonormal) {
      orthonormalise(state.basis);
    } else {
      for (auto column : state.basis.colwise()) column /= column.norm() + kLeastLength;
    }
    gradient.weight.noalias() = models::counted(m.columns * state.basis.transpose());
  });
}

std::vector<Dion::MatrixState> Dion::states_of(const TrainingStep& step) {
  const std::vector<bool> hidden = spec::hidden_matrices(step.network().shape());
  std::vector<MatrixState> states(step.matrices());
  for (std::size_t l = 0; l < states.size(); ++l) states[l].is_hidden = hidden.at(step.in_network(l));
  return states;
}

SynchronousMethod dion_method() {
  static constexpr spec::RealParameter kFraction{"fraction", 1e-6, 1, "0.25",
                                                 "rank as a share of the shorter side of a matrix, rounded up; the "
                                                 "authors run 1/16 to 1 (1: gradients travel whole)"};
  static constexpr auto kColumns = spec::choice<Dion::Columns>(
      "columns", {{"normalised", Dion::Columns::normalised}, {"orthonormal", Dion::Columns::orthonormal}},
      "normalised: each column of R is divided by its length; orthonormal: R is orthonormalised (Orth-Dion)");
  return {
      {.name = "dion",
       .description = "Sites share two low-rank products of their momenta, and all step along orthonormal directions "
                      "(distributed orthonormalised updates).",
       .source = "Ahn et al., Dion: Distributed Orthonormalized Updates, arXiv 2504.05295; reference program "
                 "microsoft/dion; columns=\"orthonormal\": Orth-Dion, arXiv 2605.16341",
       .payload = "r(p + q) of hidden matrices with r = ⌈fraction · min(p, q)⌉, pq of others, and the q biases",
       .family = "low-rank",
       .formula = "M_s ← M_s + G_s\n"
                  "P = orthonormal columns of Σ_s M_s Q\n"
                  "R = Σ_s M_sᵀ P\n"
                  "M_s ← M_s − (1 − μ) P Rᵀ N_s ÷ ΣN\n"
                  "Q ← columns of R, each of length 1\n"
                  "W ← (1 − η λ) W − η scale P Qᵀ, with μ, η, λ and scale of <muon>",
       .compute = "two products with r columns, Gram–Schmidt, P Rᵀ and P Qᵀ; no Newton–Schulz",
       .checks = "Its definition on the averaged gradient in double: to 1e-4 over 8 steps, with sites of unequal size "
                 "(tests/algorithms/low_rank/dion_test.cpp)\n"
                 "Full rank and a gradient that stands still: U Vᵀ of the singular value decomposition\n"
                 "columns=\"orthonormal\": all singular values of the step are 1\n"
                 "A site that is absent keeps its momentum",
       .parameters = {kFraction, kColumns},
       .sends_sums = true,
       .sums_in_buckets = true,
       .compresses = false,
       .optimizer = Needs::muon,
       .lossless = {{"fraction", "1"}},
       .retained_rank =
           [](const spec::ParameterValues& values) {
             return RetainedRank{(1.0 - sends_factors(kFraction.of(values))) * weights_of_matrix(),
                                 weights_of_matrix()};
           },
       // Q; M takes the place of Muon's moment.
       .state =
           [](const spec::ParameterValues& values) {
             return estimate::AlgorithmState{hidden_matrix() * rank_of_share(kFraction.of(values)) * in()};
           }},
      [](const spec::RunSpec& run) {
        return std::make_unique<Dion>(
            Dion::Options{.fraction = kFraction.of(run.parameters), .columns = kColumns.of(run.parameters)});
      }};
}

}  // namespace dadsim::algorithms
