#include "spec/program_activations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "spec/program.hpp"
#include "spec/tiles.hpp"
#include "spec/workload.hpp"

namespace dadsim::spec {
namespace {

constexpr double kTokens = 16, kWidth = 64, kInside = 96, kWords = 1000;

ModelShape llama_of(Program program, bool autocast) {
  const ModelShape whole = workload_registry().at("decoder").shape({{"layers", "1"},
                                                                    {"hidden", "64"},
                                                                    {"heads", "4"},
                                                                    {"kv-heads", "4"},
                                                                    {"feed-forward", "96"},
                                                                    {"vocabulary", "1000"},
                                                                    {"sequence", "16"}});
  return with_activations_of(whole, program, Precision::bf16, autocast);
}

const LayerShape& named(const ModelShape& model, const std::string& name) {
  return *std::ranges::find(model.layers, name, &LayerShape::name);
}

double kept_inside(const ModelShape& model) {
  double kept = 0;
  for (const char* name : {"block1.gate", "block1.up"}) kept += named(model, name).outputs_kept();
  return kept;
}

TEST(ProgramActivations, OneKernelOfAGateKeepsThreeOfFour) {
  EXPECT_EQ(kept_inside(llama_of(Program::eager, true)), 4 * kTokens * kInside);
  EXPECT_EQ(kept_inside(llama_of(Program::tuned, false)), 3 * kTokens * kInside);
  EXPECT_EQ(kept_inside(llama_of(Program::compiled, true)), 3 * kTokens * kInside);
}

// Bytes per number that are kept in addition to the 16-bit output. An fp32 input has 2 bytes more, and the composed
// norm keeps 4. Each product after the first keeps its own cast: queries, keys and values, or gate and up.
TEST(ProgramActivations, NormsOfAutocastKeepFp32AndACastPerProduct) {
  const auto beside = [](Program program, bool autocast, const char* norm) {
    return named(llama_of(program, autocast), norm).kept_bytes_per_sample / (kTokens * kWidth);
  };
  EXPECT_EQ(beside(Program::eager, true, "block1.norm1"), 2 + 4 + 2 * 2);
  EXPECT_EQ(beside(Program::eager, true, "block1.norm2"), 2 + 4 + 2);
  EXPECT_EQ(beside(Program::eager, true, "norm"), 2 + 4);
  EXPECT_EQ(beside(Program::eager, false, "block1.norm1"), 4);
  EXPECT_EQ(beside(Program::compiled, true, "block1.norm1"), 2);
  EXPECT_EQ(beside(Program::tuned, false, "block1.norm1"), 0);
}

TEST(ProgramActivations, ACompiledLossHasItsScoresOnce) {
  const ModelShape compiled = llama_of(Program::compiled, true);
  EXPECT_FALSE(keeps_softmax(named(compiled, "decoder")));
  EXPECT_EQ(named(compiled, "decoder").outputs_kept(), kTokens * kWords);
  EXPECT_TRUE(keeps_softmax(named(llama_of(Program::eager, true), "decoder")));
}

/// Only the first convolution is followed by max pooling, from 112 × 112 to 56 × 56. Pooling keeps its 16-bit output
/// and 64-bit indices.
TEST(ProgramActivations, MaxPoolingKeepsItsOutputAndIndices) {
  const ModelShape whole = workload_registry().at("resnet-50").shape();
  const ModelShape kept = with_activations_of(whole, Program::eager, Precision::bf16, true);
  for (std::size_t i = 0; i < whole.layers.size(); ++i) {
    const double more = kept.layers[i].kept_bytes_per_sample - whole.layers[i].kept_bytes_per_sample;
    const std::string& name = whole.layers[i].name;
    EXPECT_EQ(more, name == "conv1.bn" ? (2 + 8) * 64 * 56 * 56 : name == "conv1" ? 4 * 3 * 224 * 224 : 0) << name;
  }
  const ModelShape vgg = workload_registry().at("vgg-16").shape();
  const ModelShape pooled = with_activations_of(vgg, Program::eager, Precision::tf32, false);
  double more = 0;
  for (std::size_t i = 0; i < vgg.layers.size(); ++i)
    more += pooled.layers[i].kept_bytes_per_sample - vgg.layers[i].kept_bytes_per_sample;
  const double outputs = 64 * 112 * 112 + 128 * 56 * 56 + 256 * 28 * 28 + 512 * 14 * 14 + 512 * 7 * 7;
  EXPECT_EQ(more, (4 + 8) * outputs) << "five poolings";
  EXPECT_EQ(with_activations_of(vgg, Program::typical, Precision::bf16, false), vgg) << "not known of others";
}

}  // namespace
}  // namespace dadsim::spec
