#include <memory>
#include <utility>
#include <vector>

#include "algorithms/cost.hpp"
#include "algorithms/low_rank/power_sgd.hpp"
#include "algorithms/methods.hpp"
#include "models/gemm/work_count.hpp"

namespace dadsim::algorithms {
namespace {

/// ACP-SGD, alternating compression with error feedback (Zhang, Zhang, Shi, Chu, Li, ICDCS 2023, arXiv 2306.08881;
/// authors' program lzhangbv/acpsgd). Per matrix, with G_s (out × in) the gradient of site s with the weight N_s ÷ ΣN
/// and r = min(rank, in, out):
///   M_s = G_s + E_s
///   even steps:  Q ← orthonormalise(Q),  P_s = M_s Q  (out × r),  E_s = M_s − P_s Qᵀ,  P = Σ_s P_s
///   odd steps:   P ← orthonormalise(P),  Q_s = M_sᵀ P  (in × r),  E_s = M_s − P Q_sᵀ,  Q = Σ_s Q_s
///   G ≈ P Qᵀ
/// A step sends one factor, in one sum that does not wait for another. E_s follows from the site's own factor, before
/// the sum; a site that is absent keeps its E_s. P and Q start as N(0, 1), the same at every site. Biases are summed
/// uncompressed. Uncompressed sums depend on the E_s through their sum alone, which is then kept once for all sites.
class AcpSgd final : public Algorithm {
 public:
  explicit AcpSgd(SubspaceOptions options) : options_(options) {}
  void run(TrainingStep& step) override;

 private:
  struct AlternatingFactors {
    std::vector<models::Matrix> memory;  ///< out × in: E between steps, summed over all sites or per site
    models::Matrix p, q;                 ///< out × r and in × r
    FollowedSites followed;
  };
  SubspaceOptions options_;
  std::vector<AlternatingFactors> layers_;
};

/// Returns P Qᵀ, and charges its work; empty if the matrix is not compressed.
models::Matrix product_of_factors(TrainingStep& step, const models::Matrix& p, const models::Matrix& q,
                                  const step::Expression& compressed, const step::Expression& rank) {
  step.charge(step::Phase::merge, step::Role::workers, {cost::only_where(compressed, cost::product_of_factors(rank))});
  return models::counted(p * q.transpose());
}

/// State of one matrix within a step.
struct AlternatingMatrix {
  Gradients gradients;
  models::Matrix beside;  ///< biases; the matrix too if it is not compressed
  Pending<models::Matrix> beside_sum, factor;
};

void AcpSgd::run(TrainingStep& step) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  layers_.resize(step.matrices());
  Exchange& exchange = step.exchange();
  std::vector<AlternatingMatrix> matrices(step.matrices());
  const step::Expression r = matrix_rank(step.recorder().add_slot({static_cast<std::int32_t>(options_.rank)}));
  const step::Expression compressed = options_.compresses(r);  // 1 if compressed, else 0
  const bool sends_q = step.number() % 2 == 1;
  const auto is_compressed = [&](std::size_t l) {
    return options_.compresses(step.weights(l).in(), step.weights(l).out());
  };
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    matrices[l].gradients = form_gradients(step, l, is_compressed(l), matrices[l].beside);
    if (is_compressed(l)) layers_[l].followed.add_gradients(step, l);
    step.backpropagate(l);
  });
  // Sends bucket by bucket, overlapped with the backward pass, like the hooks of the authors' program.
  step.stage_of_buckets([&](std::size_t l) {
    AlternatingMatrix& m = matrices[l];
    AlternatingFactors& state = layers_[l];
    models::Matrix& basis = sends_q ? state.p : state.q;
    m.beside_sum =
        exchange.sum_as_it_is(beside_matrix() + (1.0 - compressed) * weights_of_matrix(), std::move(m.beside),
                              [&](std::size_t s) { return beside_of_site(step, l, s, !is_compressed(l)); });
    std::vector<models::Matrix> own =
        project_half(step, l, std::move(m.gradients), state.memory, basis, sends_q, options_, r);
    const Exchange::PartOfSum part = [&](std::size_t s) {
      const models::Matrix& m_s = state.followed[s];
      return sends_q ? models::Matrix(m_s.transpose() * basis) : models::Matrix(m_s * basis);
    };
    m.factor = exchange.sum(compressed * r * (sends_q ? in() : out()), std::move(own),
                            state.followed.known() ? part : nullptr);
    state.followed.take_off_projection(basis, sends_q);
  });
  step.stage_of_buckets([&](std::size_t l) {
    AlternatingFactors& state = layers_[l];
    (sends_q ? state.q : state.p) = std::move(matrices[l].factor.wait());
    step.gradient(l).weight = product_of_factors(step, state.p, state.q, compressed, r);
    take_beside(step, l, is_compressed(l), matrices[l].beside_sum.wait());
  });
}

}  // namespace

SynchronousMethod acp_sgd_method() {
  static constexpr spec::IntegerParameter kRank{"rank", 1, 65536, "4",
                                                "components per matrix, at most its rows or columns"};
  static constexpr spec::RealParameter kLeastCompression{
      "least-compression", 0, 1e6, "1",
      "a matrix is compressed only if it is larger than P and Q together by more than this factor; the authors' "
      "program compresses every matrix (0)"};
  return {
      {.name = "acp-sgd",
       .family = "low-rank",
       .parameters = {kRank, kLeastCompression},
       .sends_sums = true,
       .sums_in_buckets = true,
       .forgets = "P and Q are sent in turn, and errors of P do not fit Q",
       .lossless = {{"rank", "65536"}, {"least-compression", "1"}},
       // Returns 0 for compressed matrices, because a random basis leaves out a part of each.
       .retained_rank =
           [](const spec::ParameterValues& values) {
             using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
             const step::Expression all = min({in(), delta_directions(), all_rows()});
             const step::Expression rank = min({static_cast<double>(kRank.of(values)), in(), out()});
             const SubspaceOptions options{.least_compression = kLeastCompression.of(values)};
             return RetainedRank{(1.0 - options.compresses(rank)) * all, all};
           },
       // Counts the error memory, P and Q.
       .state =
           [](const spec::ParameterValues& values) {
             return estimate::AlgorithmState{
                 step::extent::in() * step::extent::out() +
                     step::extent::matrix_rank(0) * (step::extent::in() + step::extent::out()),
                 static_cast<std::int32_t>(kRank.of(values)), true};
           }},
      [](const spec::RunSpec& run) {
        return std::make_unique<AcpSgd>(SubspaceOptions{.rank = kRank.of(run.parameters),
                                                        .least_compression = kLeastCompression.of(run.parameters)});
      }};
}

}  // namespace dadsim::algorithms
