#include "spec/adapters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "spec/workload.hpp"
#include "step/expression.hpp"

namespace dadsim::step {
namespace {

const spec::LayerShape& layer_of(const spec::ModelShape& model, const std::string& name) {
  const auto found = std::ranges::find(model.layers, name, &spec::LayerShape::name);
  if (found == model.layers.end()) throw std::runtime_error("no layer " + name);
  return *found;
}

/// Returns the multiply-adds of one sample's backward pass.
double backward_macs(const spec::LayerShape& layer) {
  const StepSizes sizes{{1}, {}};
  const Scope scope{&layer, &sizes, 0};
  return extent::backward_macs().evaluate(scope) + extent::gradient_macs().evaluate(scope);
}

TEST(Adapters, FormNoGradientOfWhatIsFrozen) {
  const spec::ModelShape whole = spec::workload_registry().at("llama-2-7b").shape({{"sequence", "128"}});
  const spec::ModelShape adapted = with_adapters(whole, 16, spec::Adapted::attention);
  const double base = layer_of(whole, "block1.query").forward_macs_per_sample;
  const double adapter = 128.0 * 16 * (4096 + 4096);
  EXPECT_EQ(backward_macs(layer_of(whole, "block1.query")), 2 * base);
  EXPECT_EQ(backward_macs(layer_of(adapted, "block1.query")), base + 2 * adapter);
  const double other = layer_of(whole, "block1.up").forward_macs_per_sample;
  EXPECT_EQ(backward_macs(layer_of(adapted, "block1.up")), other) << "without an adapter";
  EXPECT_EQ(backward_macs(layer_of(adapted, "decoder")), layer_of(whole, "decoder").forward_macs_per_sample);
  EXPECT_EQ(backward_macs(layer_of(adapted, "block1.attention")), backward_macs(layer_of(whole, "block1.attention")));
}

TEST(Experts, HaveGradientsOfTheRowsThatComeToThem) {
  const spec::ModelShape model = spec::workload_registry().at("mixtral-8x7b").shape({{"sequence", "128"}});
  const spec::LayerShape& up = layer_of(model, "block1.experts.up");
  EXPECT_EQ(up.forward_macs_per_sample, 2 * 128.0 * 4096 * 14336);
  EXPECT_EQ(backward_macs(up), 2 * up.forward_macs_per_sample);
}

}  // namespace
}  // namespace dadsim::step
