// Tests the costs of Muon: flops of an update, and memory of its state.
#include <gtest/gtest.h>

#include "algorithms/cost.hpp"
#include "estimate/memory.hpp"
#include "spec/model_shape.hpp"

namespace dadsim::algorithms {
namespace {

spec::OptimizerSpec muon() {
  spec::OptimizerSpec optimizer;
  optimizer.kind = spec::OptimizerSpec::Kind::muon;
  optimizer.weight_decay = 0.1;
  return optimizer;
}

/// Returns the flops that an update charges for a network's layers.
double flops_of(const std::vector<step::ComputeOp>& ops, step::Phase phase, const spec::ModelShape& model) {
  double flops = 0;
  const step::StepSizes sizes{{1}, {}};
  for (const step::ComputeOp& op : ops) {
    for (std::size_t i = 0; i < model.layers.size() && op.phase == phase; ++i) {
      flops +=
          op.branches.front().flops.evaluate({&model.layers[i], &sizes, 0, nullptr, spec::delta_relations(model, i)});
    }
  }
  return flops;
}

TEST(Muon, ChargesFiveIterationsOfEveryHiddenMatrix) {
  spec::ModelShape model{"", {spec::dense_shape("a", 30, 50, true), {}, spec::dense_shape("b", 50, 8, false)}};
  model.layers[1].name = "norm";
  model.layers[1].parameters = 100;
  model.layers.insert(model.layers.begin() + 1, spec::dense_shape("many", 50, 20, true));
  model.layers[1].experts = 4;
  model.layers[1].parameters *= 4;
  const auto ops = cost::update(muon());
  // A matrix of s × l takes 20 s² l + 10 s³ flops.
  const double a = 20.0 * 900 * 50 + 10.0 * 27000;
  const double many = 4 * (20.0 * 400 * 50 + 10.0 * 8000);
  EXPECT_DOUBLE_EQ(flops_of(ops, step::Phase::orthogonalise, model), a + many);
  EXPECT_DOUBLE_EQ(flops_of(ops, step::Phase::update, model), 14.0 * static_cast<double>(model.parameters()));
  EXPECT_EQ(cost::update(muon(), true).size(), 1U) << "directions are orthogonal already";
  EXPECT_EQ(cost::update({}).size(), 1U);
}

TEST(Muon, KeepsOneMomentOfHiddenMatrices) {
  const spec::ModelShape model{"",
                               {spec::dense_shape("a", 30, 50, true), spec::dense_shape("b", 50, 20, true),
                                spec::dense_shape("c", 20, 8, true)}};
  const double parameters = 1500 + 50 + 1000 + 20 + 160 + 8;
  EXPECT_EQ(estimate::optimizer_state(muon(), model), 2 * parameters - 2500);
  EXPECT_EQ(estimate::memory_use(model, muon(), {}, {4, 4}, 0, spec::Precision::fp32).optimizer,
            4 * (2 * parameters - 2500));
  spec::ParallelismSpec divided;
  divided.sharding = spec::Sharding::optimizer;
  EXPECT_EQ(estimate::memory_use(model, muon(), {}, {4, 4}, 0, spec::Precision::fp32, divided).optimizer,
            2 * (2 * parameters - 2500));
}

}  // namespace
}  // namespace dadsim::algorithms
