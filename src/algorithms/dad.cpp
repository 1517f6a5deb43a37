#include "algorithms/dad.hpp"

namespace dadsim {

void Dad::run(TrainingStep& step) {
  using namespace extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  std::vector<Pending<std::vector<Matrix>>> pending(step.layers());
  step.forward();
  step.backward([&](std::size_t l) {
    pending[l] = step.exchange().concatenate({{rows() * in(), [&](std::size_t s) { return step.input(s, l); }},
                                              {rows() * out(), [&](std::size_t s) { return step.delta(s, l); }}},
                                             {all_rows() * in(), all_rows() * out()});
    step.propagate(l);
  });
  step.backward([&](std::size_t l) {
    const std::vector<Matrix>& all = pending[l].wait();
    step.compute(Phase::weight_gradient, Role::workers, {cost::weight_gradient(cost::Span::all_rows)});
    weight_gradient<float>(all[1], all[0], step.weights(l).has_bias(), step.gradient(l));
  });
}

AlgorithmInfo dad_info() {
  return {
      .name = "dad",
      .description =
          "Sites share activations and deltas, the factors of the gradient, and form the exact gradient (dAD).",
      .source = "Baker et al., arXiv 2102.09631",
      .payload = "N(p + q)",
      .sharing = Sharing::one_network,
      .exact = true,
      .parameters = {},
      .make = [](const ParameterValues&) { return std::make_unique<Dad>(); },
      // A and Δ of all sites, layer by layer until the second sweep.
      .state =
          [](const ParameterValues&) { return AlgorithmState{extent::all_rows() * (extent::in() + extent::out())}; }};
}

}  // namespace dadsim
