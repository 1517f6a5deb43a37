#include "examples/algorithm/halves.hpp"

#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

void Halves::run(TrainingStep& step) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  std::vector<Pending<Rows>> inputs(step.layers()), deltas(step.layers());
  step.forward();
  step.backward([&](std::size_t l) {
    Exchange& exchange = step.exchange();
    inputs[l] = exchange.combine({rows(), {{in(), [&](std::size_t s) { return step.input(s, l); }}}}, concatenation());
    deltas[l] = exchange.combine({rows(), {{out(), [&](std::size_t s) { return step.delta(s, l); }}}}, concatenation());
    step.backpropagate(l);
  });
  step.backward([&](std::size_t l) {
    const Rows& a = inputs[l].wait();
    step.form_gradient_of_rows(l, deltas[l].wait()[0], a[0]);
  });
}

SynchronousMethod halves_method() {
  return {{.name = "example-halves", .exact = true}, [](const spec::RunSpec&) { return std::make_unique<Halves>(); }};
}

}  // namespace dadsim::algorithms
