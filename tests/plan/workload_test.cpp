#include "plan/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace dadsim {
namespace {

struct Totals {
  std::string name;
  std::int64_t parameters;
  double forward_macs;
  std::size_t matrix_layers;
};

ModelShape shape_of(const std::string& name) {
  const Workload* workload = find_workload(name);
  if (workload == nullptr) throw std::runtime_error("no workload " + name);
  return workload->shape();
}

const LayerShape& layer_of(const ModelShape& model, const std::string& name) {
  const auto found =
      std::find_if(model.layers.begin(), model.layers.end(), [&](const LayerShape& l) { return l.name == name; });
  if (found == model.layers.end()) throw std::runtime_error("no layer " + name + " in " + model.name);
  return *found;
}

class WorkloadTotals : public testing::TestWithParam<Totals> {};

// Parameters: the counts of the reference implementations of the papers' networks (torchvision's resnet50 and vit_b_16,
// BERT's BertForPreTraining). Multiply-adds: of all matrix products, worked out by hand from the papers' tables;
// published profiles count batch normalisation and pooling on top (ResNet-50 4.11 G, ViT-B/16 17.58 G).
TEST_P(WorkloadTotals, EqualThePublishedOnes) {
  const ModelShape model = shape_of(GetParam().name);
  EXPECT_EQ(model.parameters(), GetParam().parameters);
  EXPECT_EQ(model.forward_macs_per_sample(), GetParam().forward_macs);
  EXPECT_EQ(std::count_if(model.layers.begin(), model.layers.end(),
                          [](const LayerShape& layer) { return layer.has_outer_product(); }),
            static_cast<std::ptrdiff_t>(GetParam().matrix_layers));
}

// Matrix layers: 53 convolutions and a classifier; patches, 12 × 4 and a classifier; 12 × 6 (24 × 6), pooler, masked
// words, next sentence.
INSTANTIATE_TEST_SUITE_P(Registry, WorkloadTotals,
                         testing::Values(Totals{"resnet-50", 25'557'032, 4'089'184'256.0, 54},
                                         Totals{"vit-b-16", 86'567'656, 17'563'828'224.0, 50},
                                         Totals{"bert-base", 110'106'428, 11'654'831'616.0, 75},
                                         Totals{"bert-large", 336'226'108, 40'107'124'736.0, 147}),
                         [](const auto& suite) {
                           std::string name = suite.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Workloads, HaveUniqueNamesAndSayWhereTheyComeFrom) {
  std::set<std::string> names;
  for (const Workload& workload : workload_registry()) {
    EXPECT_TRUE(names.insert(workload.name).second) << workload.name;
    EXPECT_EQ(find_workload(workload.name), &workload);
    EXPECT_FALSE(workload.description.empty());
    EXPECT_NE(workload.source.find("arXiv:"), std::string::npos) << workload.source;
  }
  EXPECT_EQ(find_workload("resnet-51"), nullptr);
}

// What holds for every layer of every workload, so that a new one is checked by being registered.
TEST(Workloads, LayersAreConsistent) {
  for (const Workload& workload : workload_registry()) {
    const ModelShape model = workload.shape();
    std::set<std::string> names;
    for (const LayerShape& layer : model.layers) {
      SCOPED_TRACE(workload.name + " " + layer.name);
      EXPECT_TRUE(names.insert(layer.name).second) << "used twice";
      EXPECT_GE(layer.parameters, 0);
      EXPECT_GE(layer.forward_macs_per_sample, 0);
      EXPECT_GT(layer.outputs_per_sample, 0);
      EXPECT_GT(layer.rows_per_sample, 0);
      EXPECT_TRUE(layer.parameters > 0 || layer.forward_macs_per_sample > 0) << "does nothing";
      EXPECT_EQ(layer.in > 0, layer.out > 0);
      if (layer.in > 0) {
        EXPECT_TRUE(layer.has_outer_product());
        EXPECT_EQ(layer.parameters, layer.in * layer.out + (layer.bias ? layer.out : 0));
        EXPECT_EQ(layer.forward_macs_per_sample, static_cast<double>(layer.in * layer.out * layer.rows_per_sample));
        EXPECT_EQ(layer.outputs_per_sample, static_cast<double>(layer.out * layer.rows_per_sample));
      } else {
        EXPECT_FALSE(layer.bias);
      }
    }
    EXPECT_TRUE(model.layers.back().has_outer_product()) << workload.name;
  }
}

TEST(ResNet50, ChainsChannelsThroughEveryBlock) {
  const ModelShape model = shape_of("resnet-50");
  std::int64_t channels = 64;
  std::int64_t narrow = 64;
  const int blocks[] = {3, 4, 6, 3};
  std::int64_t rows = std::int64_t{56} * 56;
  for (int stage = 1; stage <= 4; ++stage, narrow *= 2) {
    for (int block = 1; block <= blocks[stage - 1]; ++block) {
      const std::string name = "stage" + std::to_string(stage) + ".block" + std::to_string(block);
      SCOPED_TRACE(name);
      EXPECT_EQ(layer_of(model, name + ".conv1").in, channels);
      EXPECT_EQ(layer_of(model, name + ".conv1").out, narrow);
      EXPECT_EQ(layer_of(model, name + ".conv1").rows_per_sample, rows);
      if (stage > 1 && block == 1) rows /= 4;
      EXPECT_EQ(layer_of(model, name + ".conv2").in, 9 * narrow);
      EXPECT_EQ(layer_of(model, name + ".conv2").rows_per_sample, rows);
      EXPECT_EQ(layer_of(model, name + ".conv3").in, narrow);
      EXPECT_EQ(layer_of(model, name + ".conv3").out, 4 * narrow);
      EXPECT_EQ(layer_of(model, name + ".conv3").rows_per_sample, rows);
      if (block == 1) {
        EXPECT_EQ(layer_of(model, name + ".shortcut").in, channels);
        EXPECT_EQ(layer_of(model, name + ".shortcut").out, 4 * narrow);
        EXPECT_EQ(layer_of(model, name + ".shortcut").rows_per_sample, rows);
      } else {
        EXPECT_THROW(layer_of(model, name + ".shortcut"), std::runtime_error);
      }
      channels = 4 * narrow;
    }
  }
  EXPECT_EQ(layer_of(model, "classifier").in, channels);
  EXPECT_EQ(rows, 7 * 7);
}

TEST(ResNet50, FirstConvolutionReadsPatchesOfThreeColours) {
  const ModelShape model = shape_of("resnet-50");
  const LayerShape& first = layer_of(model, "conv1");
  EXPECT_EQ(first.kind, LayerKind::convolution);
  EXPECT_EQ(first.in, 3 * 7 * 7);
  EXPECT_EQ(first.rows_per_sample, 112 * 112);
  EXPECT_EQ(first.forward_macs_per_sample, 118'013'952.0);
  EXPECT_FALSE(first.bias);
  EXPECT_EQ(layer_of(model, "conv1.bn").parameters, 2 * 64);
  EXPECT_EQ(layer_of(model, "conv1.bn").outputs_per_sample, first.outputs_per_sample);
}

TEST(VitB16, HasTwelveBlocksOf197Tokens) {
  const ModelShape model = shape_of("vit-b-16");
  EXPECT_EQ(layer_of(model, "patches").rows_per_sample, 196);
  EXPECT_EQ(layer_of(model, "patches").in, 3 * 16 * 16);
  EXPECT_EQ(layer_of(model, "class_and_position").parameters, 768 + 197 * 768);
  for (int block = 1; block <= 12; ++block) {
    const std::string name = "block" + std::to_string(block) + ".";
    EXPECT_EQ(layer_of(model, name + "qkv").out, 3 * 768);
    EXPECT_EQ(layer_of(model, name + "qkv").rows_per_sample, 197);
    EXPECT_EQ(layer_of(model, name + "mlp1").out, layer_of(model, name + "mlp2").in);
    EXPECT_EQ(layer_of(model, name + "attention").parameters, 0);
    EXPECT_EQ(layer_of(model, name + "attention").forward_macs_per_sample, 2.0 * 197 * 197 * 768);
    EXPECT_EQ(layer_of(model, name + "attention").outputs_per_sample, 12.0 * 197 * 197 + 197 * 768);
  }
  EXPECT_THROW(layer_of(model, "block13.qkv"), std::runtime_error);
  EXPECT_EQ(layer_of(model, "classifier").rows_per_sample, 1);
}

TEST(BertBase, SharesTheWordsMatrixWithTheDecoder) {
  const ModelShape model = shape_of("bert-base");
  EXPECT_EQ(layer_of(model, "words").parameters, 30522 * 768);
  EXPECT_FALSE(layer_of(model, "words").has_outer_product());
  const LayerShape& decoder = layer_of(model, "masked_words.decoder");
  EXPECT_EQ(decoder.parameters, 30522);
  EXPECT_FALSE(decoder.has_outer_product());
  EXPECT_EQ(decoder.forward_macs_per_sample, 20.0 * 768 * 30522);
  EXPECT_EQ(layer_of(model, "masked_words.dense").rows_per_sample, 20);
  EXPECT_EQ(layer_of(model, "pooler").rows_per_sample, 1);
  EXPECT_EQ(layer_of(model, "block12.attention").forward_macs_per_sample, 2.0 * 128 * 128 * 768);
  for (int block = 1; block <= 12; ++block) {
    const std::string name = "block" + std::to_string(block) + ".";
    for (const char* part : {"query", "key", "value", "projection"}) {
      EXPECT_EQ(layer_of(model, name + part).in, 768);
      EXPECT_EQ(layer_of(model, name + part).out, 768);
    }
    EXPECT_EQ(layer_of(model, name + "mlp1").out, layer_of(model, name + "mlp2").in);
  }
}

}  // namespace
}  // namespace dadsim
