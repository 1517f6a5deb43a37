#include <gtest/gtest.h>

#include <string_view>

#include "estimate/memory.hpp"
#include "spec/attention.hpp"
#include "spec/workload.hpp"

// Compares predicted memory with real jobs and with published formulas.

namespace dadsim::estimate {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

/// A real job that fitted into its devices' memory.
struct Job {
  const char* name;
  const char* workload;
  spec::ParameterValues sizes;
  spec::OptimizerSpec::Kind optimizer;
  spec::Precision precision;
  std::int32_t batch;  ///< samples per replica
  std::size_t replicas;
  double device;  ///< memory of one device, GiB
  spec::ParallelismSpec parallelism = {};
  bool flash = false;
};

MemoryUse use_of(const Job& job) {
  spec::ModelShape shape = spec::workload_registry().at(job.workload).shape(job.sizes);
  if (job.flash) shape = spec::with_flash_attention(std::move(shape));
  spec::OptimizerSpec optimizer{.kind = job.optimizer};
  optimizer.momentum = 0.9;
  return memory_use(shape, optimizer, {}, std::vector<std::int32_t>(job.replicas, job.batch), 0, job.precision,
                    job.parallelism);
}

using Kind = spec::OptimizerSpec::Kind;
using spec::Precision;
using spec::Recomputation;
using spec::Sharding;

/// Returns the sizes of a GPT of DLPerf, with vocabulary 51,200, sequences of 2,048, and heads of 64 to 96 numbers.
spec::ParameterValues gpt(const char* hidden, const char* layers, const char* heads) {
  return {{"hidden", hidden}, {"layers", layers}, {"heads", heads}, {"vocabulary", "51200"}, {"sequence", "2048"}};
}

spec::ParallelismSpec megatron(std::int32_t tensor, std::int32_t pipeline, std::int64_t micro_batch,
                               Recomputation recomputation, std::int32_t interleave = 1, bool sequence = false) {
  return {.tensor = tensor,
          .pipeline = pipeline,
          .interleave = interleave,
          .micro_batch = micro_batch,
          .sequence_parallel = sequence,
          .recomputation = recomputation};
}

spec::ParallelismSpec fsdp(std::int64_t micro_batch) {
  return {.micro_batch = micro_batch, .sharding = Sharding::parameters};
}

std::vector<Job> jobs() {
  const Recomputation full = Recomputation::full;
  std::vector<Job> all{
      // ResNet-50 and BERT-base in fp32 and mixed precision on V100-SXM2-16GB, from DLPerf
      // (github.com/Oneflow-Inc/DLPerf).
      {"DLPerf ResNet-50 fp32 128", "resnet-50", {}, Kind::sgd, Precision::fp32, 128, 32, 16},
      {"DLPerf ResNet-50 AMP 256", "resnet-50", {}, Kind::sgd, Precision::fp16, 256, 32, 16},
      {"DLPerf BERT-base fp32 32", "bert-base", {}, Kind::adam, Precision::fp32, 32, 32, 16},
      {"DLPerf BERT-base fp32 96", "bert-base", {}, Kind::adam, Precision::fp32, 96, 32, 16},
      {"DLPerf BERT-base AMP 64", "bert-base", {}, Kind::adam, Precision::fp16, 64, 32, 16},
      // ResNet-50 in mixed precision, from MLPerf Training v0.7 and v1.0.
      {"MLPerf A100-40 408", "resnet-50", {}, Kind::lars, Precision::fp16, 408, 8, 40},
      {"MLPerf V100-16 208", "resnet-50", {}, Kind::lars, Precision::fp16, 208, 8, 16},
      // Networks in fp32 on P100 with 16 GB and K80 with 12 GB, from TensorFlow benchmarks, May 2017.
      {"TF P100 ResNet-50 64", "resnet-50", {}, Kind::sgd, Precision::fp32, 64, 8, 16},
      {"TF P100 ResNet-152 64", "resnet-152", {}, Kind::sgd, Precision::fp32, 64, 8, 16},
      {"TF P100 VGG-16 64", "vgg-16", {}, Kind::sgd, Precision::fp32, 64, 8, 16},
      {"TF K80 ResNet-50 64", "resnet-50", {}, Kind::sgd, Precision::fp32, 64, 8, 12},
      {"TF K80 ResNet-152 32", "resnet-152", {}, Kind::sgd, Precision::fp32, 32, 8, 12},
      {"TF K80 VGG-16 32", "vgg-16", {}, Kind::sgd, Precision::fp32, 32, 8, 12},
      // Networks in mixed precision on an RTX 3090 with 24 GB, from timm's tables of training (2022).
      {"timm ResNet-18 512", "resnet-18", {}, Kind::sgd, Precision::fp16, 512, 1, 24},
      {"timm ResNet-50 512", "resnet-50", {}, Kind::sgd, Precision::fp16, 512, 1, 24},
      {"timm ResNet-101 256", "resnet-101", {}, Kind::sgd, Precision::fp16, 256, 1, 24},
      {"timm ResNet-152 192", "resnet-152", {}, Kind::sgd, Precision::fp16, 192, 1, 24},
      {"timm ViT-B/16 192", "vit-b-16", {}, Kind::sgd, Precision::fp16, 192, 1, 24},
      {"timm VGG-16 384", "vgg-16", {}, Kind::sgd, Precision::fp16, 384, 1, 24},
      // BERT-large with LAMB on A100-80, from NVIDIA DeepLearningExamples.
      {"NVIDIA BERT-large 128 AMP", "bert-large", {}, Kind::lamb, Precision::fp16, 8192, 8, 80, {.micro_batch = 256}},
      {"NVIDIA BERT-large 128 TF32", "bert-large", {}, Kind::lamb, Precision::tf32, 8192, 8, 80, {.micro_batch = 128}},
      {"NVIDIA BERT-large 512 AMP",
       "bert-large-512",
       {},
       Kind::lamb,
       Precision::fp16,
       4096,
       8,
       80,
       {.micro_batch = 32}},
      {"NVIDIA BERT-large 512 TF32",
       "bert-large-512",
       {},
       Kind::lamb,
       Precision::tf32,
       4096,
       8,
       80,
       {.micro_batch = 16}},
      // DLPerf's GPT on V100-SXM2-16GB, with recomputed activations.
      {"GPT DP 1", "gpt", gpt("1536", "16", "16"), Kind::adam, Precision::fp16, 2, 1, 16, megatron(1, 1, 0, full)},
      {"GPT DP 32", "gpt", gpt("1536", "16", "16"), Kind::adam, Precision::fp16, 2, 32, 16, megatron(1, 1, 0, full)},
      {"GPT MP 1", "gpt", gpt("768", "12", "12"), Kind::adam, Precision::fp16, 8, 1, 16, megatron(1, 1, 0, full)},
      {"GPT MP 8", "gpt", gpt("1536", "16", "16"), Kind::adam, Precision::fp16, 16, 1, 16, megatron(8, 1, 0, full)},
      {"GPT 2×4", "gpt", gpt("1536", "16", "16"), Kind::adam, Precision::fp16, 8, 2, 16, megatron(4, 1, 0, full)},
      {"GPT 4×2", "gpt", gpt("1536", "16", "16"), Kind::adam, Precision::fp16, 4, 4, 16, megatron(2, 1, 0, full)},
      {"GPT 2×8", "gpt", gpt("2304", "24", "24"), Kind::adam, Precision::fp16, 8, 2, 16, megatron(8, 1, 0, full)},
      // The sizes of micro-batches are not published; two sequences are assumed, as with data parallelism alone.
      {"GPT 8×1×4", "gpt", gpt("1536", "16", "16"), Kind::adam, Precision::fp16, 64, 8, 16, megatron(1, 4, 2, full)},
      {"GPT 2×8×2", "gpt", gpt("2304", "24", "24"), Kind::adam, Precision::fp16, 256, 2, 16, megatron(8, 2, 2, full)},
      // Megatron on A100-80 with micro-batches of 1, from Korthikanti et al., arXiv:2205.05198, table 5.
      {"22B full", "megatron-22b", {}, Kind::adam, Precision::fp16, 4, 1, 80, megatron(8, 1, 1, full)},
      {"22B selective",
       "megatron-22b",
       {},
       Kind::adam,
       Precision::fp16,
       4,
       1,
       80,
       megatron(8, 1, 1, Recomputation::selective, 1, true)},
      {"175B full", "megatron-175b", {}, Kind::adam, Precision::fp16, 64, 1, 80, megatron(8, 8, 1, full, 3)},
      {"175B selective",
       "megatron-175b",
       {},
       Kind::adam,
       Precision::fp16,
       64,
       1,
       80,
       megatron(8, 8, 1, Recomputation::selective, 3, true)}};
  // A job of llm-foundry's benchmarks, fully sharded and with flash attention: GPUs, micro-batch, accumulation steps.
  struct Mpt {
    const char* workload;
    std::size_t gpus;
    std::int32_t micro_batch, accumulated;
  };
  for (const Mpt& mpt :
       {Mpt{"mpt-13b", 64, 2, 1}, Mpt{"mpt-13b", 32, 2, 1}, Mpt{"mpt-13b", 16, 2, 1}, Mpt{"mpt-13b", 8, 2, 3},
        Mpt{"mpt-7b", 8, 6, 2}, Mpt{"mpt-3b", 64, 6, 3}, Mpt{"mpt-3b", 16, 10, 3}, Mpt{"mpt-3b", 8, 10, 2},
        Mpt{"mpt-1b", 64, 20, 1}, Mpt{"mpt-1b", 16, 20, 1}, Mpt{"mpt-1b", 8, 14, 4}, Mpt{"mpt-350m", 8, 32, 2},
        Mpt{"mpt-125m", 8, 40, 2}}) {
    all.push_back({mpt.workload,
                   mpt.workload,
                   {},
                   Kind::adamw,
                   Precision::bf16,
                   mpt.micro_batch * mpt.accumulated,
                   mpt.gpus,
                   80,
                   fsdp(mpt.micro_batch),
                   true});
  }
  return all;
}

// MPT computes its loss in one kernel (llm-foundry's default), so no scores are kept in addition to softmax.
TEST(LargeJobs, ThatWereRunFit) {
  for (const Job& job : jobs()) {
    const MemoryUse use = use_of(job);
    const double fused = std::string_view(job.name).starts_with("mpt") ? use.scores : 0;
    EXPECT_LT(use.total() - fused, job.device * kGib) << job.name;
  }
}

// Jobs that fitted cannot reveal that the model counts too little memory. These jobs did not fit, or the next larger
// ones did not.
TEST(LargeJobs, ThatDidNotFitDoNot) {
  // Models of 175B to 1T need more than 80 GB without recomputation and sequence parallelism (Korthikanti et al.,
  // figure 1).
  EXPECT_GT(use_of({"175B",
                    "megatron-175b",
                    {},
                    Kind::adam,
                    Precision::fp16,
                    64,
                    1,
                    80,
                    megatron(8, 8, 1, Recomputation::none, 1)})
                .total(),
            80 * kGib);
  // In fp32, ResNet-50 fitted GPUs of 16 GB with a batch of 128 but not of 256.
  EXPECT_GT(use_of({"ResNet-50", "resnet-50", {}, Kind::sgd, Precision::fp32, 256, 1, 16}).total(), 16 * kGib);
  // llm-foundry's 7B runs fully sharded and with flash attention. It must not fit if either is left out.
  Job mpt{"mpt-7b", "mpt-7b", {}, Kind::adamw, Precision::bf16, 6, 8, 80, fsdp(6), false};
  EXPECT_GT(use_of(mpt).total(), 80 * kGib);
  mpt.flash = true;
  mpt.parallelism.sharding = Sharding::none;
  EXPECT_GT(use_of(mpt).total(), 80 * kGib);
}

/// Returns the bytes of activations that one more block keeps for one sample.
double block_bytes(const spec::ParallelismSpec& parallelism, bool flash = false) {
  const auto of = [&](const char* layers) {
    return use_of({"",
                   "gpt",
                   {{"layers", layers}, {"hidden", "6144"}, {"heads", "64"}, {"sequence", "2048"}},
                   Kind::adam,
                   Precision::fp16,
                   1,
                   1,
                   80,
                   parallelism,
                   flash})
        .activations;
  };
  return of("3") - of("2");
}

// A GPT layer keeps what Korthikanti et al. count (arXiv:2205.05198, table 2), here with s = 2048, h = 6144, a = 64, b
// = 1, t = 8. Per token and unit of width: 16 numbers of 2 bytes, and two bytes of masks. Per score: 2 bytes of
// softmax, 2 of its dropout output and 1 of the dropout mask.
TEST(LargeJobs, KeepWhatKorthikantiCounts) {
  constexpr double kTokens = 2048;
  constexpr double kWidth = 6144;
  constexpr double kScores = 5.0 * 64 * kTokens / kWidth;  // 5 a s ÷ h
  constexpr double kUnit = kTokens * kWidth;               // s b h
  const auto expect = [&](const spec::ParallelismSpec& parallelism, double bytes) {
    EXPECT_NEAR(block_bytes(parallelism), kUnit * bytes, 1e-9 * kUnit * bytes);
  };
  const Recomputation none = Recomputation::none;
  const Recomputation selective = Recomputation::selective;
  expect({}, 34 + kScores);
  expect(megatron(8, 1, 0, none), 10 + 24.0 / 8 + kScores / 8);
  expect(megatron(8, 1, 0, none, 1, true), (34 + kScores) / 8);
  expect(megatron(8, 1, 0, selective), 10 + 24.0 / 8);
  expect(megatron(8, 1, 0, selective, 1, true), 34.0 / 8);
  expect(megatron(1, 1, 0, Recomputation::full), 2);
  // Flash attention keeps one fp32 number per row of scores, 4 a ÷ h.
  EXPECT_NEAR(block_bytes({}, true), kUnit * (34 + 4.0 * 64 / kWidth), 1);
}

// With one-forward-one-backward, stage s of 8 keeps min(64, 8 − s) of 64 micro-batches. The first stage therefore keeps
// as much as all layers of one micro-batch. Interleaved, it keeps P v + P − 1 of P v chunks (1 + (p − 1)/(p m) in table
// 2), and with GPipe all. A small vocabulary makes the last stage's decoder negligible. The gradients of one MLP are
// subtracted: inner values twice, output and shortcut.
TEST(LargeJobs, MicroBatchesInFlight) {
  const auto activations = [](spec::ParallelismSpec parallelism, std::int32_t batch) {
    return use_of({"",
                   "gpt",
                   {{"layers", "48"}, {"hidden", "6144"}, {"heads", "64"}, {"vocabulary", "128"}},
                   Kind::adam,
                   Precision::fp16,
                   batch,
                   1,
                   80,
                   parallelism})
               .activations -
           2.0 * (2 * 4 + 2) * 6144 * 1024;
  };
  const Recomputation none = Recomputation::none;
  const double all = activations(megatron(1, 1, 1, none), 64);
  const double plain = activations(megatron(1, 8, 1, none), 64);
  EXPECT_NEAR(plain / all, 1, 0.01);
  EXPECT_NEAR(activations(megatron(1, 8, 1, none, 3), 64) / plain, 1 + 7.0 / (8 * 3), 0.001);
  spec::ParallelismSpec gpipe = megatron(1, 8, 1, none);
  gpipe.order = spec::PipelineOrder::gpipe;
  EXPECT_NEAR(activations(gpipe, 64) / plain, 64.0 / 8, 0.01);
  EXPECT_NEAR(activations(megatron(1, 8, 1, none), 2) / plain, 2.0 / 8, 0.001);
}

TEST(LargeJobs, ShardingDividesAmongReplicas) {
  const auto of = [](Sharding sharding) {
    return use_of({"", "mpt-1b", {}, Kind::adamw, Precision::bf16, 1, 8, 80, {.sharding = sharding}, true});
  };
  const double parameters = 1'315'950'592;
  const double block = 12.0 * 2048 * 2048 + 13 * 2048;
  const MemoryUse none = of(Sharding::none);
  EXPECT_EQ(none.parameters, 2 * parameters);
  EXPECT_EQ(none.master_copies, 4 * parameters);
  EXPECT_EQ(of(Sharding::optimizer).master_copies, 4 * parameters / 8);
  EXPECT_EQ(of(Sharding::optimizer).optimizer, 8 * parameters / 8);
  EXPECT_EQ(of(Sharding::optimizer).gradients, none.gradients);
  EXPECT_EQ(of(Sharding::gradients).gradients, 2 * parameters / 8 + 2 * block);
  EXPECT_EQ(of(Sharding::gradients).parameters, none.parameters);
  const double outside = parameters - 24 * block;
  EXPECT_EQ(of(Sharding::parameters).parameters, 2 * parameters / 8 + 2 * (outside + 2 * block));
}

}  // namespace
}  // namespace dadsim::estimate
