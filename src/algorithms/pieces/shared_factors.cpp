#include "algorithms/pieces/shared_factors.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "algorithms/cost.hpp"
#include "models/gemm/work_count.hpp"
#include "support/parallel.hpp"

namespace dadsim::algorithms {

Factors FactorMemory::factorise(std::size_t of, const models::ConstBlock& delta, const models::ConstBlock& input,
                                const FactoriseOptions& options, std::uint64_t seed, std::uint32_t stream,
                                std::uint32_t step) {
  models::Matrix whole = models::counted(delta.transpose() * input);
  if (held_.at(of).size() > 0) whole += held_[of];
  Factors factors = factorise_matrix(whole, options, seed, stream, step);
  if (factors.rank() > 0) whole.noalias() -= models::counted(factors.left.transpose() * factors.right);
  held_[of] = std::move(whole);
  return factors;
}

std::vector<step::Work> factorise_work(const FactorMemory* memory, const step::Expression& rows,
                                       const step::Expression& rank, const FactoriseOptions& options) {
  if (memory == nullptr) return factorise_work(rows, rank, options);
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  step::Work work = factorise_work(rows, rank, options).back();  // work of forming and updating the dense matrix
  const step::Expression entries = in_with_bias() * out();
  work.flops = work.flops + entries + 2.0 * rank * entries;
  work.bytes_moved = work.bytes_moved + cost::kFloatBytes * (4.0 * entries + rank * (in_with_bias() + out()));
  work.launches = work.launches + 2.0;
  return {work};
}

namespace {

/// Returns [A 1], so that the last column of Δᵀ [A 1] is the gradient of the bias.
models::Matrix with_ones(const models::ConstBlock& input, bool bias) {
  models::Matrix augmented(input.rows(), input.cols() + (bias ? 1 : 0));
  augmented.leftCols(input.cols()) = input;
  if (bias) augmented.col(input.cols()).setOnes();
  return augmented;
}

/// Returns the number of the random stream of starts: one per layer at the sites, and one per layer for merging. All
/// sites use the same stream, so that the result does not depend on how data are distributed.
std::uint32_t stream_of(std::size_t layer, bool merging) {
  return static_cast<std::uint32_t>(2 * layer + (merging ? 1 : 0));
}

/// Appends zeros to the components found, up to `most`.
void pad_to(Factors& factors, Eigen::Index most) {
  const Eigen::Index found = factors.rank();
  for (models::Matrix* matrix : {&factors.left, &factors.right}) {
    matrix->conservativeResize(most, Eigen::NoChange);
    matrix->bottomRows(most - found).setZero();
  }
}

/// Appends zeros up to the cap, or to the largest rank that the matrix allows.
void pad(Factors& factors, std::int64_t cap) {
  pad_to(factors, std::min({static_cast<Eigen::Index>(cap), factors.right.cols(), factors.left.cols()}));
}

/// Returns the rank after pad().
step::Expression padded_rank(TrainingStep& step, const SharedFactorsOptions& options) {
  return step::extent::biased_rank(step.recorder().add_slot({static_cast<std::int32_t>(options.factorise.cap)}));
}

/// Returns the number of components found, in symbols, in the factors of `rows` rows.
step::Expression rank_found(TrainingStep& step, std::vector<std::int32_t> components, const step::Expression& rows,
                            const SharedFactorsOptions& options) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the papers
  return censored_rank(slot(step.recorder().add_slot(std::move(components))),
                       static_cast<double>(options.factorise.cap), min({in_with_bias(), out(), rows}),
                       min({in_with_bias(), delta_directions(), rows}));
}

/// Returns the largest number of directions that a matrix of the layer can have.
step::Expression any_rows() { return step::extent::min({step::extent::in_with_bias(), step::extent::out()}); }

}  // namespace

Contribution SiteFactors::contribution() const {
  return {rows_,
          {{step::extent::out(), [this](std::size_t s) { return models::ConstBlock(of_[s].left); }},
           {step::extent::in_with_bias(), [this](std::size_t s) { return models::ConstBlock(of_[s].right); }}}};
}

SiteRows rows_of_step(TrainingStep& step, std::size_t l) {
  return {[&step, l](std::size_t site) { return step.input(site, l); },
          [&step, l](std::size_t site) { return step.delta(site, l); }, step::extent::rows()};
}

SiteFactors factorise_sites(TrainingStep& step, std::size_t l, const SharedFactorsOptions& options,
                            FactorMemory* memory) {
  return factorise_sites(step, l, options, rows_of_step(step, l), memory);
}

SiteFactors factorise_sites(TrainingStep& step, std::size_t l, const SharedFactorsOptions& options, const SiteRows& own,
                            FactorMemory* memory) {
  const models::WeightsOf<float>& weights = step.weights(l);
  const std::int64_t in = weights.in() + (weights.has_bias() ? 1 : 0);
  std::map<Eigen::Index, FactoriseBranch> branch;
  for (std::size_t site = 0; site < step.sites(); ++site) {
    const Eigen::Index rows = own.delta(site).rows();
    if (!branch.contains(rows)) branch[rows] = cheaper_branch(rows, in, weights.out(), options.factorise);
  }
  std::vector<Factors> factors(step.sites());
  if (memory != nullptr) memory->hold(step.all_sites() + 1);
  parallel_for(step.sites(), [&](std::size_t site) {
    const models::ConstBlock delta = own.delta(site);
    const models::Matrix input = with_ones(own.input(site), weights.has_bias());
    const auto number = static_cast<std::uint32_t>(step.number());
    const std::uint32_t stream = stream_of(l, false);
    factors[site] =
        memory == nullptr
            ? factorise(delta, input, options.factorise, step.seed(), stream, number, branch.at(delta.rows()))
            : memory->factorise(step.among_all(site), delta, input, options.factorise, step.seed(), stream, number);
  });

  std::vector<std::int32_t> found;
  double sum = 0;
  double with_rows = 0;  // a site without rows has no gradient, and so no rank
  Eigen::Index most = 0;
  for (std::size_t site = 0; site < factors.size(); ++site) {
    const Eigen::Index rank = factors[site].rank();
    found.push_back(static_cast<std::int32_t>(rank));
    sum += static_cast<double>(rank);
    most = std::max(most, rank);
    if (own.delta(site).rows() > 0) ++with_rows;
  }
  step.ranks().site.resize(step.layers());
  step.ranks().site[l] = sum / with_rows;
  const step::Expression rank = rank_found(step, std::move(found), memory == nullptr ? own.rows : any_rows(), options);
  step.charge(step::Phase::factorise, step::Role::workers, factorise_work(memory, own.rows, rank, options.factorise));
  const bool agree = options.padding == Padding::agree && step.exchange().mode() == spec::ExchangeMode::peer;
  if (options.padding == Padding::none || (options.padding == Padding::agree && !agree)) {
    return {std::move(factors), rank};
  }
  if (agree) {
    step.exchange().agree_on_most(static_cast<float>(most));
    for (Factors& f : factors) pad_to(f, most);
    return {std::move(factors), step::extent::most_of_workers(rank)};
  }
  for (Factors& f : factors) pad(f, options.factorise.cap);
  return {std::move(factors), padded_rank(step, options)};
}

Combination refactorise(TrainingStep& step, std::size_t l, const SharedFactorsOptions& options,
                        const step::Expression& rows, FactorMemory* memory) {
  return [&step, l, options, all_rows = memory == nullptr ? step::extent::over_workers(rows) : any_rows(), memory](
             const Rows& all, step::Role who) -> Rows {
    const auto number = static_cast<std::uint32_t>(step.number());
    const std::uint32_t stream = stream_of(l, true);
    Factors merged = memory == nullptr ? factorise(all[0], all[1], options.factorise, step.seed(), stream, number)
                                       : memory->factorise(step.all_sites(), all[0], all[1], options.factorise,
                                                           step.seed(), stream, number);
    step.ranks().merged.resize(step.layers());
    step.ranks().merged[l] = static_cast<double>(merged.rank());
    step::Expression rank = rank_found(step, {static_cast<std::int32_t>(merged.rank())}, all_rows, options);
    step.charge(step::Phase::merge, who, factorise_work(memory, all.rows, rank, options.factorise));
    // Pads only factors that are sent.
    if (who == step::Role::aggregator && options.padding == Padding::cap) {
      pad(merged, options.factorise.cap);
      rank = padded_rank(step, options);
    }
    Rows result{std::move(rank), {}, {}};
    result.parts.push_back(std::move(merged.left));
    result.parts.push_back(std::move(merged.right));
    return result;
  };
}

Combination keep_all(TrainingStep& step, std::size_t l) {
  return [&step, l](Rows all, step::Role) {
    step.ranks().merged.resize(step.layers());
    double with_rows = 0;
    for (std::size_t site = 0; site < step.sites(); ++site) with_rows += step.samples(site) > 0 ? 1 : 0;
    step.ranks().merged[l] = std::round(step.ranks().site[l] * with_rows);
    return all;
  };
}

models::LayerGradient multiply(TrainingStep& step, std::size_t l, const Rows& factors) {
  step.charge(step::Phase::weight_gradient, step::Role::workers, {cost::product_of_factors(factors.rows)});
  const models::Matrix& left = factors[0];
  const models::Matrix& right = factors[1];
  const bool bias = step.weights(l).has_bias();
  const Eigen::Index in = right.cols() - (bias ? 1 : 0);
  models::LayerGradient gradient;
  gradient.weight.noalias() = models::counted(left.transpose() * right.leftCols(in));
  if (bias) gradient.bias = models::counted(left.transpose() * right.col(in));
  return gradient;
}

}  // namespace dadsim::algorithms
