#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/cost.hpp"
#include "algorithms/low_rank/power_sgd.hpp"
#include "algorithms/methods.hpp"
#include "models/gemm/work_count.hpp"

namespace dadsim::algorithms {
namespace {

using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper

/// Method of computing Q from R.
enum class Columns {
  normalised,   ///< normalises each column of R
  orthonormal,  ///< orthonormalises R (Orth-Dion, arXiv 2605.16341)
};

constexpr float kLeastLength = 1e-8F;  // ε added to the length of a column of R

/// Returns the rank r in symbols, and 1 for matrices that send P and R.
step::Expression rank_of_share(double fraction) { return kept_of(fraction, min({in(), out()})); }
step::Expression sends_factors(double fraction) {
  return hidden_matrix() * exceeds(weights_of_matrix(), rank_of_share(fraction) * (in() + out()));
}

/// Work of computing Q from R, and P Qᵀ.
step::Work direction_work(const step::Expression& r, Columns columns) {
  const bool each = columns == Columns::normalised;
  const step::Expression made = (each ? step::Expression(3.0) : 4.0 * r) * r * in();
  return {.flops = 2.0 * r * weights_of_matrix() + made,
          .bytes_moved = cost::kFloatBytes * (made + weights_of_matrix() + r * (in() + out())),
          .launches = 1.0 + (each ? step::Expression(2.0) : 6.0 * r)};
}

void charge_hidden(TrainingStep& step, step::Phase phase, const step::Work& work) {
  step.charge(phase, step::Role::workers, {cost::only_where(hidden_matrix(), work)});
}

/// State of one matrix within a step.
struct DionMatrix {
  models::Matrix beside;   ///< biases; the gradient too if it is sent whole
  models::Matrix columns;  ///< P, out × r
  models::Matrix rows;     ///< R, in × r
  Pending<models::Matrix> beside_sum, p, r;
};

/// Dion, distributed orthonormalised updates (Ahn et al., arXiv 2504.05295; reference program microsoft/dion). Per
/// hidden matrix (spec::DeltaRelations::hidden_matrix), with G_s (out × in) the gradient of site s with the weight N_s
/// ÷ ΣN, r = ⌈fraction · min(in, out)⌉ and μ the momentum of <muon>:
///   M_s ← M_s + G_s
///   P = orthonormalise(Σ_s M_s Q)            (out × r)   first sum
///   R = Σ_s M_sᵀ P                           (in × r)    second sum
///   M_s ← M_s − (1 − μ) N_s ÷ ΣN · P Rᵀ
///   Q ← the columns of R ÷ (their length + 1e-8), or orthonormalise(R)
///   the step is P Qᵀ, which Muon scales and applies
/// Where r(in + out) ≥ in · out the gradient is summed whole and every site makes P and R by itself. Other parameters
/// are summed uncompressed, and take the AdamW of <muon>. A site that is absent keeps its M_s.
///
/// P and R depend on the M_s through their sum alone, so that one M is kept unless participants change.
class Dion final : public Algorithm {
 public:
  Dion(double fraction, Columns columns) : fraction_(fraction), columns_(columns) {}
  void run(TrainingStep& step) override {
    if (layers_.empty()) begin(step);
    step.apply_directions();
    Exchange& exchange = step.exchange();
    std::vector<DionMatrix> matrices(step.matrices());
    const step::Expression r = rank_of_share(fraction_);
    const step::Expression compressed = sends_factors(fraction_);
    // Sums factors over sites, if they are sent; otherwise every site has the sum.
    const auto sum = [&](std::size_t l, const step::Expression& rows, const models::Matrix& of_all,
                         const std::function<models::Matrix(const models::Matrix& of_site)>& make) {
      const MatrixState& state = layers_[l];
      const Exchange::PartOfSum part = [&state, make](std::size_t s) { return make(state.followed[s]); };
      return exchange.sum_as_it_is(compressed * r * rows, state.sends ? of_all : models::Matrix(),
                                   state.followed.known() ? part : nullptr);
    };
    step.forward();
    step.backward_with_embeddings([&](std::size_t l) {
      MatrixState& state = layers_[l];
      const Gradients gradients = form_gradients(step, l, state.sends, matrices[l].beside);
      for (std::size_t i = 0; i < gradients.size() && state.is_hidden; ++i)
        state.momentum[state.momentum.size() > 1 ? step.among_all(i) : 0] += gradients[i];
      if (state.sends) state.followed.add_gradients(step, l);
      step.backpropagate(l);
    });
    step.stage_of_buckets([&](std::size_t l) {
      DionMatrix& m = matrices[l];
      MatrixState& state = layers_[l];
      m.columns = columns_of(step, l);
      m.beside_sum =
          exchange.sum_as_it_is(beside_matrix() + (1.0 - compressed) * weights_of_matrix(), std::move(m.beside),
                                [&](std::size_t s) { return beside_of_site(step, l, s, !state.sends); });
      m.p = sum(l, out(), m.columns, [&](const auto& m_s) { return models::Matrix(m_s * state.basis); });
    });
    step.stage_of_buckets([&](std::size_t l) {
      DionMatrix& m = matrices[l];
      MatrixState& state = layers_[l];
      if (models::Matrix& p = m.p.wait(); state.sends) m.columns = std::move(p);
      m.rows = rows_of(step, l, m.columns);
      m.r = sum(l, in(), m.rows, [&](const auto& m_s) { return models::Matrix(m_s.transpose() * m.columns); });
    });
    step.stage_of_buckets([&](std::size_t l) {
      DionMatrix& m = matrices[l];
      MatrixState& state = layers_[l];
      models::LayerGradient& gradient = step.gradient(l);
      if (models::Matrix& rows = m.r.wait(); state.sends) m.rows = std::move(rows);
      models::Matrix direction = direction_of(step, l, m.columns, std::move(m.rows));
      take_beside(step, l, state.is_hidden, m.beside_sum.wait());
      gradient.is_direction = state.is_hidden;
      if (state.is_hidden) gradient.weight = std::move(direction);
    });
  }

 private:
  struct MatrixState {
    std::vector<models::Matrix> momentum;  ///< M, out × in: summed over all sites, or per site
    models::Matrix basis;                  ///< Q, in × r
    FollowedSites followed;                ///< M_s, kept for an observer
    Eigen::Index rank = 0;
    bool is_hidden = false;
    bool sends = false;  ///< P and R are sent
  };

  /// Determines hidden matrices and ranks; called in the first step.
  void begin(const TrainingStep& step) {
    const std::vector<bool> hidden = spec::hidden_matrices(step.network().shape());
    layers_.resize(step.matrices());
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      MatrixState& state = layers_[l];
      const Eigen::Index in = step.weights(l).in(), out = step.weights(l).out();
      state.is_hidden = hidden.at(step.in_network(l));
      if (!state.is_hidden) continue;
      state.rank = step::kept_entries(fraction_, std::min(in, out), 1);
      state.sends = in * out > state.rank * (in + out);
      state.momentum.assign(step.sites_change() && state.sends ? step.all_sites() : 1, models::Matrix::Zero(out, in));
      state.basis.setZero(in, state.rank);
    }
  }
  /// Calls `body(M, share)` for the momenta of this step. `share`: N_s ÷ ΣN, or 1 for the sum over all sites.
  template <class Body>
  static void for_momenta(TrainingStep& step, MatrixState& state, const Body& body) {
    if (state.momentum.empty()) return;  // no hidden matrix
    if (state.momentum.size() == 1) return body(state.momentum.front(), 1.0F);
    Eigen::Index all = 0;
    for (std::size_t site = 0; site < step.sites(); ++site) all += step.samples(site);
    for (std::size_t site = 0; site < step.sites(); ++site) {
      body(state.momentum[step.among_all(site)], static_cast<float>(step.samples(site)) / static_cast<float>(all));
    }
  }
  // These functions charge their work.
  /// Returns Σ M Q, and charges its work.
  models::Matrix columns_of(TrainingStep& step, std::size_t l) {
    charge_hidden(step, step::Phase::factorise, project_work(rank_of_share(fraction_)));
    MatrixState& state = layers_[l];
    draw_missing_columns(state.basis, step.seed(), static_cast<std::uint32_t>(l),
                         static_cast<std::uint32_t>(step.number()));
    models::Matrix columns = models::Matrix::Zero(step.weights(l).out(), state.rank);
    for_momenta(step, state, [&](const models::Matrix& momentum, float) {
      columns.noalias() += models::counted(momentum * state.basis);
    });
    return columns;
  }
  /// Orthonormalises P and returns Σ Mᵀ P.
  models::Matrix rows_of(TrainingStep& step, std::size_t l, models::Matrix& columns) {
    charge_hidden(step, step::Phase::factorise, project_back_work(rank_of_share(fraction_)));
    orthonormalise(columns);
    models::Matrix rows = models::Matrix::Zero(step.weights(l).in(), columns.cols());
    for_momenta(step, layers_[l], [&](const models::Matrix& momentum, float) {
      rows.noalias() += models::counted(momentum.transpose() * columns);
    });
    return rows;
  }
  /// Subtracts P Rᵀ from the momenta, computes Q from R and returns P Qᵀ.
  models::Matrix direction_of(TrainingStep& step, std::size_t l, const models::Matrix& columns, models::Matrix rows) {
    charge_hidden(step, step::Phase::merge, reconstruct_work(rank_of_share(fraction_)));  // M − P Rᵀ
    charge_hidden(step, step::Phase::merge, direction_work(rank_of_share(fraction_), columns_));
    MatrixState& state = layers_[l];
    const auto share_sent = static_cast<float>(1 - step.update_rule().optimizer.momentum);
    const models::Matrix sent = share_sent * models::counted(columns * rows.transpose());
    for_momenta(step, state, [&](models::Matrix& momentum, float share) { momentum -= share * sent; });
    state.followed.take_off(step, sent);
    state.basis = std::move(rows);
    if (columns_ == Columns::orthonormal) {
      orthonormalise(state.basis);
    } else {
      for (auto column : state.basis.colwise()) column /= column.norm() + kLeastLength;
    }
    return models::counted(columns * state.basis.transpose());
  }

  double fraction_;
  Columns columns_;
  std::vector<MatrixState> layers_;
};

}  // namespace

SynchronousMethod dion_method() {
  static constexpr spec::RealParameter kFraction{
      "fraction", 1e-6, 1, "0.25",
      "rank as a share of the shorter side of a matrix, rounded up; the reference program uses 1 (gradients are sent "
      "whole), and 1/2 for 160M parameters"};
  static constexpr auto kColumns = spec::choice<Columns>(
      "columns", {{"normalised", Columns::normalised}, {"orthonormal", Columns::orthonormal}},
      "normalised: each column of R is divided by its length; orthonormal: R is orthonormalised (Orth-Dion)");
  return {{.name = "dion",
           .family = "low-rank",
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
           // Counts Q; M replaces Muon's momentum.
           .state =
               [](const spec::ParameterValues& values) {
                 return estimate::AlgorithmState{hidden_matrix() * rank_of_share(kFraction.of(values)) * in()};
               }},
          [](const spec::RunSpec& run) {
            return std::make_unique<Dion>(kFraction.of(run.parameters), kColumns.of(run.parameters));
          }};
}

}  // namespace dadsim::algorithms
