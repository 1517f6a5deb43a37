#include "spec/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace dadsim::spec {
namespace {

struct Totals {
  std::string name;
  std::int64_t parameters;
  double forward_macs;
  std::size_t matrix_layers;
};

ModelShape shape_of(const std::string& name) {
  const Workload* workload = workload_registry().find(name);
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

// Parameters are those of reference implementations: torchvision's models, BERT's BertForPreTraining, the released
// GPT-2, LLaMA and Llama 2, and PowerSGD's models. GPT-3 was not released; table 2.1 of Brown et al. (arXiv:2005.14165)
// gives its shapes, and 125 M … 174.6 B rounded. Multiply-adds are all matrix products, computed from the papers'
// tables. Published profiles also count normalisation and pooling (timm's tables have ResNet-50 with 4.11 G and
// ViT-B/16 with 17.58 G).
TEST_P(WorkloadTotals, EqualThePublishedOnes) {
  const ModelShape model = shape_of(GetParam().name);
  EXPECT_EQ(model.parameters(), GetParam().parameters);
  EXPECT_EQ(model.forward_macs_per_sample(), GetParam().forward_macs);
  EXPECT_EQ(std::count_if(model.layers.begin(), model.layers.end(),
                          [](const LayerShape& layer) { return layer.has_outer_product(); }),
            static_cast<std::ptrdiff_t>(GetParam().matrix_layers));
}

// Numbers of matrix layers are, for example: 53 convolutions and a classifier; patches, 12 × 4 and a classifier; 12 ×
// 6, pooler, masked words and next sentence; 12 × 4 without a decoder of its own; 32 × 7 and a decoder.
INSTANTIATE_TEST_SUITE_P(Registry, WorkloadTotals,
                         testing::Values(Totals{"resnet-18", 11'689'512, 1'814'073'344.0, 21},
                                         Totals{"resnet-50", 25'557'032, 4'089'184'256.0, 54},
                                         Totals{"resnet-101", 44'549'160, 7'801'405'440.0, 105},
                                         Totals{"resnet-152", 60'192'808, 11'513'626'624.0, 156},
                                         Totals{"resnet-18-cifar10", 11'173'962, 555'422'720.0, 21},
                                         Totals{"vgg-16", 138'357'544, 15'470'264'320.0, 16},
                                         Totals{"vit-b-16", 86'567'656, 17'563'828'224.0, 50},
                                         Totals{"vit-l-16", 304'326'632, 61'554'712'576.0, 98},
                                         Totals{"bert-base", 110'106'428, 11'654'831'616.0, 75},
                                         Totals{"bert-base-512", 110'106'428, 50'241'431'040.0, 75},
                                         Totals{"bert-large", 336'226'108, 40'107'124'736.0, 147},
                                         Totals{"bert-large-512", 336'226'108, 170'089'023'488.0, 147},
                                         Totals{"gpt-2-small", 124'439'808, 145'824'153'600.0, 48},
                                         Totals{"gpt-2-medium", 354'823'168, 413'475'536'896.0, 96},
                                         Totals{"gpt-2-large", 774'030'080, 887'285'350'400.0, 144},
                                         Totals{"gpt-2-xl", 1'557'611'200, 1'753'351'782'400.0, 192},
                                         Totals{"gpt-3-small", 125'226'240, 330'303'012'864.0, 48},
                                         Totals{"gpt-3-medium", 355'871'744, 930'030'288'896.0, 96},
                                         Totals{"gpt-3-large", 760'300'032, 1'858'901'901'312.0, 96},
                                         Totals{"gpt-3-xl", 1'315'723'264, 3'097'011'159'040.0, 96},
                                         Totals{"gpt-3-2.7b", 2'651'553'280, 6'104'646'942'720.0, 128},
                                         Totals{"gpt-3-6.7b", 6'658'404'352, 14'715'237'433'344.0, 128},
                                         Totals{"gpt-3-13b", 12'952'938'780, 28'225'262'755'840.0, 160},
                                         Totals{"gpt-3-175b", 174'604'259'328, 367'402'130'866'176.0, 384},
                                         Totals{"mpt-125m", 125'311'488, 330'477'600'768.0, 48},
                                         Totals{"mpt-350m", 355'985'408, 930'263'072'768.0, 96},
                                         Totals{"mpt-1b", 1'315'950'592, 3'097'476'726'784.0, 96},
                                         Totals{"mpt-3b", 2'651'837'440, 6'105'228'902'400.0, 128},
                                         Totals{"mpt-7b", 6'658'859'008, 14'716'168'568'832.0, 128},
                                         Totals{"mpt-13b", 12'853'954'560, 28'015'937'454'080.0, 160},
                                         Totals{"megatron-22b", 22'074'273'792, 47'648'367'181'824.0, 192},
                                         Totals{"llama-7b", 6'738'415'616, 14'630'806'093'824.0, 225},
                                         Totals{"llama-13b", 13'015'864'320, 28'038'083'379'200.0, 281},
                                         Totals{"llama-65b", 65'285'660'672, 138'663'019'151'360.0, 561},
                                         Totals{"llama-2-7b", 6'738'415'616, 31'460'635'443'200.0, 225},
                                         Totals{"llama-2-13b", 13'015'864'320, 59'512'140'595'200.0, 281},
                                         Totals{"llama-2-70b", 68'976'648'192, 303'439'439'462'400.0, 561},
                                         Totals{"lstm-wikitext-2", 28'949'319, 867'145'500.0, 6},
                                         Totals{"lstm-wikitext-2-untied", 53'450'278, 953'121'000.0, 7},
                                         Totals{"lstm-wikitext-2-example", 50'065'078, 993'674'500.0, 5}),
                         [](const auto& suite) {
                           std::string name = suite.param.name;
                           std::ranges::replace(name, '-', '_');
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(Workloads, HaveUniqueNamesAndSayWhereTheyComeFrom) {
  std::set<std::string> names;
  for (const Workload& workload : workload_registry().all()) {
    EXPECT_TRUE(names.insert(workload.name).second) << workload.name;
    EXPECT_EQ(workload_registry().find(workload.name), &workload);
    EXPECT_FALSE(workload.description.empty());
    EXPECT_TRUE(workload.source.find("arXiv:") != std::string::npos ||
                workload.source.find("OpenAI 2019, table 2") != std::string::npos)
        << workload.source;
    EXPECT_FALSE(workload.sample.empty());
    EXPECT_GE(workload.dataset_size, 0);
  }
  EXPECT_EQ(workload_registry().find("resnet-51"), nullptr);
  EXPECT_EQ(workload_registry().find("resnet-152")->dataset_size, 1'281'167);
  EXPECT_EQ(workload_registry().find("resnet-18-cifar10")->dataset_size, 50'000);
  EXPECT_EQ(workload_registry().find("lstm-wikitext-2")->dataset_size, 69'620) << "2,088,628 tokens in windows of 30";
  EXPECT_EQ(workload_registry().find("gpt-3-175b")->dataset_size, 0);
}

// Tests laws of every layer of every workload. A newly registered workload is tested too.
TEST(Workloads, LayersAreConsistent) {
  for (const Workload& workload : workload_registry().all()) {
    const ModelShape model = workload.shape();
    std::set<std::string> names;
    for (const LayerShape& layer : model.layers) {
      SCOPED_TRACE(workload.name + " " + layer.name);
      EXPECT_TRUE(names.insert(layer.name).second) << "used twice";
      EXPECT_GE(layer.parameters, 0);
      EXPECT_GE(layer.forward_macs_per_sample, 0);
      EXPECT_GT(layer.outputs_per_sample, 0);
      EXPECT_GT(layer.rows_per_sample, 0);
      EXPECT_TRUE(layer.parameters > 0 || layer.forward_macs_per_sample > 0 || layer.kind == LayerKind::recurrence ||
                  layer.kind == LayerKind::normalisation)
          << "does nothing";
      EXPECT_EQ(layer.in > 0, layer.out > 0);
      EXPECT_TRUE(layer.sequential == 1 || layer.sequential == layer.rows_per_sample);
      if (layer.kind == LayerKind::embedding) {
        EXPECT_TRUE(layer.has_matrix());
        EXPECT_FALSE(layer.has_outer_product());
        EXPECT_EQ(layer.parameters, layer.in * layer.out);
        EXPECT_EQ(layer.forward_macs_per_sample, 0);
        EXPECT_EQ(layer.outputs_per_sample, static_cast<double>(layer.in * layer.rows_per_sample));
      } else if (layer.in > 0) {
        EXPECT_TRUE(layer.has_outer_product());
        EXPECT_EQ(layer.parameters, layer.experts * (layer.in * layer.out + (layer.bias ? layer.out : 0)));
        EXPECT_EQ(layer.forward_macs_per_sample, static_cast<double>(layer.in * layer.out * layer.rows_per_sample));
        EXPECT_EQ(layer.outputs_per_sample, static_cast<double>(layer.out * layer.rows_per_sample));
      } else {
        EXPECT_FALSE(layer.bias);
      }
    }
    const LayerShape& last = model.layers.back();
    // Only an encoder may end with a norm.
    EXPECT_TRUE(last.has_outer_product() || last.forward_macs_per_sample > 0 || last.kind == LayerKind::normalisation)
        << workload.name;
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

TEST(Vgg16, FlattensTheLastImage) {
  const ModelShape model = shape_of("vgg-16");
  EXPECT_EQ(layer_of(model, "stage5.conv3").rows_per_sample, 14 * 14);
  EXPECT_EQ(layer_of(model, "fc1").in, 512 * 7 * 7);
  EXPECT_EQ(layer_of(model, "fc1").parameters, 102'764'544);
}

TEST(ResNet18, HasAFirstLayerForItsImages) {
  EXPECT_EQ(layer_of(shape_of("resnet-18"), "conv1").parameters, 3 * 7 * 7 * 64);
  EXPECT_EQ(layer_of(shape_of("resnet-18"), "stage1.block1.conv1").rows_per_sample, 56 * 56);
  EXPECT_EQ(layer_of(shape_of("resnet-18-cifar10"), "conv1").parameters, 3 * 3 * 3 * 64);
  EXPECT_EQ(layer_of(shape_of("resnet-18-cifar10"), "stage1.block1.conv1").rows_per_sample, 32 * 32);
}

TEST(Gpt2, TiesTheDecoderToTheWords) {
  const ModelShape model = shape_of("gpt-2-small");
  EXPECT_EQ(layer_of(model, "words").out, 50257);
  EXPECT_EQ(layer_of(model, "words").in, 768);
  EXPECT_EQ(layer_of(model, "decoder").parameters, 0);
  EXPECT_EQ(layer_of(model, "decoder").forward_macs_per_sample, 1024.0 * 768 * 50257);
}

// Evenly distributed lengths average half of the longest, and their squares a third of its square.
TEST(Bert, OfSequencesThatAreNotPaddedHasTheirMeanAndMeanSquare) {
  const ModelShape padded = workload_registry().at("bert-large-512").shape();
  const ModelShape real = workload_registry().at("bert-large-512").shape({{"mean-length", "256"}});
  EXPECT_EQ(real.parameters(), padded.parameters());
  for (const char* dense : {"block1.query", "block24.mlp1"})
    EXPECT_EQ(2 * layer_of(real, dense).forward_macs_per_sample, layer_of(padded, dense).forward_macs_per_sample);
  EXPECT_DOUBLE_EQ(3 * layer_of(real, "block7.attention").forward_macs_per_sample,
                   layer_of(padded, "block7.attention").forward_macs_per_sample);
  EXPECT_DOUBLE_EQ(3 * layer_of(real, "block7.attention").scores_per_sample,
                   layer_of(padded, "block7.attention").scores_per_sample);
  EXPECT_EQ(workload_registry().at("bert-large-512").shape({{"mean-length", "512"}}).layers, padded.layers);
  EXPECT_THROW(workload_registry().at("bert-large-512").shape({{"mean-length", "513"}}), std::invalid_argument);
}

TEST(Llama2, GroupsQueriesInTheLargestSizeOnly) {
  EXPECT_EQ(layer_of(shape_of("llama-2-70b"), "block80.key").out, 8 * 128);
  EXPECT_EQ(layer_of(shape_of("llama-2-70b"), "block80.query").out, 64 * 128);
  EXPECT_EQ(layer_of(shape_of("llama-2-13b"), "block40.value").out, 5120);
  EXPECT_EQ(layer_of(shape_of("llama-7b"), "norm").parameters, 4096);
}

TEST(Lstm, OnlyTheHiddenStateIsSequential) {
  const ModelShape model = shape_of("lstm-wikitext-2");
  EXPECT_EQ(layer_of(model, "lstm3.input").sequential, 1);
  EXPECT_EQ(layer_of(model, "lstm3.hidden").sequential, 30);
  EXPECT_EQ(layer_of(model, "lstm3.hidden").rows_per_sample, 30);
  EXPECT_EQ(layer_of(model, "lstm3.hidden").out, 4 * 650);
  EXPECT_EQ(layer_of(model, "lstm3.gates").kind, LayerKind::recurrence);
  EXPECT_EQ(layer_of(model, "lstm3.gates").sequential, 30);
  EXPECT_EQ(layer_of(model, "decoder").parameters, 28869);
  EXPECT_EQ(layer_of(shape_of("lstm-wikitext-2-example"), "decoder").out, 33278);
}

}  // namespace
}  // namespace dadsim::spec
