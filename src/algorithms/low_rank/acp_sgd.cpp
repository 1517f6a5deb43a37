#include "algorithms/low_rank/acp_sgd.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "algorithms/cost.hpp"
#include "algorithms/low_rank/power_sgd.hpp"
#include "algorithms/methods.hpp"
#include "models/gemm/work_count.hpp"
#include "support/parallel.hpp"

namespace dadsim::algorithms {
namespace {

/// Returns whether a step sends P; otherwise it sends Q.
bool sends_p(const TrainingStep& step) { return step.number() % 2 == 0; }

/// Work of an orthonormal basis with `rows` rows (as in subspace.cpp), of M = G + E, of the factor, and of the new E.
step::Work factor_work(const step::Expression& rows, const step::Expression& rank) {
  const step::Expression gram_schmidt = 4.0 * rank * rank * rows;
  return {.flops = gram_schmidt + (4.0 * rank + 2.0) * weights_of_matrix(),
          .bytes_moved = cost::kFloatBytes * (0.5 * gram_schmidt + 6.0 * weights_of_matrix() +
                                              2.0 * rank * (step::extent::in() + step::extent::out())),
          .launches = 6.0 * rank + 3.0};
}

/// Work of G = P Qᵀ.
step::Work product_work(const step::Expression& rank) {
  return {.flops = 2.0 * rank * weights_of_matrix(),
          .bytes_moved = cost::kFloatBytes * (weights_of_matrix() + rank * (step::extent::in() + step::extent::out())),
          .launches = 1.0};
}

/// One matrix within a step.
struct MatrixOfStep {
  models::Matrix beside;                 ///< biases, and the matrix itself if it is not compressed
  std::vector<models::Matrix> of_sites;  ///< P_s or Q_s
  Pending<models::Matrix> beside_sum, factor;
};

}  // namespace

models::Matrix AcpSgd::add_gradients(TrainingStep& step, std::size_t l, bool is_compressed) {
  const models::WeightsOf<float>& weights = step.weights(l);
  const TrainingStep::GradientOfSite add_to = step.site_gradients(l);
  std::vector<models::LayerGradient> own(step.sites());
  parallel_for(own.size(), [&](std::size_t s) {
    own[s] = {models::Matrix::Zero(weights.out(), weights.in()), models::Vector::Zero(weights.bias.size())};
    add_to(s, own[s]);
  });
  const Eigen::Index biases = weights.bias.size();
  models::Matrix beside = models::Matrix::Zero(biases + (is_compressed ? 0 : weights.weight.size()), 1);
  std::vector<models::Matrix>& memory = layers_[l].memory;
  memory.resize(step.all_sites());
  for (std::size_t s = 0; s < own.size(); ++s) {
    beside.topRows(biases) += own[s].bias;
    models::Matrix& kept = memory[step.among_all(s)];
    if (!is_compressed) {
      beside.bottomRows(weights.weight.size()) += own[s].weight.reshaped<Eigen::RowMajor>();
    } else if (kept.size() == 0) {
      kept = std::move(own[s].weight);
    } else {
      kept += own[s].weight;
    }
  }
  return beside;
}

std::vector<models::Matrix> AcpSgd::factors_of_sites(TrainingStep& step, std::size_t l,
                                                     const step::Expression& compressed, const step::Expression& rank) {
  const bool p = sends_p(step);
  step.charge(step::Phase::factorise, step::Role::workers,
              {cost::only_where(compressed, factor_work(p ? step::extent::in() : step::extent::out(), rank))});
  const models::WeightsOf<float>& weights = step.weights(l);
  AlternatingFactors& state = layers_[l];
  models::Matrix& basis = p ? state.q : state.p;
  if (basis.size() == 0) {
    basis.setZero(p ? weights.in() : weights.out(),
                  std::min({static_cast<Eigen::Index>(options_.rank), weights.in(), weights.out()}));
  }
  draw_missing_columns(basis, step.seed(), static_cast<std::uint32_t>(l), static_cast<std::uint32_t>(step.number()));
  orthonormalise(basis);
  std::vector<models::Matrix> factors(step.sites());
  parallel_for(factors.size(), [&](std::size_t s) {
    models::Matrix& m = state.memory[step.among_all(s)];
    if (p) {
      factors[s].noalias() = models::counted(m * basis);
      m.noalias() -= models::counted(factors[s] * basis.transpose());
    } else {
      factors[s].noalias() = models::counted(m.transpose() * basis);
      m.noalias() -= models::counted(basis * factors[s].transpose());
    }
  });
  return factors;
}

void AcpSgd::run(TrainingStep& step) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  layers_.resize(step.matrices());
  const SubspaceOptions options{options_.rank, false, options_.least_compression};
  Exchange& exchange = step.exchange();
  std::vector<MatrixOfStep> matrices(step.matrices());
  const step::Expression r = matrix_rank(step.recorder().add_slot({static_cast<std::int32_t>(options_.rank)}));
  const step::Expression compressed = options.compresses(r);  // 0 or 1
  const auto is_compressed = [&](std::size_t l) {
    return options.compresses(step.weights(l).in(), step.weights(l).out());
  };
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    matrices[l].beside = add_gradients(step, l, is_compressed(l));
    step.backpropagate(l);
  });
  // Bucket by bucket, overlapped with the backward pass, as the hooks of the authors' program do.
  step.stage_of_buckets([&](std::size_t l) {
    MatrixOfStep& m = matrices[l];
    m.beside_sum =
        exchange.sum_as_it_is(beside_matrix() + (1.0 - compressed) * weights_of_matrix(), std::move(m.beside),
                              [&](std::size_t s) { return beside_of_site(step, l, s, !is_compressed(l)); });
    if (is_compressed(l)) {
      m.of_sites = factors_of_sites(step, l, compressed, r);
    } else {
      step.charge(step::Phase::factorise, step::Role::workers,
                  {cost::only_where(compressed, factor_work(sends_p(step) ? in() : out(), r))});
      m.of_sites.resize(step.sites());
    }
    std::vector<models::Matrix> sent = m.of_sites;
    for (; !exchange.compresses() && sent.size() > 1; sent.pop_back()) sent.front() += sent.back();
    m.factor = exchange.sum(compressed * r * (sends_p(step) ? out() : in()), std::move(sent),
                            [&m](std::size_t s) { return m.of_sites[s]; });
  });
  step.stage_of_buckets([&](std::size_t l) {
    MatrixOfStep& m = matrices[l];
    AlternatingFactors& state = layers_[l];
    models::LayerGradient& gradient = step.gradient(l);
    models::Matrix factor = std::move(m.factor.wait());
    step.charge(step::Phase::merge, step::Role::workers, {cost::only_where(compressed, product_work(r))});
    const models::Matrix& beside = m.beside_sum.wait();
    gradient.bias = beside.topRows(step.weights(l).bias.size()).reshaped();
    if (!is_compressed(l)) {
      gradient.weight = beside.bottomRows(beside.rows() - gradient.bias.size())
                            .reshaped<Eigen::RowMajor>(step.weights(l).out(), step.weights(l).in());
      return;
    }
    (sends_p(step) ? state.p : state.q) = std::move(factor);
    gradient.weight.noalias() = models::counted(state.p * state.q.transpose());
  });
}

SynchronousMethod acp_sgd_method() {
  static constexpr spec::IntegerParameter kRank{
      "rank", 1, 65536, "4", "components of every matrix, as far as it has as many rows and columns"};
  static constexpr spec::RealParameter kLeastCompression{
      "least-compression", 0, 1e6, "1",
      "a matrix is sent as it is unless that takes more than this many times as much as P and Q together; the authors' "
      "program compresses every matrix (0)"};
  return {
      {.name = "acp-sgd",
       .description = "Sites share one of PowerSGD's two factors per step, in turn, and keep the error of their own "
                      "(alternating compression).",
       .source = "Zhang, Zhang, Shi, Chu, Li, Evaluation and Optimization of Gradient Compression for Distributed Deep "
                 "Learning, ICDCS 2023, arXiv 2306.08881; authors' program lzhangbv/acpsgd",
       .payload = "rq and rp in turn, and the q biases",
       .family = "low-rank",
       .formula = "M_s = G_s + E_s\n"
                  "even: Q ← orth(Q), P_s = M_s Q, E_s = M_s − P_s Qᵀ, P = Σ_s P_s\n"
                  "odd: P ← orth(P), Q_s = M_sᵀ P, E_s = M_s − P Q_sᵀ, Q = Σ_s Q_s\n"
                  "G = P Qᵀ",
       .compute = "Gram–Schmidt of one factor, two products with r columns, and P Qᵀ",
       .checks = "Its definition, site by site in double: to 2e-5 over 8 steps, with sites of unequal size "
                 "(tests/algorithms/low_rank/acp_sgd_test.cpp)\n"
                 "What was applied and what sites keep add up to all gradients, to 1e-6\n"
                 "A gradient that stands still, without memory: step by step to the best approximation of rank r\n"
                 "Bytes of two steps: those of one step of power-sgd (tests/algorithms/payload_test.cpp)",
       .parameters = {kRank, kLeastCompression},
       .sends_sums = true,
       .sums_in_buckets = true,
       .forgets = "it sends P and Q in turn, and what is lost of one is no part of the other",
       .lossless = {{"rank", "65536"}, {"least-compression", "1"}},
       // A random basis loses something of every matrix that is compressed.
       .retained_rank =
           [](const spec::ParameterValues& values) {
             using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
             const step::Expression all = min({in(), delta_directions(), all_rows()});
             const step::Expression rank = min({static_cast<double>(kRank.of(values)), in(), out()});
             const SubspaceOptions options{.least_compression = kLeastCompression.of(values)};
             return RetainedRank{(1.0 - options.compresses(rank)) * all, all};
           },
       // The error memory, P and Q.
       .state =
           [](const spec::ParameterValues& values) {
             return estimate::AlgorithmState{
                 step::extent::in() * step::extent::out() +
                     step::extent::matrix_rank(0) * (step::extent::in() + step::extent::out()),
                 static_cast<std::int32_t>(kRank.of(values)), true};
           }},
      [](const spec::RunSpec& run) {
        return std::make_unique<AcpSgd>(AcpSgd::Options{.rank = kRank.of(run.parameters),
                                                        .least_compression = kLeastCompression.of(run.parameters)});
      }};
}

}  // namespace dadsim::algorithms
