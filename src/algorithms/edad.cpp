#include "algorithms/edad.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "algorithms/training_step.hpp"

namespace dadsim::algorithms {

void Edad::run(TrainingStep& step) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  const std::size_t last = step.layers() - 1;
  std::vector<Pending<Rows>> shared(step.layers());

  // Where every Δ but the last can be recomputed and nothing else is learned, sites need no backward pass of their own.
  bool recomputes_all = step.matrices() == step.layers() && step.network().parameters().vectors.empty();
  for (std::size_t l = 0; l < last; ++l) recomputes_all = recomputes_all && step.chained(l);

  step.forward();
  step.backward([&](std::size_t l) {
    Contribution own{rows(), {{in(), [&, l](std::size_t s) { return step.input(s, l); }}}};
    if (!step.chained(l)) {
      // Under another network's shapes only its last layer is taken as the last.
      own.parts.push_back({out(), [&, l](std::size_t s) { return step.delta(s, l); }, nullptr, l == last});
    }
    shared[l] = step.exchange().combine(own, concatenation());
    if (!recomputes_all) {
      step.backpropagate(l);
    } else if (l == 0) {
      step.end_pass();
    }
  });

  models::Matrix delta;                   // Δ̂ of the layer at hand; before ⊙ φ' while it comes from above
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
    if (l == 0 || step.chained(l - 1)) delta = step.backpropagate_rows(l, delta);
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

AlgorithmInfo edad_info() {
  return {
      .name = "edad",
      .description = "Sites share activations and the last delta; everyone recomputes the other deltas exactly (edAD).",
      .source = "Baker et al., arXiv 2102.09631",
      .payload = "Np; Nq of the last layer and where deltas cannot be recomputed",
      .sharing = Sharing::one_network,
      .exact = true,
      .parameters = {},
      .make = [](const spec::ParameterValues&) { return std::make_unique<Edad>(); },
      // A of all sites; the Δ̂ of one layer at a time counts for little.
      .state =
          [](const spec::ParameterValues&) {
            return estimate::AlgorithmState{step::extent::all_rows() * step::extent::in()};
          },
      .remark =
          [](const RemarkContext& context) {
            const std::vector<std::string> names = layers_that_share_deltas(context.network);
            return names.empty() ? std::string()
                                 : fmt::format(
                                       "the deltas of {} cannot be recomputed from the layers above and are shared as "
                                       "in dAD",
                                       fmt::join(names, ", "));
          }};
}

}  // namespace dadsim::algorithms
