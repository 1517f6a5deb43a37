#include "algorithms/exact/edad.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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
    // Where every Δ below can be recomputed and nothing else is learned there, sites need no pass of their own.
    step.backpropagate_where_needed(l);
  });

  models::Matrix delta;                   // Δ̂ of the current layer; before ⊙ φ' while it comes from above
  const models::Matrix* above = nullptr;  // the inputs of the layer above: this layer's outputs
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

}  // namespace dadsim::algorithms
