#include "algorithms/low_rank/rank_dad.hpp"

#include <memory>

#include "algorithms/methods.hpp"
#include "algorithms/pieces/table_rows.hpp"

namespace dadsim::algorithms {

void RankDad::run(TrainingStep& step) {
  std::vector<Pending<Rows>> shared(step.matrices());
  memory_.resize(step.matrices());
  step.forward();
  sweep_back(step, table_rows_, [&](std::size_t l) {
    if (step.is_embedding(l)) {
      shared[l] = share_table_rows(step, l);
    } else {
      FactorMemory* memory = remembers_ ? &memory_[l] : nullptr;
      const SiteFactors own = factorise_sites(step, l, options_, memory);  // r_s × (in + out)
      shared[l] = step.exchange().combine(
          own.contribution(),
          mode_ == Mode::two_way ? refactorise(step, l, options_, step::extent::rows(), memory) : keep_all(step, l));
    }
    step.backpropagate(l);
  });
  sweep_back(step, table_rows_, [&](std::size_t l) {
    if (step.is_embedding(l)) {
      add_table_rows(step, l, shared[l].wait());
    } else {
      step.gradient(l) = multiply(step, l, shared[l].wait());
    }
  });
}

SynchronousMethod rank_dad_method() {
  static constexpr spec::IntegerParameter kCap{"cap", 1, 65536, "8",
                                               "maximum number of components that a site sends per layer and step"};
  static constexpr spec::IntegerParameter kIterations{"iterations", 1, 1000, "1", "power iterations per component"};
  static constexpr spec::RealParameter kTolerance{
      "tolerance", 0, 1, "0.01", "drop components whose singular value is at most this share of the largest"};
  static constexpr auto kStop = spec::choice<FactoriseOptions::FactorStop>(
      "stop",
      {{"share", FactoriseOptions::FactorStop::share},
       {"directions", FactoriseOptions::FactorStop::directions},
       {"released", FactoriseOptions::FactorStop::released}},
      "share: stops at a component of at most `tolerance` times the largest; directions: as in the authors' code, "
      "stops at two successive directions that differ by less than `tolerance` (the authors: 0.001), with deflation "
      "instead "
      "of orthogonality; released: as `directions`, and drops the last two components tried, as in the code that "
      "gave the published ranks");
  static constexpr auto kKernels = spec::choice<FactoriseOptions::FactorKernels>(
      "kernels",
      {{"launched", FactoriseOptions::FactorKernels::launched}, {"fused", FactoriseOptions::FactorKernels::fused}},
      "launched: each operation of an iteration is a kernel, as in the authors' programs; fused: one kernel finds a "
      "component (no released code does so)");
  static constexpr auto kMode = spec::choice<RankDad::Mode>(
      "mode", {{"two-way", RankDad::Mode::two_way}, {"one-way", RankDad::Mode::one_way}},
      "two-way: compress the components of all sites again before returning them; one-way: return them unchanged");
  static constexpr auto kPadding = spec::choice<Padding>(
      "padding", {{"agree", Padding::agree}, {"cap", Padding::cap}, {"none", Padding::none}},
      "agree: peers first agree on the largest number of components found, 4 bytes a layer, and pad with zeros (an "
      "aggregator takes messages of any size); cap: pad with zeros to the cap (or the limit of the matrix); none: send "
      "only the components found, and assume that peers know how many");
  static constexpr auto kMemory =
      spec::choice<bool>("memory", {{"false", false}, {"true", true}},
                         "true: add the errors of factorisations, at sites and after merging, to the next gradient of "
                         "the matrix, which is then formed (no released code does so)");
  return {
      {.name = RankDad::kName,
       .family = "low-rank",
       .parameters = {kCap, kIterations, kTolerance, kStop, kKernels, kMode, kPadding, kMemory, kTables},
       .forgets = "errors of <compress> do not fit the next factors; memory=\"true\" of the <run> itself keeps the "
                  "errors of factorisations",
       .check = faults_of_idle_tables,
       // Marks stop rules by direction as unstable: once the rank is exhausted, deflation by squares leaves noise of
       // arbitrary direction.
       .unstable =
           [](const spec::ParameterValues& values) { return kStop.of(values) != FactoriseOptions::FactorStop::share; },
       .lossless = {{"cap", "65536"}, {"tolerance", "0"}},
       // Returns the kept rank of a site's components, or of the merged components of all sites. Small components are
       // left out in addition.
       .retained_rank =
           [](const spec::ParameterValues& values) {
             using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the
                                            // papers on the method
             const bool merges = kMode.of(values) == RankDad::Mode::two_way;
             const step::Expression all =
                 min({in_with_bias(), delta_directions(), merges ? over_workers(rows()) : rows()});
             return RetainedRank{min({static_cast<double>(kCap.of(values)), all}), all};
           },
       // Counts an upper bound: the factors of a site, the factors of all sites, and the compression errors kept by a
       // site and by merging.
       .state =
           [](const spec::ParameterValues& values) {
             using namespace step::extent;  // NOLINT(google-build-using-namespace): a formula
             const double held = !kMemory.of(values) ? 0 : kMode.of(values) == RankDad::Mode::two_way ? 2 : 1;
             return estimate::AlgorithmState{
                 (rank(0) + total_rank(0)) * (in_with_bias() + out()) + held * in_with_bias() * out(),
                 static_cast<std::int32_t>(kCap.of(values))};
           }},
      [](const spec::RunSpec& run) {
        const FactoriseOptions options{.cap = kCap.of(run.parameters),
                                       .iterations = kIterations.of(run.parameters),
                                       .tolerance = kTolerance.of(run.parameters),
                                       .stop = kStop.of(run.parameters),
                                       .kernels = kKernels.of(run.parameters)};
        return std::make_unique<RankDad>(SharedFactorsOptions{options, kPadding.of(run.parameters)},
                                         kMode.of(run.parameters), kTables.of(run.parameters),
                                         kMemory.of(run.parameters));
      }};
}

}  // namespace dadsim::algorithms
