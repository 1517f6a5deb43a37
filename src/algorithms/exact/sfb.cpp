#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/methods.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {
namespace {

using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper

/// Sufficient factor broadcasting: the gradient of a sample in a fully connected layer is u vᵀ, so each sample's pair
/// (u, v) goes to every site. Layers with several rows per sample (convolutions, sequences) and tables sum gradients.
class SufficientFactorBroadcasting final : public Algorithm {
 public:
  void run(TrainingStep& step) override {
    if (has_factors_.empty()) has_factors_ = layers_with_factors(step);
    std::vector<Pending<Rows>> factors(step.matrices());
    std::vector<Pending<models::LayerGradient>> sums(step.matrices());
    step.forward();
    step.backward_with_embeddings([&](std::size_t l) {
      if (has_factors_[l])
        factors[l] = share_factors(step, l);
      else
        sums[l] = step.exchange().sum(step.site_gradients(l));
      step.backpropagate(l);
    });
    step.backward_with_embeddings([&](std::size_t l) {
      if (has_factors_[l]) {
        const Rows& all = factors[l].wait();
        step.form_gradient_of_rows(l, all[1], all[0]);
      } else {
        step.gradient(l) = std::move(sums[l].wait());
      }
    });
  }

 private:
  /// Returns, per matrix, whether a sample's gradient has rank one.
  static std::vector<bool> layers_with_factors(const TrainingStep& step) {
    std::vector<std::int64_t> rows;  // rows per sample, per matrix in the order of the network
    for (const spec::LayerShape& layer : step.network().shape().layers) {
      if (layer.has_matrix()) rows.push_back(layer.rows_per_sample);
    }
    std::vector<bool> has_factors(step.matrices());
    for (std::size_t l = 0; l < step.matrices(); ++l)
      has_factors[l] = !step.is_embedding(l) && rows.at(step.in_network(l)) == 1;
    return has_factors;
  }

  static Pending<Rows> share_factors(TrainingStep& step, std::size_t l) {
    const Contribution::Part inputs{in(), [&step, l](std::size_t s) { return step.input(s, l); }};
    const Contribution::Part deltas{out(), [&step, l](std::size_t s) { return step.delta(s, l); }};
    return step.exchange().combine({rows(), {inputs, deltas}}, concatenation());
  }

  std::vector<bool> has_factors_;
};

}  // namespace

SynchronousMethod sfb_method() {
  return {{.name = "sfb",
           .family = "exact",
           .forgets = methods::kSendsRows,
           .exact = true,
           // Counts the factors of all samples until the second sweep; layers that sum gradients keep less.
           .state =
               [](const spec::ParameterValues&) {
                 return estimate::AlgorithmState{step::extent::all_rows() * (step::extent::in() + step::extent::out())};
               }},
          [](const spec::RunSpec&) { return std::make_unique<SufficientFactorBroadcasting>(); }};
}

}  // namespace dadsim::algorithms
