#include "algorithms/edad.hpp"

namespace dadsim {

void Edad::run(TrainingStep& step) {
  using namespace extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  const Network& network = step.network();
  const std::size_t last = step.layers() - 1;
  std::vector<Pending<std::vector<Matrix>>> shared(step.layers());

  step.forward();
  step.backward([&](std::size_t l) {
    std::vector<Exchange::Part> parts{{rows() * in(), [&, l](std::size_t s) { return step.input(s, l); }}};
    if (l == last) parts.push_back({rows() * out(), [&, l](std::size_t s) { return step.delta(s, l); }, true});
    shared[l] = step.exchange().concatenate(parts, {all_rows() * in(), all_rows() * out()});
  });

  Matrix delta;                   // Δ̂ of the layer at hand; before ⊙ φ' while it comes from above
  const Matrix* above = nullptr;  // the inputs of the layer above: this layer's outputs
  step.backward([&](std::size_t l) {
    std::vector<Matrix>& received = shared[l].wait();
    const Matrix& input = received[0];
    if (l == last) delta = std::move(received[1]);
    const DenseLayer<float>& layer = network.layer(l);
    if (l != last && derivative_from_output(layer.activation)) {
      multiply_derivative_from_output(layer.activation, *above, delta);
    } else if (!derivative_from_output(layer.activation)) {
      step.compute(Phase::forward, Role::workers, {cost::forward(cost::Span::all_rows)});
      if (l != last) {
        Matrix pre_activation;
        network.forward_layer(l, input, &pre_activation);
        multiply_derivative(layer.activation, pre_activation, delta);
      }
    }
    step.compute(Phase::weight_gradient, Role::workers, {cost::weight_gradient(cost::Span::all_rows)});
    weight_gradient<float>(delta, input, layer.has_bias(), step.gradient()[l]);
    step.compute(Phase::propagate, Role::workers, {cost::propagate(cost::Span::all_rows)}, true, true);
    if (l > 0) delta = delta * layer.weight;
    above = &input;
  });
}

AlgorithmInfo edad_info() {
  return {
      .name = "edad",
      .description = "Sites share activations and the last delta; everyone recomputes the other deltas exactly (edAD).",
      .source = "Baker et al., arXiv 2102.09631",
      .payload = "Np, and Nq of the last layer once",
      .sharing = Sharing::one_network,
      .exact = true,
      .parameters = {},
      .make = [](const ParameterValues&) { return std::make_unique<Edad>(); }};
}

}  // namespace dadsim
