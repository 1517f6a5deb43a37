#include "spec/device_part.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "spec/attention.hpp"
#include "spec/stages.hpp"
#include "spec/workload.hpp"

namespace dadsim::spec {
namespace {

ModelShape network(const std::string& workload, const ParameterValues& sizes = {}) {
  return workload_registry().at(workload).shape(sizes);
}

const LayerShape& layer_named(const ModelShape& model, const std::string& name) {
  for (const LayerShape& layer : model.layers)
    if (layer.name == name) return layer;
  throw std::runtime_error("no layer " + name);
}

/// Sums of a layer's costs over all `tensor` devices.
struct Together {
  std::int64_t parameters = 0;
  double macs = 0, outputs = 0;
};
Together together(const LayerShape& whole, std::int32_t tensor) {
  const LayerShape part = sharded(whole, tensor);
  const bool divided = whole.split != TensorSplit::whole;
  const std::int64_t copies = divided ? tensor : 1;
  // Every device has the biases of row-parallel layers, and the whole output of row-parallel layers and tables.
  const bool table = whole.kind == LayerKind::embedding;
  const std::int64_t again = whole.split == TensorSplit::row && whole.bias ? (tensor - 1) * whole.out : 0;
  const bool summed = whole.split == TensorSplit::row || (divided && table);
  return {copies * part.parameters - again, static_cast<double>(copies) * part.forward_macs_per_sample,
          (summed ? 1.0 : static_cast<double>(copies)) * part.outputs_per_sample};
}

// These vocabularies are multiples of 128 × 8 and need no padding.
TEST(TensorParallel, PartsMakeTheWhole) {
  for (const auto& [workload, sizes] : {std::pair{"megatron-22b", ParameterValues{}},
                                        {"llama", {{"vocabulary", "32768"}, {"kv-heads", "8"}}},
                                        {"bert", {{"vocabulary", "30720"}, {"heads", "16"}, {"hidden", "1024"}}},
                                        {"vit", {{"heads", "8"}}}}) {
    for (const std::int32_t tensor : {1, 2, 4, 8}) {
      for (const LayerShape& layer : network(workload, sizes).layers) {
        SCOPED_TRACE(std::string(workload) + " " + layer.name + " of " + std::to_string(tensor));
        const Together all = together(layer, tensor);
        EXPECT_EQ(all.parameters, layer.parameters);
        EXPECT_DOUBLE_EQ(all.macs, layer.forward_macs_per_sample);
        EXPECT_DOUBLE_EQ(all.outputs, layer.outputs_per_sample);
      }
    }
  }
}

TEST(TensorParallel, DividesWhatMegatronDivides) {
  const ModelShape part = sharded(network("gpt-2-medium"), 4);
  EXPECT_EQ(layer_named(part, "block1.qkv").out, 3 * 1024 / 4);
  EXPECT_EQ(layer_named(part, "block1.qkv").in, 1024);
  EXPECT_EQ(layer_named(part, "block1.attention").outputs_per_sample, 4.0 * 1024 * 1024 + 1024 * 256);
  EXPECT_EQ(layer_named(part, "block1.projection").in, 256);
  EXPECT_EQ(layer_named(part, "block1.projection").parameters, 256 * 1024 + 1024);
  EXPECT_EQ(layer_named(part, "block1.mlp1").parameters, 1024 * 1024 + 1024);
  EXPECT_EQ(layer_named(part, "block1.mlp2").outputs_per_sample, 1024.0 * 1024);
  EXPECT_EQ(layer_named(part, "block1.norm1"), layer_named(network("gpt-2-medium"), "block1.norm1"));
  EXPECT_EQ(layer_named(part, "positions"), layer_named(network("gpt-2-medium"), "positions"));
}

// On four devices Megatron-LM pads GPT-2's 50,257 words to 50,688, on eight to 51,200.
TEST(TensorParallel, FillsUpVocabularies) {
  EXPECT_EQ(layer_named(sharded(network("gpt-2-medium"), 4), "words").out, 50688 / 4);
  EXPECT_EQ(layer_named(sharded(network("gpt-2-medium"), 8), "words").out, 51200 / 8);
  EXPECT_EQ(layer_named(sharded(network("gpt-2-medium"), 8), "decoder").outputs_per_sample, 1024.0 * 51200 / 8);
  EXPECT_EQ(layer_named(sharded(network("bert-base"), 2), "masked_words.decoder").parameters, 30720 / 2);
  EXPECT_EQ(sharded(network("gpt-2-medium"), 1), network("gpt-2-medium"));
}

TEST(TensorParallel, RefusesWhatItCannotDivide) {
  try {
    sharded(network("gpt-2-xl"), 2);
    FAIL();
  } catch (const std::invalid_argument& fault) {
    EXPECT_STREQ(fault.what(), "'block1.qkv' has 25 heads, which 2 devices cannot share equally");
  }
  EXPECT_THROW(sharded(network("llama-2-70b"), 16), std::invalid_argument) << "8 heads of keys";
  EXPECT_NO_THROW(sharded(network("llama-2-70b"), 8));
}

TEST(FlashAttention, WritesNoScoresAndComputesThemAgain) {
  const LayerShape plain = layer_named(network("gpt-2-small"), "block1.attention");
  const LayerShape flash = layer_named(with_flash_attention(network("gpt-2-small")), "block1.attention");
  EXPECT_EQ(plain.scores_per_sample, 12.0 * 1024 * 1024);
  EXPECT_EQ(flash.outputs_per_sample, 1024.0 * 768);
  EXPECT_EQ(flash.inputs(), 3.0 * 1024 * 768);
  EXPECT_EQ(flash.forward_macs_per_sample, plain.forward_macs_per_sample / 2) << "causal";
  EXPECT_EQ(flash.recomputed_macs_per_sample, flash.forward_macs_per_sample / 2) << "one product of two";
  EXPECT_EQ(flash.outputs_kept(), flash.outputs_per_sample);
  EXPECT_EQ(flash.kept_bytes_per_sample, 4.0 * 12 * 1024);
  const LayerShape both_ways = layer_named(with_flash_attention(network("bert-base")), "block1.attention");
  EXPECT_EQ(both_ways.forward_macs_per_sample, 2.0 * 128 * 128 * 768);
  EXPECT_EQ(with_flash_attention(network("resnet-50")), network("resnet-50"));
}

TEST(Stages, HaveBlocksAlike) {
  const ModelShape gpt = network("gpt-2-small");
  const std::vector<LayerRange> blocks = blocks_of(gpt);
  EXPECT_EQ(blocks.size(), 2 + 12 + 2);
  EXPECT_EQ(blocks[2], (LayerRange{2, 9}));
  // The decoder has the multiply-adds of five blocks. It therefore affects the division whenever blocks cannot be
  // divided evenly.
  const std::vector<LayerRange> pieces = pieces_of(gpt, 4);
  EXPECT_EQ(pieces, (std::vector<LayerRange>{{0, 23}, {23, 44}, {44, 65}, {65, 88}}));
  EXPECT_EQ(pieces_of(gpt, 5).back(), (LayerRange{79, 88}));
  EXPECT_EQ(pieces_of(gpt, 1), (std::vector<LayerRange>{{0, 88}}));
  // With more pieces than blocks, the layers before the blocks are a piece of their own, and so are those after them.
  EXPECT_EQ(pieces_of(gpt, 13).back(), (LayerRange{86, 88}));
  EXPECT_EQ(pieces_of(gpt, 13).front(), (LayerRange{0, 9}));
  EXPECT_EQ(pieces_of(gpt, 14).front(), (LayerRange{0, 2}));
  EXPECT_EQ(pieces_of(gpt, 14)[1], (LayerRange{2, 9}));
  EXPECT_THROW(pieces_of(gpt, 15), std::invalid_argument);
  EXPECT_EQ(blocks_of(network("resnet-50")).size(), 2 + 16 + 1);
}

TEST(Sizes, OfAWorkloadCanBeAskedFor) {
  EXPECT_EQ(network("gpt", {{"layers", "24"}, {"hidden", "1024"}, {"heads", "16"}}).layers,
            network("gpt-2-medium").layers);
  EXPECT_EQ(network("bert", {{"layers", "24"}, {"hidden", "1024"}, {"heads", "16"}}).parameters(),
            network("bert-large").parameters());
  EXPECT_EQ(network("vit", {{"layers", "24"}, {"hidden", "1024"}, {"heads", "16"}}).layers, network("vit-l-16").layers);
  EXPECT_EQ(network("llama", {{"layers", "80"},
                              {"hidden", "8192"},
                              {"heads", "64"},
                              {"kv-heads", "8"},
                              {"feed-forward", "28672"},
                              {"sequence", "4096"}})
                .layers,
            network("llama-2-70b").layers);
  EXPECT_EQ(network("mpt", {{"layers", "32"}, {"hidden", "4096"}, {"heads", "32"}}).layers, network("mpt-7b").layers);
  // DLPerf's GPT has 16 blocks of 12 × 1,536² parameters, tables and norms.
  EXPECT_EQ(
      network("gpt",
              {{"layers", "16"}, {"hidden", "1536"}, {"heads", "16"}, {"vocabulary", "51200"}, {"sequence", "2048"}})
          .parameters(),
      51200 * 1536 + 2048 * 1536 + 16 * (12 * 1536 * 1536 + 13 * 1536) + 2 * 1536);
}

TEST(Sizes, OfSequencesAndImages) {
  // Attention grows with the square of the length, everything else linearly. Positions are added if the table has too
  // few.
  const ModelShape longer = network("gpt-2-small", {{"sequence", "2048"}});
  EXPECT_EQ(layer_named(longer, "positions").out, 2048);
  EXPECT_EQ(layer_named(network("gpt-2-small", {{"sequence", "512"}}), "positions").out, 1024);
  EXPECT_EQ(layer_named(longer, "block1.attention").forward_macs_per_sample, 2.0 * 2048 * 2048 * 768);
  EXPECT_EQ(network("bert-large", {{"sequence", "512"}, {"masked", "80"}}).layers, network("bert-large-512").layers);
  EXPECT_EQ(layer_named(network("vit-b-16", {{"image", "384"}}), "block1.qkv").rows_per_sample, 24 * 24 + 1);
  EXPECT_EQ(network("resnet-50", {{"image", "448"}}).parameters(), network("resnet-50").parameters());
}

TEST(Sizes, ThatMakeNoNetworkAreRefused) {
  const auto fault = [](const std::string& workload, const ParameterValues& sizes) -> std::string {
    try {
      network(workload, sizes);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(fault("gpt", {{"heads", "10"}}), "heads 10 does not divide hidden 768");
  EXPECT_EQ(fault("llama", {{"kv-heads", "5"}}), "kv-heads 5 does not divide heads 32");
  EXPECT_EQ(fault("vit", {{"patch", "15"}}), "patch 15 does not divide image 224");
  EXPECT_EQ(fault("resnet-50", {{"image", "225"}}), "image 225 is no multiple of 32");
  EXPECT_EQ(fault("bert", {{"sequence", "16"}}), "more tokens are masked than a sequence has");
  EXPECT_EQ(fault("resnet-50", {{"layers", "4"}}), "'resnet-50' has no size 'layers'");
  EXPECT_EQ(fault("gpt", {{"layers", "x"}}), "'layers' is no size: 'x'");
}

}  // namespace
}  // namespace dadsim::spec
