#include "algorithms/private/lsg.hpp"

#include <boost/random/uniform_01.hpp>
#include <utility>

#include "algorithms/cost.hpp"
#include "algorithms/pieces/largest_entries.hpp"
#include "models/gemm/work_count.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

/// Scores written, and the largest of them found by radix selection in four passes and marked in one more.
step::Work select_largest_work(const step::Expression& numbers) {
  constexpr double kPasses = 6.0;
  return {
      .flops = kPasses * numbers, .bytes_moved = cost::kFloatBytes * (kPasses + 2.0) * numbers, .launches = kPasses};
}

/// H R and Hᵀ L, and H taken on.
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

}  // namespace

step::Expression Lsg::released(const step::Expression& all) const {
  return step::extent::kept_of(sparsity_.density, all);
}

std::optional<Mask> Lsg::choose(TrainingStep& step, std::size_t l, const std::optional<Carriers>& carriers,
                                const step::Expression& rank, const step::Expression& low_rank) {
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

void Lsg::applied(TrainingStep& step, std::size_t l, const models::Matrix& gradient) {
  if (sparsity_.rule != Rule::magnitude) return;
  step.charge(step::Phase::factorise, step::Role::workers, {take_on_work()});
  if (history_[l].size() == 0) {
    history_[l] = gradient;
  } else {
    history_[l] = static_cast<float>(sparsity_.memory) * history_[l] + gradient;
  }
}

}  // namespace dadsim::algorithms
