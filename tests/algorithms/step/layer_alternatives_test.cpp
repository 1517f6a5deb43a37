#include "algorithms/step/layer_alternatives.hpp"

#include <gtest/gtest.h>

#include "algorithms/algorithm.hpp"
#include "algorithms/exact/gradient_sharing.hpp"
#include "algorithms/flexible/layer_rows.hpp"
#include "algorithms/methods.hpp"
#include "schedule/schedule.hpp"

namespace dadsim::algorithms {
namespace {

constexpr step::AlternativeSet kSum = 1U << 0U, kRows = 1U << 1U;

/// A test method that shares each layer by its gradient or by its rows, whichever has fewer bytes.
class SumOrRows final : public Algorithm {
 public:
  void run(TrainingStep& step) override {
    LayerAlternatives ways(step);
    std::vector<Pending<models::LayerGradient>> sums(step.layers());
    std::vector<Pending<Rows>> rows(step.layers());
    step.forward();
    step.backward([&](std::size_t l) {
      ways.carry_out(l, kSum, [&] { sums[l] = step.exchange().sum(step.site_gradients(l)); });
      ways.carry_out(l, kRows, [&] { rows[l] = share_rows(step, rows_of_step(step, l), true); });
      step.backpropagate(l);
    });
    step.backward([&](std::size_t l) {
      ways.carry_out(l, kSum, [&] { step.gradient(l) = std::move(sums[l].wait()); });
      ways.carry_out(l, kRows, [&] { rows[l].wait(); });
    });
    ways.offer(
        {.all = {{"sum", false, false}, {"rows", false, false}}, .offered = std::vector(step.layers(), kSum | kRows)});
  }
};

TEST(LayerAlternatives, CountWhatThisNetworkTakes) {
  // Sites have one and two samples. For 200 × 4 weights and 4 biases, rows are smaller: 3 × 3 × 204 floats up and down
  // against 4 × 804. For 4 × 2 weights and 2 biases, the gradient is smaller: 4 × 10 against 3 × 3 × 6.
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{4, spec::Activation::tanh, true},
                  spec::DenseSpec{2, spec::Activation::identity, true}};
  const models::Network network(200, model, 3);
  models::Samples samples;
  samples.features = models::Matrix::Random(3, 200);
  samples.labels = {0, 1, 1};
  TrainingStep step(network, spec::ExchangeMode::aggregator, 1);
  step.begin(0, samples, {{0}, {1, 2}});
  SumOrRows algorithm;
  run_step(gradient_sharing_method(), algorithm, step);
  EXPECT_EQ(step.exchange().uplink_bytes(), (std::vector<double>{4 * (204 + 10), 4 * (2 * 204 + 10)}));
  EXPECT_EQ(step.exchange().downlink_bytes(), 4 * (3 * 204 + 10));

  const auto [structure, sizes] = step.recorder().take();
  const auto bytes_with = [&, &structure = structure, &sizes = sizes](const step::Assignment* assignment) {
    double up = 0;
    for (const schedule::Task& task :
         schedule::instantiate(structure, sizes, network.shape(), network.shape(), 1, spec::Precision::fp32, assignment)
             .tasks) {
      const auto* sent = std::get_if<schedule::CollectiveTask>(&task.what);
      if (sent != nullptr && sent->kind == step::CollectiveKind::gather) up += sent->bytes[0] + sent->bytes[1];
    }
    return up;
  };
  EXPECT_EQ(bytes_with(nullptr), 4 * (3 * 204 + 2 * 10));
  const step::Assignment sums{0, 0}, rows{1, 1};
  EXPECT_EQ(bytes_with(&sums), 4 * 2 * (804 + 10));
  EXPECT_EQ(bytes_with(&rows), 4 * 3 * (204 + 6));
}

}  // namespace
}  // namespace dadsim::algorithms
