
#include <boost/random/uniform_01.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/cost.hpp"
#include "algorithms/methods.hpp"
#include "algorithms/pieces/largest_entries.hpp"
#include "algorithms/private/rgp.hpp"
#include "methods/idle_parameters.hpp"
#include "models/gemm/work_count.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

/// Work of writing scores, finding the largest by radix selection in four passes and marking them in one more.
step::Work select_largest_work(const step::Expression& numbers) {
  constexpr double kPasses = 6.0;
  return {
      .flops = kPasses * numbers, .bytes_moved = cost::kFloatBytes * (kPasses + 2.0) * numbers, .launches = kPasses};
}

/// Work of H R and Hᵀ L, and of updating H.
step::Work history_work(const step::Expression& rank) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): a formula
  return {.flops = 4.0 * rank * in() * out(),
          .bytes_moved = cost::kFloatBytes * (2.0 * in() * out() + 2.0 * rank * (in() + out())),
          .launches = 2.0};
}

step::Work take_on_work() {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): a formula
  return {.flops = 2.0 * in() * out(), .bytes_moved = cost::kFloatBytes * 3.0 * in() * out(), .launches = 1.0};
}

void fill_by_chance(models::Matrix& scores, const TrainingStep& step, std::size_t l) {
  RandomStream random(step.seed(), Purpose::coordinates, static_cast<std::uint32_t>(l),
                      static_cast<std::uint32_t>(step.number()));
  boost::random::uniform_01<float> uniform;
  for (float& x : scores.reshaped()) x = uniform(random);
}

/// In the spirit of LSG (Ito, Liew, Takahashi, Sasaki, Onizuka, Scaling Private Deep Learning with Low-Rank and Sparse
/// Gradients, arXiv 2207.02699): RGP that keeps only a share of the numbers, so that noise is added to few. The
/// abstract names no selection rule; the rules here are ours. All of them use only what all sites already know, so that
/// selection spends no privacy and no mask is sent. Numbers that are not kept are zeroed before norms are taken:
/// clipping applies to what is released.
///     S = the ⌈density · numbers⌉ largest scores of a matrix
///     random:    drawn anew in every step; the default, since it learned best (docs/private.md)
///     magnitude: |H R|, |Hᵀ L| with H = Σ_s memory^{t−1−s} G_s of the noisy gradients applied before; random at the
///                first step
///     synflow:   |L_ik| Σ_j |R_jk|, |R_jk| Σ_i |L_ik|: the score of Tanaka et al., Pruning neural networks without any
///                data by iteratively conserving synaptic flow, NeurIPS 2020, arXiv 2006.05467, of a single layer
class Lsg final : public Rgp {
 public:
  enum class Rule : std::uint8_t { magnitude, random, synflow };
  struct Sparsity {
    double density = 0.25;  ///< share of the numbers that are released
    Rule rule = Rule::random;
    double memory = 0.9;
  };
  Lsg(const PrivacyOptions& privacy, const Options& options, const Sparsity& sparsity)
      : Rgp(privacy, options), sparsity_(sparsity) {}

 protected:
  step::Expression released(const step::Expression& all) const override {
    return step::extent::kept_of(sparsity_.density, all);
  }
  std::optional<Mask> choose(TrainingStep& step, std::size_t l, const std::optional<Carriers>& carriers,
                             const step::Expression& rank, const step::Expression& low_rank) override {
    using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
    const step::Expression numbers = low_rank * rank * (in() + out()) + (1.0 - low_rank) * in() * out();
    step.charge(step::Phase::factorise, step::Role::workers, {select_largest_work(numbers)});
    const models::Matrix& weights = step.weights(l).weight;
    history_.resize(step.layers());
    const bool by_history = sparsity_.rule == Rule::magnitude && history_[l].size() > 0;
    if (by_history) step.charge(step::Phase::factorise, step::Role::workers, {times(low_rank, history_work(rank))});

    models::Matrix first(weights.rows(), carriers ? carriers->left.cols() : weights.cols());
    models::Matrix second(carriers ? weights.cols() : 0, carriers ? carriers->right.cols() : 0);
    models::Matrix scores(1, first.size() + second.size());
    if (by_history && carriers) {
      first.noalias() = models::counted(history_[l] * carriers->right);
      second.noalias() = models::counted(history_[l].transpose() * carriers->left);
    } else if (by_history) {
      first = history_[l];
    } else if (sparsity_.rule == Rule::synflow && carriers) {
      first = carriers->left.cwiseAbs() * carriers->right.cwiseAbs().colwise().sum().asDiagonal();
      second = carriers->right.cwiseAbs() * carriers->left.cwiseAbs().colwise().sum().asDiagonal();
    } else if (sparsity_.rule == Rule::synflow) {
      first = weights;
    }
    if (by_history || sparsity_.rule == Rule::synflow) {
      scores.leftCols(first.size()) = first.reshaped<Eigen::RowMajor>().transpose();
      scores.rightCols(second.size()) = second.reshaped<Eigen::RowMajor>().transpose();
    } else {
      fill_by_chance(scores, step, l);
    }
    Mask mask;
    mask.indices = take_largest(scores, step::kept_entries(sparsity_.density, scores.size(), 1)).indices;
    first.setZero();
    second.setZero();
    for (const std::int32_t index : mask.indices) {
      if (index < first.size()) {
        first.data()[index] = 1.0F;
      } else {
        second.data()[index - first.size()] = 1.0F;
      }
    }
    mask.first = std::move(first);
    mask.second = std::move(second);
    return mask;
  }
  void applied(TrainingStep& step, std::size_t l, const models::Matrix& gradient) override {
    if (sparsity_.rule != Rule::magnitude) return;
    step.charge(step::Phase::factorise, step::Role::workers, {take_on_work()});
    if (history_[l].size() == 0) {
      history_[l] = gradient;
    } else {
      history_[l] = static_cast<float>(sparsity_.memory) * history_[l] + gradient;
    }
  }

 private:
  Sparsity sparsity_;
  std::vector<models::Matrix> history_;  ///< out × in: H
};

}  // namespace

SynchronousMethod lsg_method() {
  static constexpr spec::RealParameter kDensity{"density", 1e-6, 1, "0.25",
                                                "share of each matrix's carriers that is released"};
  static constexpr auto kMask = spec::choice<Lsg::Rule>(
      "mask", {{"random", Lsg::Rule::random}, {"magnitude", Lsg::Rule::magnitude}, {"synflow", Lsg::Rule::synflow}},
      "random: draw entries anew in every step; magnitude: keep those with the largest noisy gradients so far; "
      "synflow: keep those with the largest synaptic flow");
  static constexpr spec::RealParameter kMemory{
      "memory", 0, 1, "0.9",
      "magnitude: share of the accumulated noisy gradients kept after each step; 0: only the last step; 1: all steps"};
  return as_private(
      {{.name = "lsg",
        .parameters = {Rgp::kRank, Rgp::kWarmUp, kDensity, kMask, kMemory},
        .check =
            [](const RunFacts& facts) {
              return methods::faults_of_idle_parameters(facts.run.parameters, {{kMemory, kMask, {"magnitude"}}});
            },
        .lossless = {{"rank", "65536"}, {"density", "1"}},
        // Counts the state of rgp, and the history H.
        .state =
            [](const spec::ParameterValues& values) {
              using namespace step::extent;  // NOLINT(google-build-using-namespace): a formula
              return estimate::AlgorithmState{
                  2.0 * in() * out() + matrix_rank(0) * (2.0 * (in() + out()) + 2.0 * rows()),
                  static_cast<std::int32_t>(Rgp::kRank.of(values))};
            }},
       [](const spec::RunSpec& run) {
         return std::make_unique<Lsg>(privacy_options(run.parameters), rgp_options(run.parameters),
                                      Lsg::Sparsity{.density = kDensity.of(run.parameters),
                                                    .rule = kMask.of(run.parameters),
                                                    .memory = kMemory.of(run.parameters)});
       }});
}

}  // namespace dadsim::algorithms
