#include "algorithms/exact/local_gradient.hpp"

#include "algorithms/methods.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

void LocalGradient::run(TrainingStep& step) {
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    step.form_gradient(l);
    step.backpropagate(l);
  });
}

SynchronousMethod pooled_method() {
  return {{.name = "pooled", .family = "reference", .sharing = Sharing::pooled, .exact = true},
          [](const spec::RunSpec&) { return std::make_unique<LocalGradient>(); }};
}

SynchronousMethod no_sharing_method() {
  return {{.name = "no-sharing", .family = "reference", .sharing = Sharing::no_sharing},
          [](const spec::RunSpec&) { return std::make_unique<LocalGradient>(); }};
}

}  // namespace dadsim::algorithms
