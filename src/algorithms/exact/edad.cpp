#include "algorithms/exact/edad.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "algorithms/methods.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {

void Edad::run(TrainingStep& step) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  std::vector<Pending<Rows>> shared(step.layers());
  const models::Matrix none(0, 0);

  step.forward();
  step.backward([&](std::size_t l) {
    const Contribution::Part inputs{in(), [&, l](std::size_t s) { return step.input(s, l); }};
    const Contribution::Part deltas{
        out(), [&, l](std::size_t s) { return step.chained(l) ? models::ConstBlock(none) : step.delta(s, l); }, nullptr,
        1.0 - delta_follows()};
    shared[l] = step.exchange().combine({rows(), {inputs, deltas}}, concatenation());
    // Skips the sites' own backward pass if every lower Δ can be recomputed and no other parameters learn there.
    step.backpropagate_where_needed(l);
  });

  models::Matrix delta;  // Δ̂ of the current layer; before the product with φ', the gradient of the layer's outputs
  const models::Matrix* above = nullptr;  // outputs of this layer, which are the inputs of the layer above
  step.backward([&](std::size_t l) {
    Rows& received = shared[l].wait();
    const models::Matrix& input = received[0];
    if (const std::optional<spec::Activation> activation = step.chained(l)) {
      if (models::derivative_from_output(*activation)) {
        models::multiply_derivative_from_output(*activation, *above, delta);
      } else {
        models::multiply_derivative(*activation, step.preactivations_of_rows(l, *activation, input), delta);
      }
    } else {
      delta = std::move(received.parts[1]);
    }
    step.form_gradient_of_rows(l, delta, input);
    delta = step.backpropagate_rows(l, delta);
    above = &input;
  });
}

std::vector<std::string> layers_that_share_deltas(const models::Network& network) {
  std::vector<std::string> names;
  std::vector<std::string> matrices;
  for (const spec::LayerShape& layer : network.shape().layers) {
    if (layer.has_matrix()) matrices.push_back(layer.name);
  }
  for (std::size_t m = 0; m + 1 < network.layers(); ++m) {
    if (!network.layer(m).embedding && !network.chained(m)) names.push_back(matrices[m]);
  }
  return names;
}

SynchronousMethod edad_method() {
  return {{.name = Edad::kName,
           .family = "exact",
           .forgets = methods::kSendsRows,
           .exact = true,
           // Counts A of all sites, and neglects Δ̂, which exists for one layer at a time.
           .state =
               [](const spec::ParameterValues&) {
                 return estimate::AlgorithmState{step::extent::all_rows() * step::extent::in()};
               },
           .remark =
               [](const RunFacts& facts) {
                 const std::optional<models::Network> network = network_of(facts);
                 const std::vector<std::string> names =
                     network ? layers_that_share_deltas(*network) : std::vector<std::string>();
                 return names.empty()
                            ? std::string()
                            : fmt::format(
                                  "the deltas of {} cannot be recomputed from the layers above and are shared as "
                                  "in dAD",
                                  fmt::join(names, ", "));
               },
           // Counts the deltas that the timed network allows to recompute.
           .remark_on_timed =
               [](const spec::ModelShape& timed) {
                 return fmt::format(
                     "{2} of the {0} matrices of {1} have deltas that are recomputed from the next matrix; other "
                     "deltas are sent",
                     std::ranges::count_if(timed.layers, &spec::LayerShape::has_outer_product), timed.name,
                     std::ranges::count_if(timed.layers, &spec::LayerShape::delta_follows));
               }},
          [](const spec::RunSpec&) { return std::make_unique<Edad>(); }};
}

}  // namespace dadsim::algorithms
