// Compares measured peaks of memory with counted ones, and counts published jobs that ran but would be refused for lack
// of memory (docs/devices.md, docs/validation.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "scenario/document/load.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/memory_check.hpp"
#include "study/setting/timed_as.hpp"
#include "validation/measured.hpp"

namespace dadsim {
namespace {

using MemoryRow = std::map<std::string, std::string>;

/// Returns a row's settings for --set. A setting of <timed-as> is given by name alone, any other as a path.
std::vector<std::string> settings_in(const MemoryRow& row) {
  std::vector<std::string> settings;
  for (const std::string& setting : test::split(row.at("timed_as"), ' '))
    settings.push_back(setting.find('.') < setting.find('=') ? setting : "timed-as." + setting);
  return settings;
}

study::RunMemory memory_of(const scenario::Scenario& scenario) {
  return study::memory_of_runs(scenario, study::timed_as_of(scenario, {})).front();
}

scenario::Scenario on_a_platform(const MemoryRow& row, const std::string& file, const std::string& platform,
                                 const std::string& device, int gpus) {
  std::vector<std::string> settings{
      "platform.file=../../platforms/" + platform + ".xml",
      fmt::format("workers.worker.hosts=gpu-{}", gpus == 1 ? "0" : fmt::format("[0-{}]", gpus - 1)),
      "workers.worker.device=" + device, "workers.memory=ignore", "timed-as.batch=" + row.at("batch")};
  for (std::string& setting : settings_in(row)) settings.push_back(std::move(setting));
  if (const auto program = row.find("program"); program != row.end())
    settings.push_back("timed-as.program=" + (program->second == "nchw" ? "eager" : program->second));
  return scenario::load_scenario(fmt::format("{}/tests/validation/{}.xml", DADSIM_SOURCE_DIR, file), settings,
                                 study::make_catalog_without_learning());
}

scenario::Scenario on_a_cluster(const MemoryRow& row) {
  std::string cluster;
  for (const std::string& setting : test::split(row.at("platform"), ' ')) {
    const std::size_t equals = setting.find('=');
    cluster += fmt::format(" {}=\"{}\"", setting.substr(0, equals), setting.substr(equals + 1));
  }
  const std::string text = fmt::format(
      R"(<scenario name="job" seed="1"><platform><gpu-cluster{}/></platform>
         <workers memory="ignore"><worker hosts="gpu-[0-{}]" device="{}"/></workers><timing-only/>
         <training><adamw/></training><timed-as batch="{}"/>
         <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/></scenario>)",
      cluster, std::stoll(row.at("gpus")) - 1, row.at("device"), row.at("batch"));
  return scenario::ScenarioSource("row.xml", text).load(settings_in(row), study::make_catalog_without_learning());
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at(values.size() / 2);
}

/// Returns the absolute errors, given fractions counted ÷ measured.
std::vector<double> sizes_of_errors(const std::vector<double>& shares) {
  std::vector<double> sizes;
  for (const double share : shares) sizes.push_back(std::abs(share - 1));
  return sizes;
}

/// Counted ÷ measured peaks of several programs.
struct Peaks {
  std::vector<double> shares;
  std::vector<std::string> cells(const std::string& name) const {
    std::vector<double> sorted = shares;
    std::ranges::sort(sorted);
    double off = 0;
    for (const double share : sorted) off += std::abs(share - 1) / static_cast<double>(sorted.size());
    return {name,
            fmt::format("{}", sorted.size()),
            test::percent(sorted[sorted.size() / 2] - 1),
            fmt::format("{:.1f} %", 100 * off),
            test::percent(sorted.front() - 1),
            test::percent(sorted.back() - 1)};
  }
};

std::string kind_of(const MemoryRow& row) {
  const std::string& name = row.at("case");
  if (row.at("group") == "images")
    return name.find("nchw") == std::string::npos ? "images, channels last"
           : name.find("fp32") != std::string::npos || name.find("tf32") != std::string::npos
               ? "images, nchw, fp32 and tf32"
               : "images, nchw, 16 bit";
  if (name.ends_with("plain")) return "words, plain attention";
  if (name.ends_with("recomputed")) return "words, blocks computed again";
  if (row.at("program") == "compiled") return "words, compiled";
  // The process that ran GPT used 1.17 GB more than its programs need, at any batch (docs/validation/memory.md).
  return name.starts_with("gpt") ? "words, first process" : "words, second process";
}

TEST(MemoryValidation, PeaksAreAsDocumented) {
  std::map<std::string, Peaks> groups;
  std::vector<double> words;
  for (const MemoryRow& row : test::measured("pytorch-h100")) {
    const scenario::Scenario scenario = on_a_platform(row, row.at("scenario"), "dgx-h100-pod", "h100-sxm5", 1);
    const double share = memory_of(scenario).use.total() / std::stod(row.at("peak"));
    groups[kind_of(row)].shares.push_back(share);
    if (row.at("group") == "words" && row.at("program") != "compiled") words.push_back(share);
  }
  // TorchTitan (Liang et al., ICLR 2025, arXiv:2410.06511, table 1) measured 82 GB for Llama 3.1 8B with two sequences
  // of 8,192 tokens on each of 8 H100. Parameters are sharded. Every second product, and all other operations, are
  // recomputed.
  const MemoryRow titan{{"platform", "nodes=1 gpus=8 inside=nvlink-4 nic=ib-ndr rails=8"},
                        {"gpus", "8"},
                        {"device", "h100-sxm5"},
                        {"timed_as",
                         "workload=llama-3.1-8b sequence=8192 precision=bf16 gradients=fp32 attention=flash "
                         "recompute=operations sharding=parameters"},
                        {"batch", "2"}};
  groups["TorchTitan, 8B on 8 GPUs"].shares.push_back(memory_of(on_a_cluster(titan)).use.total() / 82e9);
  test::DocumentedTable table("memory-peaks",
                              {"programs", "number", "median error", "mean absolute error", "least", "greatest"});
  for (const auto& [name, peaks] : groups) table.add(peaks.cells(name));
  table.expect_in_document();
  for (const double share : words) {
    EXPECT_GT(share, 0.65);
    EXPECT_LT(share, 1.1);
  }
  EXPECT_LT(median(sizes_of_errors(groups.at("words, second process").shares)), 0.03);
  EXPECT_LT(median(sizes_of_errors(groups.at("words, compiled").shares)), 0.06);
}

/// Returns the bytes of transforms of a 3×3 convolution by FFT over tiles of 64 × 64. Each filter and input channel,
/// and each image and channel, has 64 × 33 complex numbers.
double transforms_of(const spec::LayerShape& layer, double images) {
  constexpr double kTransform = 64.0 * 33 * 8;
  constexpr double kWindow = 9;
  if (layer.kind != spec::LayerKind::convolution || layer.overlap() != kWindow) return 0;
  const double channels = static_cast<double>(layer.in) / kWindow;
  return kTransform * channels * (static_cast<double>(layer.out) + images);
}

// cudnn.benchmark tries kernels with the workspace that they ask for, among them FFTs for NCHW in fp32. Programs that
// were first in the process with their shapes have this workspace in their peak; later steps do not.
TEST(MemoryValidation, SearchesForKernelsNeedTransforms) {
  constexpr double kProcess = 1.17e9;  // constant excess of the first process, in bytes (docs/validation/memory.md)
  test::DocumentedTable table(
      "memory-search", {"program", "counted GB", "transforms GB", "with the process's 1.17", "measured GB", "error"});
  for (const MemoryRow& row : test::measured("pytorch-h100")) {
    const std::string& name = row.at("case");
    // Leaves out ResNet-152, which has the convolutions of ResNet-50.
    if (name.find("tf32 nchw") == std::string::npos || name.starts_with("resnet-152")) continue;
    const scenario::Scenario scenario = on_a_platform(row, row.at("scenario"), "dgx-h100-pod", "h100-sxm5", 1);
    double transforms = 0;
    for (const spec::LayerShape& layer : study::timed_as_of(scenario, {}).shape.layers)
      transforms = std::max(transforms, transforms_of(layer, std::stod(row.at("batch"))));
    const double counted = memory_of(scenario).use.total();
    const double sum = counted + transforms + kProcess;
    const double peak = std::stod(row.at("peak"));
    EXPECT_NEAR(sum / peak, 1, 0.04) << name;
    const auto gigabytes = [](double bytes) { return fmt::format("{:.1f}", bytes / 1e9); };
    table.add({name, gigabytes(counted), gigabytes(transforms), gigabytes(sum), gigabytes(peak),
               test::percent(sum / peak - 1)});
  }
  table.expect_in_document();
}

// Compares the measured memory of current frameworks. No constant is fitted to these rows, and no job may be refused.
TEST(MemoryValidation, PublishedPeaks) {
  test::DocumentedTable table("memory-2026", {"job", "counted GB", "measured GB", "error"});
  std::vector<double> shares, megatron;
  for (const MemoryRow& row : test::measured("memory-2026")) {
    const scenario::Scenario scenario = on_a_cluster(row);
    const study::RunMemory memory = memory_of(scenario);
    const double peak = std::stod(row.at("peak"));
    EXPECT_FALSE(study::fault_of_memory(scenario.timed_as, memory)) << row.at("case");
    shares.push_back(memory.use.total() / peak);
    if (row.at("table") == "simumax") megatron.push_back(shares.back());
    table.add({row.at("table") + ": " + row.at("case"), fmt::format("{:.1f}", memory.use.total() / 1e9),
               fmt::format("{:.1f}", peak / 1e9), test::percent(shares.back() - 1)});
  }
  table.expect_in_document();
  EXPECT_GE(shares.size(), 10U);
  for (const double share : shares) {
    EXPECT_GT(share, 0.9);
    EXPECT_LT(share, 1.1);
  }
  ASSERT_GE(megatron.size(), 15U);
  EXPECT_LT(median(sizes_of_errors(megatron)), 0.03);
}

/// Result of the memory check of a job that ran.
struct MemoryVerdict {
  bool refused = false, warned = false;
};

MemoryVerdict verdict_of(const scenario::Scenario& scenario) {
  constexpr double kReserve = 0.1;
  const study::RunMemory memory = memory_of(scenario);
  return {study::fault_of_memory(scenario.timed_as, memory).has_value(),
          memory.available > 0 && memory.use.total() * (1 + kReserve) > memory.available};
}

TEST(MemoryValidation, NoJobThatRanOutIsAccepted) {
  test::DocumentedTable table("memory-out", {"job", "counted GB", "device GB", "answer"});
  for (const MemoryRow& row : test::measured("memory-out")) {
    const scenario::Scenario scenario = on_a_cluster(row);
    const study::RunMemory memory = memory_of(scenario);
    const bool lacks = memory.use.total() > memory.available;
    const bool refused = study::fault_of_memory(scenario.timed_as, memory).has_value();
    EXPECT_TRUE(lacks) << row.at("case");
    table.add({row.at("case"), fmt::format("{:.1f}", memory.use.total() / 1e9),
               fmt::format("{:.1f}", memory.available / 1e9),
               refused ? "refused"
               : lacks ? "lacks memory"
                       : "accepted"});
  }
  table.expect_in_document();
}

struct Verdicts {
  int rows = 0, refused = 0, warned = 0;
  /// Adds a row, unless an earlier row is the same job in another container.
  template <class Load>
  void add(const MemoryRow& row, const Load& load) {
    const std::string job = row.at("timed_as") + " " + row.at("batch") + " " +
                            (row.contains("gpus") ? row.at("platform") + row.at("device") + row.at("gpus") : "");
    const auto [known, added] = known_.try_emplace(job);
    if (added) known->second = verdict_of(load());
    ++rows;
    refused += known->second.refused ? 1 : 0;
    warned += known->second.warned ? 1 : 0;
  }

 private:
  std::map<std::string, MemoryVerdict> known_;
};

TEST(MemoryValidation, NoJobThatRanIsRefused) {
  std::map<std::string, Verdicts> tables;
  for (const MemoryRow& row : test::measured("jobs-2026"))
    tables[row.at("table")].add(row, [&] { return on_a_cluster(row); });
  for (const MemoryRow& row : test::measured("jobs"))
    tables[row.at("table")].add(row, [&] {
      return on_a_platform(row, "training", row.at("platform"), row.at("device"), std::stoi(row.at("gpus")));
    });
  for (const MemoryRow& row : test::measured("pytorch-h100"))
    tables["pytorch-h100"].add(row,
                               [&] { return on_a_platform(row, row.at("scenario"), "dgx-h100-pod", "h100-sxm5", 1); });
  test::DocumentedTable table("memory-refusals", {"table", "jobs that ran", "refused", "told that they may not fit"});
  for (const auto& [name, verdicts] : tables) {
    EXPECT_EQ(verdicts.refused, 0) << name;
    table.add({name, fmt::format("{}", verdicts.rows), fmt::format("{}", verdicts.refused),
               fmt::format("{}", verdicts.warned)});
  }
  table.expect_in_document();
}

}  // namespace
}  // namespace dadsim
