#include "algorithms/dad.hpp"

namespace dadsim::algorithms {
namespace {

using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper

Exchange::Part inputs_of(TrainingStep& step, std::size_t l) {
  return {rows() * in(), [&step, l](std::size_t s) { return step.input(s, l); }};
}

Exchange::Part deltas_of(TrainingStep& step, std::size_t l) {
  return {rows() * out(), [&step, l](std::size_t s) { return step.delta(s, l); }};
}

/// Δ̂ᵀ Â of all sites.
void form_gradient(TrainingStep& step, std::size_t l, const models::Matrix& inputs, const models::Matrix& deltas) {
  step.compute(step::Phase::weight_gradient, step::Role::workers, {cost::weight_gradient(cost::Span::all_rows)});
  weight_gradient<float>(deltas, inputs, step.weights(l).has_bias(), step.gradient(l));
}

}  // namespace

void Dad::run(TrainingStep& step) {
  step.forward();
  if (separate_) {
    share_one_by_one(step);
  } else {
    share_beside_the_pass(step);
  }
}

void Dad::share_beside_the_pass(TrainingStep& step) {
  std::vector<Pending<std::vector<models::Matrix>>> pending(step.layers());
  step.backward([&](std::size_t l) {
    pending[l] =
        step.exchange().concatenate({inputs_of(step, l), deltas_of(step, l)}, {all_rows() * in(), all_rows() * out()});
    step.backpropagate(l);
  });
  step.backward([&](std::size_t l) {
    const std::vector<models::Matrix>& all = pending[l].wait();
    form_gradient(step, l, all[0], all[1]);
  });
}

void Dad::share_one_by_one(TrainingStep& step) {
  Exchange& exchange = step.exchange();
  step.backward([&](std::size_t l) { step.backpropagate(l); });
  step.backward([&](std::size_t l) {
    const std::vector<models::Matrix> inputs = exchange.concatenate({inputs_of(step, l)}, {all_rows() * in()}).wait();
    const std::vector<models::Matrix> deltas = exchange.concatenate({deltas_of(step, l)}, {all_rows() * out()}).wait();
    form_gradient(step, l, inputs[0], deltas[0]);
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
      .parameters = {{.name = "separate",
                      .type = spec::ParameterSpec::Type::choice,
                      .minimum = 0,
                      .maximum = 0,
                      .default_value = "false",
                      .choices = {"false", "true"},
                      .description = "true: activations and deltas of a layer travel one after the other once the "
                                     "backward pass is over; false: together, beside it"}},
      .make =
          [](const spec::ParameterValues& values) { return std::make_unique<Dad>(values.at("separate") == "true"); },
      // A and Δ of all sites, layer by layer until the second sweep. Separately those of a layer at a time: this is an
      // upper bound then.
      .state =
          [](const spec::ParameterValues&) {
            return estimate::AlgorithmState{step::extent::all_rows() * (step::extent::in() + step::extent::out())};
          }};
}

}  // namespace dadsim::algorithms
