// Tests the passes over memory that programs make outside their products, against values counted by hand.
#include "spec/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "spec/attention.hpp"
#include "spec/workload.hpp"

namespace dadsim::spec {
namespace {

LayerPasses of(const ModelShape& model, const std::string& name) {
  const auto found = std::ranges::find(model.layers, name, &LayerShape::name);
  return found == model.layers.end() ? LayerPasses{} : found->passes;
}

ModelShape gpt(Program program, Precision precision) {
  const ModelShape plain = workload_registry().at("gpt").shape({{"layers", "2"}, {"hidden", "256"}, {"heads", "4"}});
  return with_program(with_flash_attention(plain), program, precision);
}

TEST(Programs, OfAnEagerGptInBf16AreCountedOperatorByOperator) {
  const ModelShape model = gpt(Program::eager, Precision::bf16);
  const LayerPasses norm = of(model, "block1.norm1");
  EXPECT_DOUBLE_EQ(norm.forward, 3 * 4) << "read twice and written, in fp32";
  EXPECT_DOUBLE_EQ(norm.back, 3 * 4 + 2.5 * 8) << "scale and shift sum over rows of both operands";
  const LayerPasses qkv = of(model, "block1.qkv");
  EXPECT_DOUBLE_EQ(qkv.forward, (4 + 2) / 3.0) << "what the norm gives is cast, a third of what comes out";
  EXPECT_DOUBLE_EQ(qkv.back, 1.44 * (2 + 4) / 3);
  EXPECT_DOUBLE_EQ(qkv.weights, 2.5 * 2) << "the bias";
  EXPECT_DOUBLE_EQ(qkv.parameter_forward, 4 + 2);
  EXPECT_DOUBLE_EQ(qkv.kernels_forward, 4) << "product, casts of weights, bias and rows";
  const LayerPasses mlp = of(model, "block2.mlp1");
  EXPECT_DOUBLE_EQ(mlp.forward, (4 + 2) / 4.0 + 2 + 2) << "and GELU";
  const LayerPasses sum = of(model, "block2.mlp2");
  EXPECT_DOUBLE_EQ(sum.forward, 2 + 4 + 4 + (2 + 2 + 1)) << "the shortcut is in fp32; and dropout";
  EXPECT_DOUBLE_EQ(sum.back, 3 * 4 + 4 + 2 + (2 + 2 + 1));
  // Counts the kernels of a block. A profile of this program without dropout has two fewer in each direction, 20 and
  // 37.
  double forward = 0, back = 0;
  for (const LayerShape& layer : model.layers) {
    if (!layer.name.starts_with("block1.")) continue;
    forward += layer.passes.kernels_forward;
    back += layer.passes.kernels_back + layer.passes.kernels_weights;
  }
  EXPECT_DOUBLE_EQ(forward, 22);
  EXPECT_DOUBLE_EQ(back, 39);
}

TEST(Programs, InFp32CastNothingAndCompiledOnesPassLess) {
  const ModelShape wide = gpt(Program::eager, Precision::fp32);
  EXPECT_DOUBLE_EQ(of(wide, "block1.qkv").parameter_forward, 0);
  EXPECT_DOUBLE_EQ(of(wide, "block1.qkv").forward, 0);
  const ModelShape eager = gpt(Program::eager, Precision::bf16);
  const ModelShape compiled = gpt(Program::compiled, Precision::bf16);
  for (std::size_t i = 0; i < eager.layers.size(); ++i) {
    const LayerPasses& one = eager.layers[i].passes;
    const LayerPasses& other = compiled.layers[i].passes;
    EXPECT_LE(other.forward, one.forward) << eager.layers[i].name;
    EXPECT_LE(other.back, one.back) << eager.layers[i].name;
    EXPECT_LE(other.weights, one.weights) << eager.layers[i].name;
    EXPECT_LE(other.kernels_forward + other.kernels_back + other.kernels_weights,
              one.kernels_forward + one.kernels_back + one.kernels_weights)
        << eager.layers[i].name;
  }
  EXPECT_EQ(gpt(Program::graphs, Precision::bf16).layers[3].passes.host, 0);
  EXPECT_EQ(gpt(Program::typical, Precision::bf16).layers[3].passes, LayerPasses{});
}

TEST(Programs, ThatAreTunedPassNoMoreThanCompiledOnesAndWaitForNoHost) {
  const ModelShape tuned = gpt(Program::tuned, Precision::bf16);
  const ModelShape compiled = gpt(Program::compiled, Precision::bf16);
  for (std::size_t i = 0; i < tuned.layers.size(); ++i) {
    const LayerPasses& one = tuned.layers[i].passes;
    const LayerPasses& other = compiled.layers[i].passes;
    EXPECT_EQ(one.program, Program::tuned);
    EXPECT_EQ(one.host, 0);
    EXPECT_LE(one.forward, other.forward) << tuned.layers[i].name;
    EXPECT_LE(one.back, other.back) << tuned.layers[i].name;
    EXPECT_LE(one.parameter_forward + one.parameter_weights, other.parameter_forward + other.parameter_weights);
  }
}

/// A gathered row has a third of the numbers of queries, keys and values, of which a device has a quarter.
TEST(Programs, ThatDivideLayersByDTensorCopyWhatIsGathered) {
  const ModelShape whole = gpt(Program::eager, Precision::bf16);
  const ModelShape divided = with_divided_program(whole, Precision::bf16, 4);
  const auto more = [&](const char* layer) { return of(divided, layer).forward - of(whole, layer).forward; };
  EXPECT_NEAR(more("block1.qkv"), (2 + 2) * 4.0 / 3, 1e-12);
  EXPECT_NEAR(more("block1.mlp2"), 2 + 2, 1e-12) << "before its sum is scattered";
  EXPECT_NEAR(more("block1.attention"), 0, 1e-12);
  EXPECT_GT(of(divided, "block1.qkv").divided, 100e-6);
  EXPECT_EQ(with_divided_program(whole, Precision::bf16, 1), whole);
  const ModelShape tuned = gpt(Program::tuned, Precision::bf16);
  EXPECT_EQ(with_divided_program(tuned, Precision::bf16, 4), tuned);
}

TEST(Programs, ThatWriteScoresPassOverEachMuchMore) {
  const ModelShape plain = workload_registry().at("gpt").shape({{"layers", "1"}, {"hidden", "256"}, {"heads", "4"}});
  const LayerPasses scores = of(with_program(plain, Program::eager, Precision::bf16), "block1.attention");
  EXPECT_GT(scores.forward + scores.back, 75) << "bytes of each score";
  EXPECT_LT(scores.forward + scores.back, 110);
  const ModelShape fused = gpt(Program::eager, Precision::bf16);
  EXPECT_NEAR(of(fused, "block1.attention").unfused_forward, scores.forward - (2 + 2 + 1), 1e-9) << "but for dropout";
}

TEST(Programs, OfConvolutionsKeepNormsNarrowAndCountReluAndShortcuts) {
  const ModelShape resnet = with_program(workload_registry().at("resnet-50").shape(), Program::eager, Precision::bf16);
  EXPECT_DOUBLE_EQ(of(resnet, "stage1.block2.conv1.bn").forward, 3 * 2 + 2 * 2);
  EXPECT_DOUBLE_EQ(of(resnet, "stage1.block2.conv3.bn").forward, 3 * 2 + 2 * 2 + 3 * 2) << "with the shortcut";
  EXPECT_DOUBLE_EQ(of(resnet, "stage1.block1.conv1.shortcut.bn").forward, 0) << "no such layer";
  EXPECT_DOUBLE_EQ(of(resnet, "stage1.block1.shortcut.bn").forward, 3 * 2);
}

}  // namespace
}  // namespace dadsim::spec
