#include <array>

#include "spec/workloads/families.hpp"
#include "spec/workloads/gpt.hpp"

namespace dadsim::spec {
namespace {

/// Korthikanti et al., table 3: sequences of 2,048 tokens, and a vocabulary that is a multiple of 1,024.
constexpr std::int64_t kMegatronTokens = 2048;
constexpr GptForm kMegatronForm{.vocabulary = 51200, .positions = kMegatronTokens, .dropout = true};
constexpr std::array<GptSize, 4> kMegatronSizes{{
    {"megatron-22b", "Megatron 22B", 6144, 64, 48},
    {"megatron-175b", "Megatron 175B", 12288, 96, 96},
    {"megatron-530b", "Megatron 530B", 20480, 128, 105},
    {"megatron-1t", "Megatron 1T", 25600, 160, 128},
}};

}  // namespace

std::vector<Workload> megatron_workloads() {
  std::vector<Workload> workloads;
  for (const GptSize& size : kMegatronSizes) {
    workloads.push_back(gpt_workload(size, kMegatronForm, kMegatronTokens,
                                     "Korthikanti et al.: Reducing Activation Recomputation in Large Transformer "
                                     "Models, MLSys 2023, arXiv:2205.05198, table 3; Narayanan et al.: Efficient "
                                     "Large-Scale Language Model Training on GPU Clusters, SC 2021, arXiv:2104.04473"));
  }
  return workloads;
}

}  // namespace dadsim::spec
