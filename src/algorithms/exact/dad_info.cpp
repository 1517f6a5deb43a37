#include <memory>

#include "algorithms/exact/dad.hpp"
#include "algorithms/pieces/table_rows.hpp"

namespace dadsim::algorithms {

SynchronousMethod dad_method() {
  static constexpr auto kSeparate =
      spec::choice<bool>("separate", {{"false", false}, {"true", true}},
                         "true: activations and deltas of a layer travel one after the other once the "
                         "backward pass is over; false: together, beside it");
  return {{.name = Dad::kName,
           .description =
               "Sites share activations and deltas, the factors of the gradient, and form the exact gradient (dAD).",
           .source = "Baker et al., arXiv 2102.09631",
           .payload = "N(p + q)",
           .family = "exact",
           .formula = "Â = [A_1; …; A_S], Δ̂ = [Δ_1; …; Δ_S]\n"
                      "G = Δ̂ᵀ Â",
           .compute = "the weight gradient over the rows of all sites instead of its own",
           .checks = "Equals the pooled gradient to 1e-5 (tests/algorithms/contract_test.cpp)\n"
                     "Steps of PyTorch over gloo: docs/validation.md",
           .parameters = {kSeparate, kTables},
           .forgets = methods::kSendsRows,
           .check = faults_of_idle_tables,
           .exact = true,
           // A and Δ of all sites, layer by layer until the second sweep. Separately those of a layer at a time: this
           // is an upper bound then.
           .state =
               [](const spec::ParameterValues&) {
                 return estimate::AlgorithmState{step::extent::all_rows() * (step::extent::in() + step::extent::out())};
               }},
          [](const spec::RunSpec& run) {
            return std::make_unique<Dad>(Dad::Options{kSeparate.of(run.parameters), kTables.of(run.parameters)});
          }};
}

}  // namespace dadsim::algorithms
