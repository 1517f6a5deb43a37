#pragma once

#include <vector>

#include "spec/workload.hpp"

// One function per family of networks, each in the file of its name.

namespace dadsim::spec {

std::vector<Workload> resnet_workloads();
std::vector<Workload> vgg_workloads();
std::vector<Workload> vit_workloads();
std::vector<Workload> bert_workloads();
std::vector<Workload> gpt_workloads();
std::vector<Workload> mpt_workloads();
std::vector<Workload> megatron_workloads();
std::vector<Workload> llama_workloads();
std::vector<Workload> lstm_workloads();

/// Training images of ImageNet's 1,000 classes (Russakovsky et al., IJCV 2015, arXiv:1409.0575, table 2).
inline constexpr std::int64_t kImageNetSize = 1'281'167;

}  // namespace dadsim::spec
