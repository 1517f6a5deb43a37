#include "estimate/memory.hpp"

#include <gtest/gtest.h>

#include "estimate/program_memory.hpp"
#include "spec/expert_parallel.hpp"
#include "spec/tiles.hpp"
#include "spec/workload.hpp"

namespace dadsim::estimate {
namespace {

/// Returns a network 3 → 5 → 2 with biases: 20 + 12 parameters, and 3 inputs and 5 + 2 outputs per sample.
spec::ModelShape small() {
  return {"MLP", {spec::dense_shape("fc1", 3, 5, true), spec::dense_shape("fc2", 5, 2, true)}};
}

constexpr double kParameters = 32;

spec::OptimizerSpec sgd(double momentum) { return {.kind = spec::OptimizerSpec::Kind::sgd, .momentum = momentum}; }

TEST(Memory, OfASmallNetworkByHand) {
  const MemoryUse use = memory_use(small(), {}, {}, {10, 20}, 1, spec::Precision::fp32);
  EXPECT_EQ(use.parameters, 4 * kParameters);
  EXPECT_EQ(use.master_copies, 0);
  EXPECT_EQ(use.optimizer, 2 * 4 * kParameters);  // Adam's two moments
  EXPECT_EQ(use.gradients, 4 * kParameters);
  EXPECT_EQ(use.activations, 4 * 20 * (3 + 5 + 2));
  EXPECT_EQ(use.algorithm, 0);
  EXPECT_EQ(use.total(), 4 * 4 * kParameters + 800);
}

// The last of four layers is the widest, so its stage needs the most memory. This stage keeps one of eight
// micro-batches at a time. As the second of two stages with two chunks each, it keeps 2 · 2 + 2 − 1 − 2 = 3 chunks.
TEST(Memory, ALaterStageHasFewerMicroBatchesAtATime) {
  spec::ModelShape shape{"chain", {}};
  for (const int out : {1, 1, 1, 100}) shape.layers.push_back(spec::dense_shape("layer", 1, out, false));
  const auto activations = [&](const spec::ParallelismSpec& parallelism) {
    return memory_use(shape, sgd(0), {}, {8}, 0, spec::Precision::fp32, parallelism).activations;
  };
  EXPECT_EQ(activations({.pipeline = 4, .micro_batch = 1}), 4 * 100);
  EXPECT_EQ(activations({.pipeline = 2, .interleave = 2, .micro_batch = 1}), 4 * (3.0 / 2) * (1 + 100));
}

TEST(Memory, SixteenBitKeepsMastersInFp32) {
  for (const spec::Precision precision : {spec::Precision::fp16, spec::Precision::bf16}) {
    const MemoryUse use = memory_use(small(), sgd(0.9), {}, {10}, 0, precision);
    EXPECT_EQ(use.parameters, 2 * kParameters);
    EXPECT_EQ(use.master_copies, 4 * kParameters);
    EXPECT_EQ(use.optimizer, 4 * kParameters);
    EXPECT_EQ(use.gradients, 2 * kParameters);
    EXPECT_EQ(use.activations, 2 * 10 * (3 + 5 + 2));
  }
  EXPECT_EQ(memory_use(small(), {}, {}, {10}, 0, spec::Precision::tf32),
            memory_use(small(), {}, {}, {10}, 0, spec::Precision::fp32));
}

// The decoder keeps softmax in fp32. Between the two passes, raw scores and their gradients in two precisions are in
// memory: 2 + 4 + 2 bytes in 16 bit. If devices divide the classes, the gradients overwrite softmax.
TEST(Memory, ScoresAreThereBetweenThePasses) {
  spec::ModelShape shape = small();
  shape.layers.back().kept_beside_per_sample = -2;
  shape.layers.back().kept_bytes_per_sample = 4 * 2;
  shape.layers.back().split = spec::TensorSplit::vocabulary;
  const auto scores = [&](spec::Precision precision, const spec::ParallelismSpec& how = {}) {
    return memory_use(shape, sgd(0), {}, {8}, 0, precision, how).scores;
  };
  EXPECT_EQ(scores(spec::Precision::bf16), 8 * 2 * (2 + 4 + 2));
  EXPECT_EQ(scores(spec::Precision::fp32), 8 * 2 * (4 + 4));
  EXPECT_EQ(scores(spec::Precision::bf16, {.micro_batch = 2}), 2 * 2 * (2 + 4 + 2)) << "of a micro-batch";
  EXPECT_EQ(scores(spec::Precision::bf16, {.tensor = 2}), 8 * 128 * (2 + 2)) << "classes are filled up to 128 a device";
  EXPECT_EQ(memory_use(small(), sgd(0), {}, {8}, 0, spec::Precision::bf16).scores, 0) << "what makes no softmax";
}

// If only products read a norm's output, its 8-bit cast is kept in its place: one byte per number, and one scale per
// tensor.
TEST(Memory, CastsAreKeptInPlaceOfWhatProductsRead) {
  spec::LayerShape norm{.name = "norm", .kind = spec::LayerKind::normalisation};
  norm.outputs_per_sample = 5;
  const spec::ModelShape shape{"norm", {norm}};
  const auto kept = [&](spec::Precision precision) {
    return memory_use(shape, sgd(0), {}, {8}, 0, precision).activations - 8 * 2 * norm.inputs();
  };
  EXPECT_EQ(kept(spec::Precision::bf16), 8 * 5 * 2);
  EXPECT_EQ(kept(spec::Precision::fp8), 8 * 5 * 1);
  EXPECT_DOUBLE_EQ(kept(spec::Precision::nvfp4), 8 * 5 * (0.5 + 1.0 / 16));
}

// Weights, gradients and moments in 16 bit take 2 + 2 + 4 bytes per parameter.
TEST(Memory, MastersAndMomentsAreAsWideAsIsSaid) {
  const MemoryUse narrow = memory_use(small(), {}, {}, {10}, 0, spec::Precision::bf16, {}, {.master = 0, .moment = 2});
  EXPECT_EQ(narrow.master_copies, 0);
  EXPECT_EQ(narrow.optimizer, 2 * 2 * kParameters);
  const MemoryUse bytes = memory_use(small(), {}, {}, {10}, 0, spec::Precision::bf16, {}, {.master = 4, .moment = 1});
  EXPECT_EQ(bytes.master_copies, 4 * kParameters);
  EXPECT_EQ(bytes.optimizer, 2 * 1 * kParameters);
  EXPECT_EQ(memory_use(small(), {}, {}, {10}, 0, spec::Precision::fp32, {}, {}).master_copies, 0);
}

/// Returns blocks of 16 tokens of width 64; each token goes to some of 6 experts of width 32.
spec::ModelShape of_experts(const char* layers, const char* per_token) {
  return spec::workload_registry().at("decoder").shape({{"layers", layers},
                                                        {"hidden", "64"},
                                                        {"heads", "4"},
                                                        {"kv-heads", "4"},
                                                        {"vocabulary", "100"},
                                                        {"sequence", "16"},
                                                        {"experts", "6"},
                                                        {"experts-per-token", per_token},
                                                        {"expert-feed-forward", "32"}});
}

// A recomputed block keeps its input, which is one vector per token, however many experts a token uses.
TEST(Memory, ABlockOfExpertsThatIsComputedAgainKeepsItsInputAlone) {
  const auto block = [](spec::Recomputation recomputation, const char* per_token) {
    const auto of = [&](const char* layers) {
      return memory_use(of_experts(layers, per_token), sgd(0), {}, {3}, 0, spec::Precision::bf16,
                        {.recomputation = recomputation})
          .activations;
    };
    return of("4") - of("3");
  };
  constexpr double kTokens = 3 * 16;
  for (const char* per_token : {"1", "5"})
    EXPECT_DOUBLE_EQ(block(spec::Recomputation::full, per_token), 2 * kTokens * 64) << per_token;
  // Every second one of the remaining products is kept: query, value, the router's scores, and attention's output.
  for (const char* per_token : {"1", "5"})
    EXPECT_DOUBLE_EQ(block(spec::Recomputation::operations, per_token), 2 * kTokens * (4 * 64 + 6)) << per_token;
}

spec::ModelShape words(const char* layers = "2", const char* vocabulary = "1000") {
  return spec::workload_registry().at("decoder").shape({{"layers", layers},
                                                        {"hidden", "64"},
                                                        {"heads", "4"},
                                                        {"kv-heads", "4"},
                                                        {"feed-forward", "96"},
                                                        {"vocabulary", vocabulary},
                                                        {"sequence", "16"}});
}

// Five samples of 16 tokens of width 64 are in 16 bit. Recomputed norms, feed-forward networks and experts keep only
// the sum that they pass on. The experts' products are kept, but not their activation.
TEST(Memory, PartsOfBlocksThatAreComputedAgainKeepNothing) {
  const auto block = [](auto&& shape_of, spec::BlockParts parts) {
    const auto of = [&](const char* layers) {
      spec::ParallelismSpec how{.recomputation = spec::Recomputation::selective};
      how.recomputed_parts = parts;
      return memory_use(shape_of(layers), sgd(0), {}, {5}, 0, spec::Precision::bf16, how).activations;
    };
    return of("4") - of("3");
  };
  const auto dense = [](const char* layers) { return words(layers, "8"); };
  const auto experts = [](const char* layers) { return of_experts(layers, "3"); };
  const auto freed = [&](auto&& shape_of, const char* parts) {
    return block(shape_of, spec::BlockParts{0}) - block(shape_of, spec::parse_parts(parts).value());
  };
  constexpr double kTokens = 5 * 16;
  EXPECT_DOUBLE_EQ(freed(dense, "norms"), kTokens * 2 * 64 * 2);
  EXPECT_DOUBLE_EQ(freed(dense, "feed-forward"), kTokens * 4 * 96 * 2);
  EXPECT_DOUBLE_EQ(freed(dense, "norms feed-forward"), kTokens * (2 * 64 + 4 * 96) * 2);
  EXPECT_DOUBLE_EQ(freed(experts, "expert-activation"), kTokens * 3 * 2 * 32 * 2);
  EXPECT_DOUBLE_EQ(freed(experts, "experts"), kTokens * (6 + 3 * (4 * 32 + 64) - 64) * 2);
  EXPECT_EQ(freed(experts, "feed-forward"), 0) << "its networks are experts";
}

// The last of eight blocks keeps its activations. Of the other seven, the first ones are offloaded to the host.
TEST(Memory, AShareOfTheBlocksIsWithTheHost) {
  const auto kept = [](spec::Offload offload, double share) {
    spec::ParallelismSpec how{.offload = offload};
    how.offload_share = share;
    return memory_use(words("8", "8"), sgd(0), {}, {5}, 0, spec::Precision::bf16, how).activations;
  };
  const double all = kept(spec::Offload::none, 1);
  const double block = (all - kept(spec::Offload::activations, 1)) / 5;  // seven blocks are offloaded, two of which are
                                                                         // on the device at a time
  EXPECT_DOUBLE_EQ(all - kept(spec::Offload::activations, 0.5), 2 * block) << "four of seven go";
  EXPECT_EQ(kept(spec::Offload::activations, 0.2), all) << "two of seven are on the device";
}

// With tensor parallelism, a device keeps only the rows of its own experts; the sequence is not divided again.
TEST(Memory, ExpertsBesideTensorParallelismKeepTheirRows) {
  const auto kept = [](std::int32_t experts) {
    const spec::ParallelismSpec how{.tensor = 2, .sequence_parallel = true, .experts = experts};
    return memory_use(spec::with_divided_experts(of_experts("1", "3"), how, 2), sgd(0), {}, {5, 5}, 0,
                      spec::Precision::bf16, how)
        .activations;
  };
  // A device has whole experts with half of the rows, not halves of all experts. Only the sum of their outputs is not
  // divided again.
  EXPECT_NEAR(kept(2), kept(1), 0.01 * kept(1));
}

// If the classifier is larger than the layers before it, its gradient exists before the activations are freed.
TEST(Memory, GradientsOfALargeClassifierPrecedeTheRoom) {
  const spec::ModelShape shape{"classifier",
                               {spec::dense_shape("fc1", 4, 1000, false), spec::dense_shape("fc2", 1000, 50, false)}};
  const spec::KeptActivations kept(spec::Precision::fp32, {});
  EXPECT_DOUBLE_EQ(gradients_before_room(shape, 100, 4, kept), 4 * 50000);
  EXPECT_DOUBLE_EQ(gradients_before_room(shape, 1, 4, kept), 4 * (50000 - 50 + 4000));
}

// If the loss is computed in parts, softmax in fp32 and the scores between the passes take the memory of a single part.
TEST(Memory, ALossInPartsHasTheScoresOfOne) {
  const auto use = [](std::int32_t parts) {
    const spec::ParallelismSpec how{.loss_parts = parts};
    return memory_use(spec::with_tiles(words(), how, 5), sgd(0), {}, {5}, 0, spec::Precision::bf16, how);
  };
  const double scores = 5 * 16 * 1000;
  EXPECT_DOUBLE_EQ(use(1).activations - use(4).activations, scores * 4 * (1 - 1.0 / 4));
  EXPECT_DOUBLE_EQ(use(1).scores, scores * (2 + 4 + 2));
  EXPECT_DOUBLE_EQ(use(4).scores, scores * (2 + 4 + 2) / 4);
  EXPECT_DOUBLE_EQ(use(80).scores, use(1'000'000).scores) << "no more parts than rows";
}

// Up to 2³¹ scores are computed at once, and more in parts of 2,048 rows. Tensor parallelism divides the scores.
TEST(Memory, ScoresOfLongSequencesAreMadeInParts) {
  const auto parts = [](std::int64_t rows, std::int64_t classes, std::int32_t tensor = 1) {
    spec::LayerShape scores = spec::dense_shape("decoder", 4, classes, false);
    scores.rows_per_sample = rows;
    scores.outputs_per_sample = static_cast<double>(rows) * static_cast<double>(classes);
    scores.kept_bytes_per_sample = 4 * scores.outputs_per_sample;
    scores.split = spec::TensorSplit::vocabulary;
    return spec::with_tiles({"words", {scores}}, {.tensor = tensor}, 1).layers[0].sequential;
  };
  EXPECT_EQ(parts(16'384, 131'072), 1);
  EXPECT_EQ(parts(16'385, 131'072), 9);
  EXPECT_EQ(parts(16'385, 131'072, 2), 1);
  EXPECT_EQ(parts(131'072, 151'936), 64);
}

// Outputs of gate, SiLU, up and the product take 8 bytes per row and unit of width. In parts, only one part exists at a
// time, with the gradients of gate, up and the product. The small vocabulary puts the memory's peak in these layers.
TEST(Memory, FeedForwardInPartsKeepsOnePart) {
  const auto of = [](const char* layers, std::int32_t parts, spec::Recomputation recomputation) {
    const spec::ParallelismSpec how{.recomputation = recomputation, .feed_forward_parts = parts};
    return memory_use(spec::with_tiles(words(layers, "8"), how, 5), sgd(0), {}, {5}, 0, spec::Precision::bf16, how)
        .activations;
  };
  const double inside = 5 * 16 * 96 * 4 * 2;
  const double gradients = inside * 3 / 4;
  EXPECT_DOUBLE_EQ(of("3", 1, spec::Recomputation::none) - of("3", 4, spec::Recomputation::none),
                   inside * (3 - 1.0 / 4) + gradients * (1 - 1.0 / 4));
  EXPECT_DOUBLE_EQ(of("3", 1, spec::Recomputation::full) - of("3", 4, spec::Recomputation::full),
                   (inside + gradients) * (1 - 1.0 / 4));
}

// With a large vocabulary the peak is at the loss, before any block is recomputed. With a small one the peak is in a
// block, after scores and softmax were freed.
TEST(Memory, ThePeakIsAtTheLossOrInABlock) {
  const auto use = [](const char* vocabulary) {
    return memory_use(words("3", vocabulary), sgd(0), {}, {5}, 0, spec::Precision::bf16,
                      {.recomputation = spec::Recomputation::full});
  };
  const double rows = 5 * 16;
  const double inputs = rows * (3 * 64 * 2 + 64 * 2 + 64 * 2);  // inputs of the blocks, and input and output of the
                                                                // last norm
  EXPECT_DOUBLE_EQ(use("1000").scores, rows * 1000 * 8);
  EXPECT_NEAR(use("1000").activations, inputs + rows * (1000 * 4 + 8), rows * 2 * 64);
  EXPECT_EQ(use("8").scores, 0);
  EXPECT_GT(use("8").activations, use("8").scores + inputs + rows * 96 * (4 + 3) * 2);
}

// Blocks share one empty gradient per matrix. The decoder adds its own gradient at the loss.
TEST(Memory, FusedSumsReturnEmptyGradientsThatBlocksShare) {
  const auto gradients = [](const char* layers, const char* vocabulary, double bytes) {
    return memory_use(words(layers, vocabulary), sgd(0), {}, {5}, 0, spec::Precision::bf16, {}, {},
                      {.gradient_width = 2, .empty_gradient = bytes})
        .gradients;
  };
  const double block = 4 * 64 * 64 + 3 * 64 * 96;
  for (const char* layers : {"1", "7"})
    EXPECT_DOUBLE_EQ(gradients(layers, "8", 2) - gradients(layers, "8", 0), 2 * block) << layers;
  EXPECT_DOUBLE_EQ(gradients("7", "1000", 2) - gradients("7", "1000", 0), 2 * (block + 64 * 1000));
  EXPECT_DOUBLE_EQ(gradients("1", "1000", 0), 4 * static_cast<double>(words("1", "1000").parameters()));
}

// With autocast, blocks pass on fp32 values. Recomputation keeps 16-bit copies of one block's weights at a time.
TEST(Memory, AutocastCastsRecomputedBlocksAgain) {
  const spec::ParallelismSpec full{.recomputation = spec::Recomputation::full};
  const auto use = [&](const char* layers, const ProgramMemory& program) {
    return memory_use(words(layers), sgd(0), {}, {5}, 0, spec::Precision::bf16, full, {}, program);
  };
  const ProgramMemory autocast{.shortcut = 4, .casts_again = true};
  const double block = 4 * 64 * 64 + 3 * 64 * 96;
  EXPECT_DOUBLE_EQ(use("4", {}).parameters - use("4", autocast).parameters, 2 * 3 * block);
  EXPECT_DOUBLE_EQ(use("4", autocast).activations - use("4", {}).activations, 4 * 5 * 16 * 64 * (4 - 2));
}

TEST(Memory, OptimizersKeepWhatTheyNeed) {
  EXPECT_EQ(optimizer_state_per_parameter(sgd(0)), 0);
  EXPECT_EQ(optimizer_state_per_parameter(sgd(0.9)), 1);
  EXPECT_EQ(optimizer_state_per_parameter({.kind = spec::OptimizerSpec::Kind::adam}), 2);
  EXPECT_EQ(optimizer_state_per_parameter({.kind = spec::OptimizerSpec::Kind::adamw}), 2);
  EXPECT_EQ(optimizer_state_per_parameter({.kind = spec::OptimizerSpec::Kind::lamb}), 2);
  EXPECT_EQ(optimizer_state_per_parameter({.kind = spec::OptimizerSpec::Kind::lars, .momentum = 0.9}), 1);
}

TEST(Memory, AnAlgorithmKeepsMatricesOfAllWorkers) {
  const AlgorithmState gathered{step::extent::all_rows() * (step::extent::in() + step::extent::out())};
  EXPECT_EQ(memory_use(small(), {}, gathered, {10, 20}, 0, spec::Precision::fp32).algorithm, 4 * 30 * (3 + 5 + 5 + 2));
  EXPECT_EQ(memory_use(small(), {}, gathered, {10, 20}, 0, spec::Precision::fp16).algorithm, 2 * 30 * (3 + 5 + 5 + 2));
}

TEST(Memory, RanksAreThoseOfEveryWorker) {
  const AlgorithmState factors{
      (step::extent::rank(0) + step::extent::total_rank(0)) * (step::extent::in() + step::extent::out()), 4};
  // Three inputs and a bias limit the first rank to 4, and two outputs the second to 2. There are three workers.
  EXPECT_EQ(memory_use(small(), {}, factors, {8, 8, 8}, 0, spec::Precision::fp32).algorithm,
            4 * ((4 + 12) * 8 + (2 + 6) * 7));
}

TEST(Memory, TablesOnlyWhereTheAlgorithmCompressesThem) {
  spec::ModelShape model = small();
  spec::LayerShape table{.name = "words", .kind = spec::LayerKind::embedding, .in = 4, .out = 100, .parameters = 400};
  table.outputs_per_sample = 4;
  model.layers.insert(model.layers.begin(), table);
  AlgorithmState memory{step::extent::in() * step::extent::out()};
  EXPECT_EQ(memory_use(model, {}, memory, {1}, 0, spec::Precision::fp32).algorithm, 4 * (15 + 10));
  memory.embeddings = true;
  EXPECT_EQ(memory_use(model, {}, memory, {1}, 0, spec::Precision::fp32).algorithm, 4 * (400 + 15 + 10));
}

TEST(Memory, TheBreakdownHoldsTheTotalAndNothingEmpty) {
  const MemoryUse use = memory_use(small(), sgd(0), {}, {10}, 0, spec::Precision::fp32);
  double sum = 0;
  for (const auto& [what, bytes] : use.breakdown()) {
    EXPECT_GT(bytes, 0) << what;
    sum += bytes;
  }
  EXPECT_EQ(use.breakdown().size(), 3);  // no master copies, no moments, no memory of the algorithm
  EXPECT_EQ(sum, use.total());
}

// DLPerf and MLPerf trained these networks on these GPUs (docs/validation.md), so the predicted memory must fit them.
TEST(Memory, WhatWasTrainedFits) {
  constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
  const spec::ModelShape resnet = spec::workload_registry().find("resnet-50")->shape();
  EXPECT_LT(memory_use(resnet, sgd(0.9), {}, {128}, 0, spec::Precision::fp32).total(), 16 * kGib);
  EXPECT_LT(memory_use(resnet, sgd(0.9), {}, {408}, 0, spec::Precision::fp16).total(), 40 * kGib);
  EXPECT_GT(memory_use(resnet, sgd(0.9), {}, {256}, 0, spec::Precision::fp32).total(), 16 * kGib);
  const spec::ModelShape bert = spec::workload_registry().find("bert-base")->shape();
  EXPECT_LT(memory_use(bert, {}, {}, {96}, 0, spec::Precision::fp32).total(), 16 * kGib);
}

}  // namespace
}  // namespace dadsim::estimate
