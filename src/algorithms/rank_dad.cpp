#include "algorithms/rank_dad.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "support/parallel.hpp"

namespace dadsim::algorithms {
namespace {

/// [A 1]: with a column of ones the last column of Δᵀ [A 1] is the gradient of the bias.
models::Matrix with_ones(const models::ConstBlock& input, bool bias) {
  models::Matrix augmented(input.rows(), input.cols() + (bias ? 1 : 0));
  augmented.leftCols(input.cols()) = input;
  if (bias) augmented.col(input.cols()).setOnes();
  return augmented;
}

/// Lᵀ R, taken apart into matrix and bias.
models::LayerGradient product(const models::Matrix& left, const models::Matrix& right, bool bias) {
  models::LayerGradient gradient;
  const Eigen::Index in = right.cols() - (bias ? 1 : 0);
  gradient.weight.noalias() = left.transpose() * right.leftCols(in);
  if (bias) gradient.bias = left.transpose() * right.col(in);
  return gradient;
}

/// Streams of random starts: one per layer at the sites (the same at every site: the result does not depend on which
/// site holds which data), and one per layer for merging.
std::uint32_t stream_of(std::size_t layer, bool merging) {
  return static_cast<std::uint32_t>(2 * layer + (merging ? 1 : 0));
}

}  // namespace

std::vector<Factors> RankDad::factorise_sites(TrainingStep& step, std::size_t layer) const {
  const models::WeightsOf<float>& weights = step.weights(layer);
  const std::int64_t in = weights.in() + (weights.has_bias() ? 1 : 0);
  std::map<Eigen::Index, FactoriseBranch> branch;
  for (std::size_t site = 0; site < step.sites(); ++site) {
    const Eigen::Index rows = step.delta(site, layer).rows();
    if (!branch.contains(rows)) branch[rows] = cheaper_branch(rows, in, weights.out(), options_);
  }
  std::vector<Factors> factors(step.sites());
  parallel_for(step.sites(), [&](std::size_t site) {
    factors[site] = factorise(step.delta(site, layer), with_ones(step.input(site, layer), weights.has_bias()), options_,
                              step.seed(), stream_of(layer, false), static_cast<std::uint32_t>(step.number()),
                              branch.at(step.delta(site, layer).rows()));
  });
  return factors;
}

Factors RankDad::merge(const models::Matrix& left, const models::Matrix& right, const TrainingStep& step,
                       std::size_t layer) const {
  return factorise(left, right, options_, step.seed(), stream_of(layer, true),
                   static_cast<std::uint32_t>(step.number()));
}

Factors RankDad::padded(Factors factors) const {
  if (padding_ == Padding::none) return factors;
  const Eigen::Index found = factors.rank();
  const Eigen::Index most =
      std::min({static_cast<Eigen::Index>(options_.cap), factors.right.cols(), factors.left.cols()});
  for (models::Matrix* matrix : {&factors.left, &factors.right}) {
    matrix->conservativeResize(most, Eigen::NoChange);
    matrix->bottomRows(most - found).setZero();
  }
  return factors;
}

void RankDad::run(TrainingStep& step) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  const bool aggregated = step.exchange().mode() == spec::ExchangeMode::aggregator;
  const step::Expression width = in_with_bias() + out();
  step::StepRecorder& recorder = step.recorder();
  StepRanks& ranks = step.ranks();
  // Components that travel where `found` have been found, by one or by all sites together.
  const std::int32_t most =
      padding_ == Padding::none ? 0 : recorder.add_ranks({static_cast<std::int32_t>(options_.cap)});
  const auto sent = [&](const step::Expression& found, std::size_t sites) {
    return padding_ == Padding::none ? found : static_cast<double>(sites) * biased_rank(most);
  };
  ranks.site.resize(step.layers());
  ranks.merged.resize(step.layers());

  std::vector<Pending<std::vector<models::Matrix>>> shared(step.layers());
  std::vector<std::int32_t> site_slot(step.layers());
  std::vector<std::int32_t> merged_slot(step.layers());
  std::vector<double> total(step.layers());  // components that the sites found together

  step.forward();
  step.backward([&](std::size_t l) {
    std::vector<Factors> factors = factorise_sites(step, l);
    std::vector<std::int32_t> found;
    double sum = 0;
    for (const Factors& f : factors) {
      found.push_back(static_cast<std::int32_t>(f.rank()));
      sum += static_cast<double>(f.rank());
    }
    total[l] = sum;
    ranks.site[l] = sum / static_cast<double>(step.sites());
    const std::int32_t slot = site_slot[l] = recorder.add_ranks(std::move(found));
    step.compute(step::Phase::factorise, step::Role::workers, factorise_work(rows(), rank(slot), options_));

    for (Factors& f : factors) f = padded(std::move(f));
    const step::Expression own = sent(rank(slot), 1);
    const step::Expression all_together = sent(total_rank(slot), step.sites());
    const std::vector<Exchange::Part> parts{
        {own * out(), [&](std::size_t s) { return models::ConstBlock(factors[s].left); }},
        {own * in_with_bias(), [&](std::size_t s) { return models::ConstBlock(factors[s].right); }}};
    if (mode_ == Mode::two_way && aggregated) {
      const std::vector<models::Matrix> all = step.exchange().gather(parts).wait();
      Factors merged = merge(all[0], all[1], step, l);
      merged_slot[l] = recorder.add_ranks({static_cast<std::int32_t>(merged.rank())});
      step.compute(step::Phase::merge, step::Role::aggregator,
                   factorise_work(all_together, merged_rank(merged_slot[l]), options_));
      ranks.merged[l] = static_cast<double>(merged.rank());
      merged = padded(std::move(merged));
      const step::Expression handed_back = sent(merged_rank(merged_slot[l]), 1);
      std::vector<models::Matrix> pair;
      pair.push_back(std::move(merged.left));
      pair.push_back(std::move(merged.right));
      shared[l] =
          step.exchange().broadcast(std::move(pair), {{handed_back * out(), step::ElementType::float32},
                                                      {handed_back * in_with_bias(), step::ElementType::float32}});
    } else {
      shared[l] = step.exchange().concatenate(parts, {all_together * out(), all_together * in_with_bias()});
    }
    step.backpropagate(l);
  });

  step.backward([&](std::size_t l) {
    const bool bias = step.weights(l).has_bias();
    std::vector<models::Matrix>& pair = shared[l].wait();
    if (mode_ == Mode::two_way && !aggregated) {
      Factors merged = merge(pair[0], pair[1], step, l);
      merged_slot[l] = recorder.add_ranks({static_cast<std::int32_t>(merged.rank())});
      step.compute(step::Phase::merge, step::Role::workers,
                   factorise_work(sent(total_rank(site_slot[l]), step.sites()), merged_rank(merged_slot[l]), options_));
      step.compute(step::Phase::weight_gradient, step::Role::workers,
                   {cost::product_of_factors(merged_rank(merged_slot[l]))});
      ranks.merged[l] = static_cast<double>(merged.rank());
      step.gradient(l) = product(merged.left, merged.right, bias);
      return;
    }
    if (mode_ == Mode::two_way) {
      step.compute(step::Phase::weight_gradient, step::Role::workers,
                   {cost::product_of_factors(sent(merged_rank(merged_slot[l]), 1))});
    } else {
      step.compute(step::Phase::weight_gradient, step::Role::workers,
                   {cost::product_of_factors(sent(total_rank(site_slot[l]), step.sites()))});
      ranks.merged[l] = total[l];
    }
    step.gradient(l) = product(pair[0], pair[1], bias);
  });
}

AlgorithmInfo rank_dad_info() {
  return {
      .name = "rank-dad",
      .description =
          "Sites share a low-rank factorisation of their gradient, found by power iterations on activations and "
          "deltas.",
      .source =
          "Baker et al., arXiv 2102.09631; directions are kept orthogonal and small components are cut by their "
          "singular value, as in no released code",
      .payload = "r(p + q)",
      .sharing = Sharing::one_network,
      .exact = false,
      .parameters =
          {{.name = "cap",
            .type = spec::ParameterSpec::Type::integer,
            .minimum = 1,
            .maximum = 65536,
            .default_value = "8",
            .choices = {},
            .description = "most components a site sends per layer and step"},
           {.name = "iterations",
            .type = spec::ParameterSpec::Type::integer,
            .minimum = 1,
            .maximum = 1000,
            .default_value = "10",
            .choices = {},
            .description = "power iterations per component"},
           {.name = "tolerance",
            .type = spec::ParameterSpec::Type::real,
            .minimum = 0,
            .maximum = 1,
            .default_value = "0.01",
            .choices = {},
            .description = "components whose singular value is at most this share of the largest are not sent"},
           {.name = "mode",
            .type = spec::ParameterSpec::Type::choice,
            .minimum = 0,
            .maximum = 0,
            .default_value = "two-way",
            .choices = {"two-way", "one-way"},
            .description = "two-way: the components of all sites are compressed once more before they are handed back; "
                           "one-way: they are handed back as they are"},
           {.name = "padding",
            .type = spec::ParameterSpec::Type::choice,
            .minimum = 0,
            .maximum = 0,
            .default_value = "none",
            .choices = {"none", "cap"},
            .description =
                "none: only the components that were found are sent, and receivers are taken to know how "
                "many; cap: zeros fill them up to the cap (or what the matrix allows), so that all messages of a "
                "layer have one size"}},
      .make =
          [](const spec::ParameterValues& values) {
            const FactoriseOptions options{.cap = std::stoll(values.at("cap")),
                                           .iterations = std::stoll(values.at("iterations")),
                                           .tolerance = std::stod(values.at("tolerance"))};
            return std::make_unique<RankDad>(
                options, values.at("mode") == "one-way" ? RankDad::Mode::one_way : RankDad::Mode::two_way,
                values.at("padding") == "cap" ? RankDad::Padding::cap : RankDad::Padding::none);
          },
      // At most: its own factors, and those of all sites.
      .state =
          [](const spec::ParameterValues& values) {
            return estimate::AlgorithmState{(step::extent::rank(0) + step::extent::total_rank(0)) *
                                                (step::extent::in_with_bias() + step::extent::out()),
                                            static_cast<std::int32_t>(std::stoll(values.at("cap")))};
          },
  };
}

}  // namespace dadsim::algorithms
