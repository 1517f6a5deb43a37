#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "algorithms/exact/edad.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {

SynchronousMethod edad_method() {
  return {
      {.name = Edad::kName,
       .description =
           "Sites share activations and the last delta; everyone recomputes the other deltas exactly (edAD).",
       .source = "Baker et al., arXiv 2102.09631",
       .payload = "Np; Nq of the last layer and where deltas cannot be recomputed",
       .family = "exact",
       .formula = "Â_l from all sites; Δ̂_L too\n"
                  "Δ̂_{l−1} = (Δ̂_l W_l) ⊙ φ'\n"
                  "G_l = Δ̂_lᵀ Â_{l−1}",
       .compute = "the sweep over the rows of all sites; its own backward pass only as far down as a Δ does not follow",
       .checks = "Equals the pooled gradient to 1e-5, with five activations (tests/algorithms/contract_test.cpp)",
       .forgets = methods::kSendsRows,
       .exact = true,
       // A of all sites; the Δ̂ of one layer at a time is neglected.
       .state =
           [](const spec::ParameterValues&) {
             return estimate::AlgorithmState{step::extent::all_rows() * step::extent::in()};
           },
       .remark =
           [](const RunFacts& facts) {
             const std::optional<models::Network> network = network_of(facts);
             const std::vector<std::string> names =
                 network ? layers_that_share_deltas(*network) : std::vector<std::string>();
             return names.empty() ? std::string()
                                  : fmt::format(
                                        "the deltas of {} cannot be recomputed from the layers above and are shared as "
                                        "in dAD",
                                        fmt::join(names, ", "));
           },
       // The network decides which deltas can be recomputed.
       .remark_on_timed =
           [](const spec::ModelShape& timed) {
             return fmt::format(
                 "of the {} matrices of {}, the deltas of {} follow from the next one's and are recomputed; the others "
                 "are sent",
                 std::ranges::count_if(timed.layers, &spec::LayerShape::has_outer_product), timed.name,
                 std::ranges::count_if(timed.layers, &spec::LayerShape::delta_follows));
           }},
      [](const spec::RunSpec&) { return std::make_unique<Edad>(); }};
}

}  // namespace dadsim::algorithms
