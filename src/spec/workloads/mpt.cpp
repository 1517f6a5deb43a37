#include <array>

#include "spec/workloads/families.hpp"
#include "spec/workloads/gpt.hpp"

namespace dadsim::spec {
namespace {

/// Configurations of pre-training in llm-foundry. With a table of positions and with biases, as the parameters that are
/// published beside their throughput say: ALiBi and layers without biases came with the released MPT-7B.
constexpr std::int64_t kMptTokens = 2048;
constexpr GptForm kMptForm{.vocabulary = 50368, .positions = kMptTokens, .dropout = false};
constexpr std::array<GptSize, 8> kMptSizes{{
    {"mpt-125m", "MPT 125M", 768, 12, 12},
    {"mpt-350m", "MPT 350M", 1024, 16, 24},
    {"mpt-1b", "MPT 1B", 2048, 16, 24},
    {"mpt-3b", "MPT 3B", 2560, 20, 32},
    {"mpt-7b", "MPT 7B", 4096, 32, 32},
    {"mpt-13b", "MPT 13B", 5120, 40, 40},
    {"mpt-30b", "MPT 30B", 7168, 64, 48},
    {"mpt-70b", "MPT 70B", 8192, 64, 80},
}};
constexpr const char* kMptSource =
    "github.com/mosaicml/llm-foundry, scripts/train: parameters as in its benchmarking tables, which count a table of "
    "2,048 positions and biases; the layers of GPT, arXiv:2005.14165";

}  // namespace

std::vector<Workload> mpt_workloads() {
  std::vector<Workload> workloads;
  workloads.push_back(gpt_family({"mpt", "MPT", 768, 12, 12}, kMptForm, kMptTokens,
                                 "an MPT of any size, without dropout: those of MPT 125M unless said", kMptSource));
  for (const GptSize& size : kMptSizes) workloads.push_back(gpt_workload(size, kMptForm, kMptTokens, kMptSource));
  return workloads;
}

}  // namespace dadsim::spec
